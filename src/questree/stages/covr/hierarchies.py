"""The DAGs of a run's image questions as the tables that scores read."""

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.stages.decompose.hierarchies import Asked, Columns, Named, RunHierarchies, run_hierarchies
from questree.tables.hierarchies import NOTHING
from questree.tables.image_nodes import COMPOSITIONS, EDGES, NODES, SETS, TOPS, TYPES
from questree.tables.image_questions import ANSWERED
from questree.tables.images import IMAGES
from questree.tables.run import Run

SHARD = "covr"  # the name its predictions are stored under


def hierarchies_in(run: Run, split: str | None = None) -> RunHierarchies:
    """The DAGs of a run, be they about videos or about image sets."""
    return image_hierarchies(run, split) if is_of_images(run) else run_hierarchies(run, split)


def is_of_images(run: Run) -> bool:
    return run.covr.is_dir() and not run.decomposed.is_dir()


def image_hierarchies(run: Run, split: str | None = None) -> RunHierarchies:
    """All DAGs, or those of the questions of one split; a question counts for the first image of its set."""
    folder = run.covr / "decomposed"
    if not folder.is_dir():
        raise BadInput.at(folder, "not there yet; `questree covr decompose` writes it")
    nodes, tops = NODES.read(folder), TOPS.read(folder)
    keys = node_keys(nodes, tops)
    first = SETS.read(folder)["images"].list.first().gather(nodes["set"]).gather(tops["node"])
    questions = tops.select("node", video=first, key=pl.col("node").cast(pl.Int64))
    if split is not None:
        wanted = ANSWERED.read(run.covr).filter(split=split)["id"]
        questions = questions.filter(tops["id"].is_in(wanted.implode()))
    if questions.is_empty():
        raise BadInput.at(folder, f"no questions of the split {split}" if split else "no questions")
    words, columns = node_columns(nodes)
    asked = Asked.of(questions.unique(maintain_order=True), EDGES.read(folder), columns)
    ids = IMAGES.read(run.images)["id"].gather(asked.videos).to_list()
    found = asked.hierarchies(ids, words, keys, COMPOSITIONS)
    return RunHierarchies(run, found, [Named(SHARD, len(nodes), np.zeros(0, np.int64))])


def node_keys(nodes: pl.DataFrame, tops: pl.DataFrame) -> pl.Series:
    """[node] its id: that of the first question it is, or else s<row>."""
    first = tops.group_by("node").agg(pl.col("id").first())
    own = nodes.select(node=pl.int_range(pl.len(), dtype=pl.UInt32)).join(first, on="node", how="left").sort("node")
    return own.select(pl.col("id").fill_null(pl.concat_str(pl.lit("s"), pl.col("node")))).to_series()


def node_columns(nodes: pl.DataFrame) -> tuple[list[str], Columns]:
    """All words, and what every node brings along."""
    said = pl.concat([nodes["answer"], nodes["word"]]).drop_nulls().unique(maintain_order=True)
    number = pl.DataFrame({"word": said}).with_row_index("number")

    def numbers(column: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        found = nodes.select(word=column).join(number, on="word", how="left", maintain_order="left")["number"]
        return found.cast(pl.Int32).fill_null(NOTHING).to_numpy()

    type = nodes["type"].to_numpy().astype(np.int32)
    return said.to_list(), Columns(type, numbers("answer"), numbers("word"), list(TYPES))
