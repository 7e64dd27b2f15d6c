"""What workers are sent to score a shard, whatever is asked there, and what they send back: counts."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import Missing
from questree.metrics.cells import Ints, Tallies
from questree.metrics.scores import coverage
from questree.models.predictions import FieldNames, Predictions, read_predictions
from questree.scoring.compared import PredictionReader, Scoring
from questree.tables.store import new_folder

EVERY = "every"  # stands for all shards, if one holds everything
GIVEN, ROWS = "given.parquet", 1 << 14  # predictions of a file, sorted by id; rows of a group


class GivenFile(NamedTuple):
    """Predictions of a file, in memory or where workers see them."""

    model: str
    predictions: int
    duplicates: int
    place: pl.DataFrame | Path

    def among(self, ids: pl.Series) -> pl.DataFrame:
        """Predictions for these; groups of rows outside their range are not read."""
        found = self.place
        if not isinstance(found, pl.DataFrame):
            near = pl.col("id").is_between(pl.lit(ids.min()), pl.lit(ids.max()))
            found = pl.scan_parquet(os.fspath(found / GIVEN), glob=False).filter(near).collect()
        return found.filter(pl.col("id").is_in(ids.implode()))


def read_given(file: Path, model: str, called: FieldNames, out: Path) -> GivenFile:
    """Read a file of predictions once, for all shards."""
    return write_given(read_predictions(file, model, called), out)


def write_given(given: Predictions, out: Path) -> GivenFile:
    """Predictions in memory, for all shards."""
    with new_folder(out) as folder:
        given.table.sort("id").write_parquet(folder / GIVEN, row_group_size=ROWS, compression="lz4")
    return GivenFile(given.model, len(given.table), given.duplicates, out)


class KnownAnswers(NamedTuple):
    """What all shards together say about answers."""

    words: tuple[str, ...]  # that are an answer, or an object asked about
    kinds: dict[str, str]  # type -> the kind of its answers


@dataclass(frozen=True)
class ScoringTask:
    """What all shards are scored with; small enough to send anywhere."""

    run: Path  # or a folder of hierarchies
    split: str | None
    how: Scoring
    models: tuple[str, ...]  # stored ones, or bots
    files: tuple[GivenFile, ...]
    samples: frozenset[str]  # models that need not have answered everything
    unscored: tuple[str, ...] = ()  # types
    known: KnownAnswers | None = None  # not needed to count exact answers of stored models

    def missing(self, model: str) -> Missing:
        return "skip" if model in self.samples else self.how.missing


class ReadCounts(NamedTuple):
    """Predictions as a policy reads them."""

    lost: int  # that are no answer
    read: int  # all of them
    tallies: Tallies
    alone: Tallies | None = None  # of DAGs: every question alone, if asked for
    dags: Ints | None = None  # how many DAGs have which accuracy and consistency, if asked for


class ModelCounts(NamedTuple):
    needed: int  # keys that some metric looks at
    found: int  # those with a prediction
    lacking: tuple[str, ...]  # some without
    here: int  # predictions of a file for questions of the shard
    said: Mapping[str, int]  # word -> how often, where it is not known what an answer is
    policies: Sequence[ReadCounts]
    late: Sequence[tuple[str, int]] = ()  # of those without, which come after those of all shards, and where


def counts_of(
    table: pl.DataFrame, reader: PredictionReader, missing: Missing, count: Callable[[pl.DataFrame, Missing], Tallies]
) -> ModelCounts:
    """Of predictions for questions that the reader knows."""
    cover, found = coverage(reader.needed, reader.known, table), list[ReadCounts]()
    for policy in reader.how.policies:
        read = reader.understood(table, policy)
        found.append(ReadCounts(read.unparsed, len(read.table), count(read.table, missing)))
    return ModelCounts(cover.needed, cover.found, cover.examples, len(table), {}, found)


def counts_of_models(
    task: ScoringTask,
    reader: PredictionReader,
    count: Callable[[pl.DataFrame, Missing], Tallies],
    stored: Callable[[str], pl.DataFrame] | None = None,
) -> list[ModelCounts]:
    """Of stored models, then of files; `stored`: what a model of the run says to these questions."""
    found = list[ModelCounts]()
    for model in task.models:
        assert stored is not None
        found.append(counts_of(stored(model), reader, task.missing(model), count))
    for file in task.files:
        found.append(counts_of(file.among(reader.known), reader, task.missing(file.model), count))
    return found


class ShardScores(NamedTuple):
    videos: list[Any]  # their names; of image sets the rows of first images
    with_dags: NDArray[np.bool_]  # [video]
    answers: "ShardAnswers"
    listing: Any  # what tables list, whoever answers
    models: list[ModelCounts]  # stored ones, then files


class ShardAnswers(NamedTuple):
    words: list[str]  # in the order in which answers are listed
    used: NDArray[np.bool_]  # [word] is it an answer, or an object asked about?
    by_type: pl.DataFrame | None = None  # type, answer
    learnt: pl.DataFrame | None = None  # template, answer, len: what there is to learn from
    asked: bool = True  # is any question asked?
    more: Any = None  # what else must be known of it where these questions are

    @classmethod
    def of(cls, answers: pl.Series) -> "ShardAnswers":
        """Those of questions, each alone."""
        words = answers.unique(maintain_order=True).to_list()
        return cls(words, np.ones(len(words), bool), asked=bool(words))


NOTHING_ASKED = ShardScores([], np.zeros(0, bool), ShardAnswers([], np.zeros(0, bool)), None, [])


def answers_together(shards: Sequence[ShardAnswers]) -> tuple[str, ...]:
    """The answers there are in any shard."""
    words = dict.fromkeys(word for shard in shards for word in shard.words)
    used = {word for shard in shards for word, here in zip(shard.words, shard.used.tolist(), strict=True) if here}
    return tuple(word for word in words if word in used)
