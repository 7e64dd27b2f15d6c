"""The DAGs about image sets as the tables that scores read, all of a run or some; and the ids of their nodes."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import (
    Columns,
    RunHierarchies,
    SetTables,
    ShardDags,
    ShardKeys,
    nothing_asked,
)
from questree.stages.decompose.spoken import program
from questree.tables.image_questions import ANSWERED
from questree.tables.images import IMAGES as IMAGE_TABLE
from questree.tables.nodes import EDGES, FORMS, WORDS
from questree.tables.predictions import IMAGE_SETS
from questree.tables.run import Run
from questree.tables.table import Table

DIGEST = 6  # bytes of a sub-question's id
DIGESTS = Table(  # as `digested` has them
    "digests", {"node": pl.UInt32, "id": pl.String, "key": pl.String}, frozenset({"id", "key"})
)


def image_hierarchies(run: Run, split: str | None = None) -> RunHierarchies:
    """All DAGs, or those of the questions of one split."""
    from questree.stages.decompose.image_sets import read_sets  # much of it is about making questions

    folder = decomposed(run)
    wanted = None if split is None else ANSWERED.read(run.covr).filter(split=split)["id"]
    found = set_hierarchies(run, partial(read_sets, folder), wanted)
    if not found.hierarchies.videos:
        raise nothing_asked(folder, split)
    return found


def set_hierarchies(
    run: Run,
    read: SetTables,
    wanted: pl.Series | None = None,
    most: int | None = None,
    keys: pl.Series | None = None,
) -> RunHierarchies:
    """Of all questions in the tables, or of those whose ids are wanted; each counts for the first image of its set.

    What is known of more sets than are in the tables: `most`, the largest count that is an answer; `keys`, [node] ids.
    """
    tables, names = read(), IMAGE_TABLE.only("id").read(run.images)["id"]
    nodes, tops, sets = tables["nodes"], tables["tops"].select("id", "node"), tables["sets"]["images"]
    words, columns = set_columns(tables, most)
    keys = told_apart(found := digests_in(tables, names), repeated(found)) if keys is None else keys
    first = sets.list.first().gather(nodes["set"]).gather(tops["node"])
    questions = tops.select("node", video=first, key=pl.col("node").cast(pl.Int64))
    known = tops.select("id", key=pl.col("node").cast(pl.Int64))
    if wanted is not None:
        questions = questions.filter(tops["id"].is_in(wanted.implode()))
    asked = ShardDags.of(questions.unique(maintain_order=True), tables[EDGES.name], columns)
    dags = asked.hierarchies(names.gather(asked.videos).to_list(), words, keys, IMAGE_DAGS.compositions)
    return RunHierarchies(run, dags, [ShardKeys(IMAGE_SETS, len(nodes), np.zeros(0, np.int64), known)], read)


def largest_count(forms: pl.DataFrame, nodes: pl.DataFrame) -> int:
    """The largest count among the answers to nodes."""
    from questree.domains.images import IMAGES  # takes a moment, and video runs need none

    counts = pl.Series([program(text, IMAGES).kind.words == "number" for text in forms["program"]], dtype=pl.Boolean)
    return int(nodes["answer"].filter(counts.gather(nodes["form"])).cast(pl.Int64).max() or 0)  # type: ignore[arg-type]


def set_columns(tables: dict[str, pl.DataFrame], most: int | None = None) -> tuple[list[str], Columns]:
    """All words, and what every node about a set of images brings along; `most` as above."""
    from questree.domains.images import IMAGES  # takes a moment, and video runs need none

    forms, nodes = tables[FORMS.name], tables["nodes"]
    words = AnswerWords(tables[WORDS.name]["word"].to_list(), largest_count(forms, nodes) if most is None else most)
    return list(words.number), Columns.of(forms, nodes, words, IMAGES, IMAGE_DAGS.types)


def decomposed(run: Run) -> Path:
    """Where the DAGs are."""
    folder = run.covr / "decomposed"
    if not folder.is_dir():
        raise BadInput.at(folder, "not there yet; `questree decompose` writes it")
    run.require_plugins(run.covr)
    return folder


def image_ids(sets: pl.Series, names: pl.Series) -> pl.Series:
    """[set] the ids of its images, given the rows of its images and [image] their ids."""
    rows = pl.DataFrame({"image": sets}).with_row_index("set").explode("image")
    return rows.with_columns(id=names.gather(rows["image"])).group_by("set", maintain_order=True).agg("id")["id"]


def node_keys(nodes: pl.DataFrame, tops: pl.DataFrame, images: pl.Series) -> pl.Series:
    """[node] its id: that of the first question it is, or else a digest of what is asked about which images.

    Predictions for other questions then never fit by chance, as they would if rows were counted.
    """
    found = digested(nodes, tops, set_texts(images))
    return told_apart(found, repeated(found))


def digests_in(tables: dict[str, pl.DataFrame], names: pl.Series) -> pl.DataFrame:
    """As `digested` has them; `names`: [image] its id."""
    from questree.stages.decompose.image_sets import spoken_sets  # much of it is about making questions

    images = image_ids(tables["sets"]["images"], names)
    return digested(spoken_sets(tables, asked=False), tables["tops"], set_texts(images))


def repeated(found: pl.DataFrame) -> dict[int, int]:
    """Nodes whose digest another has before them, and the how many-th they are: digests are short."""
    below = found.filter(pl.col("id").is_null()).sort("node")
    several = below.filter(pl.col("key").is_duplicated()).with_columns(at=pl.int_range(pl.len()).over("key") + 1)
    return dict(several.filter(pl.col("at") > 1).select("node", "at").iter_rows())


def told_apart(found: pl.DataFrame, again: Mapping[int, int]) -> pl.Series:
    """[node] its id; of equal digests the second gets a number."""
    several = pl.col("node").replace_strict(again, default=None, return_dtype=pl.Int64)
    made = pl.when(several.is_null()).then("key").otherwise(pl.format("{}-{}", "key", several))
    return found.select(pl.coalesce("id", made).alias("id")).to_series()


def digested(nodes: pl.DataFrame, tops: pl.DataFrame, sets: Sequence[str]) -> pl.DataFrame:
    """[node] its number, the `id` of the first question it is, or if there is none the `key`, a digest.

    sets: [set] as `set_texts` has it."""
    first = tops.group_by("node").agg(pl.col("id").first())
    own = nodes.with_columns(node=pl.int_range(pl.len(), dtype=pl.UInt32)).join(first, on="node", how="left")
    below = own.filter(pl.col("id").is_null()).sort("node")
    made = below.select("node", key=pl.Series(list(digests(below, sets)), dtype=pl.String))
    return own.join(made, on="node", how="left").sort("node").select("node", "id", "key")


def set_texts(images: pl.Series) -> list[str]:
    """[set] the ids of its images, in any order."""
    return ["\0".join(sorted(own)) for own in images.to_list()]


def digests(nodes: pl.DataFrame, sets: Sequence[str]) -> Iterator[str]:
    for at, text, word in zip(*(nodes[name].to_list() for name in ("set", "program", "word")), strict=True):
        asked = f"{sets[at]}\n{text}\n{word or ''}"
        yield f"s-{blake2b(asked.encode(), digest_size=DIGEST).hexdigest()}"
