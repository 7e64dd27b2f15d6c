"""What questions and nodes of a shard are called outside: a text of a video is one key, be it asked or a part."""

import numpy as np
import polars as pl

from questree.program import Array
from questree.stages.generate.text import Lexicon, texts
from questree.stages.questions import Shard


def asked(shard: Shard, tops: pl.DataFrame, words: Lexicon) -> pl.DataFrame:
    """The questions behind `tops` by video and number: their columns, node, row among the tops, id and text."""
    table = tops.with_row_index("top").join(shard.questions, on=["video", "number"], how="left").sort("video", "number")
    names = pl.Series(shard.ids, dtype=pl.String).gather(table["video"])
    return table.with_columns(
        id=pl.select(pl.concat_str(names, pl.lit("-"), table["number"].cast(pl.String))).to_series(),
        text=texts(table, shard.sides, words, shard.seeds, shard.first),
    )


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
