"""The DAGs of a run's image questions as the tables that scores read."""

from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from questree.benchmarks import chosen
from questree.faults import BadInput
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.hierarchies import Columns, RunHierarchies, ShardDags, ShardKeys, run_hierarchies
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.tables.hierarchies import NOTHING
from questree.tables.image_questions import ANSWERED
from questree.tables.images import IMAGES
from questree.tables.nodes import EDGES, TOPS
from questree.tables.predictions import IMAGE_SETS
from questree.tables.run import Run

DIGEST = 6  # bytes of a sub-question's id


def hierarchies_in(run: Run, split: str | None = None, benchmark: str = "") -> RunHierarchies:
    """The DAGs of a benchmark of a run."""
    of_images = chosen(run, benchmark, "decomposed").domain == "images"
    return image_hierarchies(run, split) if of_images else run_hierarchies(run, split)


def image_hierarchies(run: Run, split: str | None = None) -> RunHierarchies:
    """All DAGs, or those of the questions of one split; a question counts for the first image of its set."""
    folder, names = decomposed(run), IMAGES.read(run.images)["id"]
    tables = read_sets(folder)
    nodes, tops, sets = (
        spoken_sets(tables, asked=False),
        tables[TOPS.name].select("id", "node"),
        tables["sets"]["images"],
    )
    keys = node_keys(nodes, tops, image_ids(sets, names))
    first = sets.list.first().gather(nodes["set"]).gather(tops["node"])
    questions = tops.select("node", video=first, key=pl.col("node").cast(pl.Int64))
    if split is not None:
        wanted = ANSWERED.read(run.covr).filter(split=split)["id"]
        questions = questions.filter(tops["id"].is_in(wanted.implode()))
    if questions.is_empty():
        raise BadInput.at(folder, f"no questions of the split {split}" if split else "no questions")
    words, columns = node_columns(nodes)
    asked = ShardDags.of(questions.unique(maintain_order=True), tables[EDGES.name], columns)
    found = asked.hierarchies(names.gather(asked.videos).to_list(), words, keys, IMAGE_DAGS.compositions)
    return RunHierarchies(run, found, [ShardKeys(IMAGE_SETS, len(nodes), np.zeros(0, np.int64))])


def decomposed(run: Run) -> Path:
    """Where the DAGs are."""
    folder = run.covr / "decomposed"
    if not folder.is_dir():
        raise BadInput.at(folder, "not there yet; `questree decompose` writes it")
    return folder


def image_ids(sets: pl.Series, names: pl.Series) -> pl.Series:
    """[set] the ids of its images, given the rows of its images and [image] their ids."""
    rows = pl.DataFrame({"image": sets}).with_row_index("set").explode("image")
    return rows.with_columns(id=names.gather(rows["image"])).group_by("set", maintain_order=True).agg("id")["id"]


def node_keys(nodes: pl.DataFrame, tops: pl.DataFrame, images: pl.Series) -> pl.Series:
    """[node] its id: that of the first question it is, or else a digest of what is asked about which images.

    Predictions for other questions then never fit by chance, as they would if rows were counted.
    """
    first = tops.group_by("node").agg(pl.col("id").first())
    own = nodes.with_columns(node=pl.int_range(pl.len(), dtype=pl.UInt32)).join(first, on="node", how="left")
    below = own.filter(pl.col("id").is_null()).sort("node")
    made = below.select("node", key=pl.Series(list(digests(below, images)), dtype=pl.String))
    again = pl.int_range(pl.len()).over("key") + 1  # digests are short: of equal ones the second gets a number
    made = made.with_columns(key=pl.when(again == 1).then("key").otherwise(pl.format("{}-{}", "key", again)))
    return own.join(made, on="node", how="left").sort("node").select(pl.coalesce("id", "key").alias("id")).to_series()


def digests(nodes: pl.DataFrame, images: pl.Series) -> Iterator[str]:
    sets = images.list.sort().list.join("\0").to_list()
    for at, program, word in zip(*(nodes[name].to_list() for name in ("set", "program", "word")), strict=True):
        asked = f"{sets[at]}\n{program}\n{word or ''}"
        yield f"s-{blake2b(asked.encode(), digest_size=DIGEST).hexdigest()}"


def node_columns(nodes: pl.DataFrame) -> tuple[list[str], Columns]:
    """All words, and what every node brings along."""
    said = pl.concat([nodes["answer"], nodes["word"]]).drop_nulls().unique(maintain_order=True)
    number = pl.DataFrame({"word": said}).with_row_index("number")

    def numbers(column: str) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        found = nodes.select(word=column).join(number, on="word", how="left", maintain_order="left")["number"]
        return found.cast(pl.Int32).fill_null(NOTHING).to_numpy()

    type = nodes["type"].to_numpy().astype(np.int32)
    return said.to_list(), Columns(type, numbers("answer"), numbers("word"), list(IMAGE_DAGS.types))
