"""Sub-questions to train on: answers smoothed again, among nodes of a type, then of a program without its time."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.hashing import mix, seed_of
from questree.domains.video import VIDEO
from questree.domains.video.time import whole, within
from questree.faults import BadInput
from questree.notation.own import parse, show
from questree.progress import watch
from questree.rules import VIDEO_DAGS
from questree.stages.balance.levelling import Smoothing, answers_kept
from questree.stages.decompose.forms import NodeForms, ordered_slots
from questree.stages.decompose.keys import parts_of_others, within_video
from questree.tables.facts import VIDEOS
from questree.tables.nodes import EDGES, FORMS, NEGATIVES, NODES, NOT_SAID, TOPS
from questree.tables.run import Run
from questree.tables.store import new_file
from questree.tables.table import Table
from questree.terms import Array, Node, Slot, Term

CHOSEN = Table("subquestions", {"video": pl.UInt32, "node": pl.UInt32})  # node: row of its shard's nodes


@dataclass(frozen=True)
class ChooseCounts:
    before: dict[str, int]  # type -> nodes of training videos with an answer
    by_type: dict[str, int]
    after: dict[str, int]


def choose(run: Run, smoothing: Smoothing | None = None, seed: int = 1) -> ChooseCounts:
    """Write RUN/decomposed/subquestions.parquet."""
    how = smoothing or Smoothing()
    if not run.decomposed.is_dir():
        raise BadInput.at(run.decomposed, "not there yet; `questree decompose` writes it")
    table = pl.concat(list(candidates(run, seed)))
    first = smoothed(table, ["type"], how)
    second = smoothed(first, ["program", "words"], how)
    with new_file(chosen_file(run)) as work:
        CHOSEN.frame(second.sort("video", "node")).write_parquet(work, compression="zstd", compression_level=1)
    return ChooseCounts(*(counts(part) for part in (table, first, second)))


def chosen_file(run: Run) -> Path:
    return run.decomposed / f"{CHOSEN.name}.parquet"


def counts(table: pl.DataFrame) -> dict[str, int]:
    return dict(table.group_by("type").len().sort("type").iter_rows())


def candidates(run: Run, seed: int) -> Iterator[pl.DataFrame]:
    """Per shard the scored nodes of training videos whose answer is published, with the groups they are in."""
    videos = run.table("facts", VIDEOS)
    train = (videos["split"] == "train").to_numpy()
    seeds = np.array([seed_of(seed, f"subquestions {video}") for video in videos["id"]], np.uint64)
    forms = NodeForms(run.vocabulary())
    folders = sorted(path for path in run.decomposed.iterdir() if path.is_dir())
    for folder in watch(folders, "sub-questions", len(folders)):
        yield of_shard(folder, forms, train, seeds)


def of_shard(folder: Path, forms: NodeForms, train: Array, seeds: Array) -> pl.DataFrame:
    table, nodes = FORMS.read(folder), NODES.read(folder).with_row_index("node")
    kinds = table.select("type", form=pl.int_range(pl.len(), dtype=pl.UInt16))
    groups = [timeless(parse(program, VIDEO), forms) for program in table["program"]]
    words = np.zeros(len(nodes), np.uint64)
    ends = np.cumsum(np.bincount(nodes["form"].to_numpy(), minlength=len(table)))
    for (_, names), (begin, end) in zip(groups, pairwise([0, *ends.tolist()]), strict=True):
        assert len(names) * forms.width <= 64, "too many words for one number"
        for name in names:
            words[begin:end] = (words[begin:end] << np.uint64(forms.width)) | nodes[name].to_numpy()[begin:end]
    program = pl.Series([text for text, _ in groups], dtype=pl.String).gather(nodes["form"])
    video = nodes["video"].to_numpy()
    found = nodes.select("video", "node", "form", "answer", "known").with_columns(
        program=program, words=pl.Series(words), drawn=pl.Series(drawn(video, seeds))
    )
    published = pl.col("answer").is_not_null() & (pl.col("known") != NOT_SAID)
    published &= pl.Series(train[video] & sub_questions(folder, len(nodes)))
    joined = found.filter(published).join(kinds, on="form", how="left", maintain_order="left")
    return joined.filter(~pl.col("type").is_in(list(VIDEO_DAGS.unscored))).drop("form", "known")


def sub_questions(folder: Path, nodes: int) -> Array:
    """[node] is it below a question, or a negative? Of the others there is a question in its own words."""
    found = np.zeros(nodes, bool)
    found[parts_of_others(nodes, EDGES.read(folder), TOPS.read(folder)["node"].to_numpy())] = True
    found[NEGATIVES.read(folder)["node"].to_numpy()] = True
    return found


def drawn(video: Array, seeds: Array) -> Array:
    """[node] a random number that depends on the video and the node's place in it alone."""
    own = within_video(video)
    return np.asarray(mix(seeds[video], own.astype(np.uint64)))


def timeless(node: Node, forms: NodeForms) -> tuple[str, list[str]]:
    """The form without its time phrase, and the slots it keeps."""
    plain = without_time(node)
    return show(forms.canonical(plain)[0]), [slot.name for slot in ordered_slots(plain)]


def without_time(node: Node) -> Node:
    if node.op is within and isinstance(node.args[0], Node):
        return without_time(node.args[0])
    args: list[Term] = []
    for arg in node.args:
        if isinstance(arg, Slot) or not isinstance(arg, Node):
            args.append(arg)
        else:
            args.append(whole() if arg.kind.name == "window" else without_time(arg))
    return Node(node.op, tuple(args))


def smoothed(table: pl.DataFrame, group: list[str], how: Smoothing) -> pl.DataFrame:
    """The rows that stay: per group and answer as many as the smoothing says, those with the smallest numbers."""
    sizes = table.group_by(*group, "answer").len("size").sort(*group, "answer")
    number = sizes.select(pl.struct(group).rank("dense")).to_series().to_numpy()
    starts = np.flatnonzero(np.diff(number, prepend=0))
    size, kept = sizes["size"].to_numpy(), np.zeros(len(sizes), np.int64)
    for lo, hi in pairwise([*starts, len(size)]):
        kept[lo:hi] = answers_kept(size[lo:hi], how)
    place = pl.col("drawn").rank("ordinal").over(*group, "answer")
    marked = table.with_columns(place=place).join(
        sizes.with_columns(kept=pl.Series(kept)), on=[*group, "answer"], how="left", maintain_order="left"
    )
    return marked.filter(pl.col("place") <= pl.col("kept")).drop("place", "kept", "size")
