"""What questions and nodes of a shard are called outside: a text of a video is one key, be it asked or a part."""

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.stages.decompose.spoken import Texts, english_of, program
from questree.stages.generate.text import Lexicon, texts
from questree.stages.questions import Shard
from questree.terms import Array


def asked(shard: Shard, tops: pl.DataFrame, words: Lexicon) -> pl.DataFrame:
    """The questions behind `tops` by video and number: their columns, node, row among the tops, id and text."""
    found = shard.questions[rows_of(shard.questions, tops)].with_columns(tops["node"]).with_row_index("top")
    table = found.sort("video", "number")
    own = shard.where(table)
    return table.with_columns(id=own.named_ids, text=texts(own, words))


def rows_of(questions: pl.DataFrame, tops: pl.DataFrame, made: str = "decomposed", by: str = "decompose") -> Array:
    """[top] the row of its question; generated questions of a video are numbered from 0 on, without gaps."""
    video, number = (questions[name].to_numpy().astype(np.int64) for name in ("video", "number"))
    start = np.append(0, np.cumsum(np.bincount(video, minlength=1)))
    size, own, last = np.diff(start), tops["video"].to_numpy(), tops["number"].to_numpy()
    if (number >= size[video]).any():  # what was imported may be some of them
        row = questions.select("video", "number").with_row_index("row")
        found = tops.join(row, on=["video", "number"], how="left", maintain_order="left")["row"]
        if not found.null_count():
            return found.to_numpy().astype(np.int64)
    elif not ((own >= len(size)).any() or (last >= size[own]).any()):
        place = np.empty(len(video), np.int64)
        place[start[video] + number] = np.arange(len(video))
        return np.asarray(place[start[own] + last])
    raise BadInput.at(made, f"was made of other questions than there are now; run `questree {by}`")


def question_keys(questions: pl.DataFrame) -> pl.Series:
    """[question] its id, or that of the first question of the video with the same text."""
    return questions.select(pl.col("id").first().over("video", "text")).to_series()


def node_keys(questions: pl.DataFrame, nodes: pl.DataFrame, names: pl.Series) -> pl.Series:
    """[node] the id of a question with the same text, or else its key as a part."""
    own = part_keys(nodes["video"].to_numpy().astype(np.int64), names)
    first = questions.select("video", "text", "id").unique(["video", "text"], keep="first", maintain_order=True)
    same = nodes.select("video", "text").join(first, on=["video", "text"], how="left", maintain_order="left")
    return same["id"].fill_null(own)


def part_keys(video: Array, names: pl.Series) -> pl.Series:
    """[node] <video>-s<number within the video>."""
    numbers = pl.Series(within_video(video)).cast(pl.String)
    return pl.select(pl.concat_str(names.gather(video), pl.lit("-s"), numbers)).to_series()


def within_video(video: Array) -> Array:
    """[node] its number among the nodes of its video."""
    order = np.argsort(video, kind="stable")
    rank = np.empty(len(video), np.int64)
    rank[order] = np.arange(len(video)) - np.searchsorted(video[order], video[order])
    return rank


def parts_of_others(nodes: int, edges: pl.DataFrame, tops: Array) -> Array:
    """Nodes that are a sub-question of some of these questions."""
    parent, child = (edges[name].to_numpy() for name in ("parent", "child"))
    reached = np.zeros(nodes, bool)
    reached[tops] = True
    before = -1
    while (count := int(reached.sum())) != before:
        before = count
        reached[child[reached[parent]]] = True
    return np.unique(child[reached[parent]])


def keyed(
    questions: pl.DataFrame, forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts, names: pl.Series
) -> tuple[pl.Series, Array]:
    """Keys of all nodes, then of all questions by row of the tops; and [question] the row of its own.

    A text has one meaning in its video, so no other node can read like a question than its own.
    """
    node = questions["node"].to_numpy().astype(np.int64)
    alike = like_their_nodes(questions, forms, nodes, texts)
    first, number = firsts(questions)
    rows = np.where(alike, node, len(nodes) + questions["top"].to_numpy().astype(np.int64))[first][number]
    own = part_keys(nodes["video"].to_numpy().astype(np.int64), names)
    same = first[alike[first]]
    own = own.scatter(node[same], questions["id"].gather(same))
    return pl.concat([own, questions.sort("top")["id"]]), rows


def like_their_nodes(questions: pl.DataFrame, forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts) -> Array:
    """[question] does it read like its node as a sub-question? Few begin alike, and only these are looked at."""
    heads = pl.Series([texts.pattern(program(own)).partition("{")[0] for own in forms["program"]], dtype=pl.String)
    begins = pl.col("text").str.starts_with(pl.lit(heads.gather(nodes["form"].gather(questions["node"]))))
    found = questions.select(begins).to_series().to_numpy(writable=True)
    few = np.flatnonzero(found)
    known, place = np.unique(questions["node"].to_numpy()[few], return_inverse=True)
    found[few] = (questions["text"].gather(few) == english_of(forms, nodes[known], texts).gather(place)).to_numpy()
    return found


def firsts(questions: pl.DataFrame) -> tuple[Array, Array]:
    """The first question of every text, and [question] which of them has its text."""
    first = pl.col("row").first().over("video", "text")
    at = questions.select("video", "text").with_row_index("row").select(first).to_series().to_numpy()
    return np.unique(at.astype(np.int64), return_inverse=True)
