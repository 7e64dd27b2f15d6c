"""What a worker counts about the DAGs of one shard and the predictions of stored models and of files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import Listing, Missing, answered, needed
from questree.metrics.cells import Tallies
from questree.metrics.dags import score_answered
from questree.metrics.scores import SHOWN, coverage
from questree.models.predictions import FieldNames, read_predictions
from questree.models.stored import covered, said
from questree.rules.schemes import unscored
from questree.scoring.answer_kinds import answers_by_type, kinds_of_keys
from questree.scoring.as_read import read_by_key, unread
from questree.scoring.compared import PredictionReader, Scoring, used_words
from questree.stages.decompose.hierarchies import RunHierarchies, part
from questree.stages.decompose.question_texts import texts_by_id
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.store import new_folder

GIVEN, ROWS = "given.parquet", 1 << 14  # predictions of a file, sorted by id; rows of a group


class GivenFile(NamedTuple):
    """Predictions of a file, where workers see them."""

    folder: Path
    model: str
    predictions: int
    duplicates: int

    def among(self, ids: pl.Series) -> pl.DataFrame:
        """Predictions for these; groups of rows outside their range are not read."""
        near = pl.col("id").is_between(pl.lit(ids.min()), pl.lit(ids.max()))
        found = pl.scan_parquet(os.fspath(self.folder / GIVEN), glob=False).filter(near).collect()
        return found.filter(pl.col("id").is_in(ids.implode()))


def write_given(file: Path, model: str, called: FieldNames, out: Path) -> GivenFile:
    """Read a file of predictions once, for all shards."""
    given = read_predictions(file, model, called)
    with new_folder(out) as folder:
        given.table.sort("id").write_parquet(folder / GIVEN, row_group_size=ROWS, compression="lz4")
    return GivenFile(out, given.model, len(given.table), given.duplicates)


class KnownAnswers(NamedTuple):
    """What all shards together say about answers."""

    words: tuple[str, ...]  # that are an answer, or an object asked about
    kinds: dict[str, str]  # type -> the kind of its answers


@dataclass(frozen=True)
class ScoringTask:
    """What all shards of a run are scored with; small enough to send anywhere."""

    run: Path
    split: str | None
    how: Scoring
    models: tuple[str, ...]  # stored ones
    files: tuple[GivenFile, ...]
    samples: frozenset[str]  # models that need not have answered everything
    unscored: tuple[str, ...]  # types
    known: KnownAnswers | None = None  # not needed to count exact answers of stored models

    def missing(self, model: str) -> Missing:
        return "skip" if model in self.samples else self.how.missing


class ReadCounts(NamedTuple):
    """Predictions as a policy reads them."""

    lost: int  # that are no answer
    read: int  # all of them
    tallies: Tallies


class ModelCounts(NamedTuple):
    found: int  # needed keys with a prediction
    lacking: tuple[str, ...]  # some without
    here: int  # predictions of a file for questions of the shard
    said: NDArray[np.int64]  # [word of a stored model] how often, where it is not known what an answer is
    policies: Sequence[ReadCounts]


class ShardScores(NamedTuple):
    videos: list[str]
    with_dags: NDArray[np.bool_]  # [video]
    needed: int  # keys that some metric looks at
    words: list[str]  # of the run
    used: NDArray[np.bool_]  # [word] is it an answer, or an object asked about?
    listing: Listing
    models: list[ModelCounts]  # stored ones, then files


class ShardAnswers(NamedTuple):
    words: list[str]  # of the run
    used: NDArray[np.bool_]  # [word]
    by_type: pl.DataFrame  # type, answer


NO_FLAGS, UNCOUNTED = np.zeros(0, bool), np.zeros(0, np.int64)
NOTHING_ASKED = ShardScores([], NO_FLAGS, 0, [], NO_FLAGS, Listing((), (), frozenset(), frozenset()), [])


def shard_answers(task: ScoringTask, name: str) -> ShardAnswers | None:
    """In a worker: the answers there are in one shard; nothing if no question is asked."""
    dags, _ = part(task.run, name, task.split)
    if nothing_in(dags):
        return None
    return ShardAnswers(dags.words, used_words(dags), answers_by_type(dags))


def score_shard(task: ScoringTask, name: str) -> ShardScores:
    """In a worker: the counts of one shard."""
    with unscored(task.unscored):
        dags, named = part(task.run, name, task.split)
        if nothing_in(dags):
            return NOTHING_ASKED
        asked = RunHierarchies(Run(task.run), dags, [named])
        reader = _reader(task, asked)
        counted = [_of_stored(task, asked, reader, model) for model in task.models]
        counted += [_of_file(task, asked, reader, given) for given in task.files]
        with_dags = np.zeros(len(dags.videos), bool)
        with_dags[dags.dags["video"].to_numpy()] = True
        about = dags.words, used_words(dags), Listing.of(dags)
        return ShardScores(dags.videos, with_dags, len(needed(dags)), *about, counted)


def nothing_in(dags: Hierarchies) -> bool:
    return dags.dags.is_empty() and dags.isolated.is_empty()


def _reader(task: ScoringTask, asked: RunHierarchies) -> PredictionReader | None:
    """Reads for the questions of a shard with the answers of all."""
    if task.known is None:
        return None
    dags, kinds = asked.hierarchies, task.known.kinds
    scored, every = (dags.keys.gather(needed(dags, scored)) for scored in (True, False))
    texts, of_keys = partial(texts_by_id, asked), lambda _: kinds_of_keys(dags, kinds)
    return PredictionReader(scored, every, task.known.words, task.how, texts=texts, kinds=of_keys)


def _of_stored(task: ScoringTask, asked: RunHierarchies, reader: PredictionReader | None, model: str) -> ModelCounts:
    dags, given = asked.hierarchies, said(asked, Stored.believed(asked.run, model))
    cover, missing = covered(asked, given), task.missing(model)
    if reader is None:
        every = needed(dags, scored=False)
        times = np.bincount(given.by_key[every] - NOTHING, minlength=len(given.words) + 1)[1:]
        counts = ReadCounts(0, 0, score_answered(answered(dags, given, missing)).tallies)
        return ModelCounts(cover.found, cover.examples, 0, times, [counts])
    found = list[ReadCounts]()
    for policy in task.how.policies:
        read = read_by_key(asked, given, reader, policy)
        found.append(ReadCounts(*unread(asked, read, reader), score_answered(answered(dags, read, missing)).tallies))
    return ModelCounts(cover.found, cover.examples, 0, UNCOUNTED, found)


def _of_file(
    task: ScoringTask, asked: RunHierarchies, reader: PredictionReader | None, given: GivenFile
) -> ModelCounts:
    assert reader is not None
    table, missing = given.among(reader.known), task.missing(given.model)
    cover, found = coverage(reader.needed, reader.known, table), list[ReadCounts]()
    for policy in task.how.policies:
        read = reader.understood(table, policy)
        tallies = score_answered(answered(asked.hierarchies, read.table, missing)).tallies
        found.append(ReadCounts(read.unparsed, len(read.table), tallies))
    return ModelCounts(cover.found, cover.examples[:SHOWN], len(table), UNCOUNTED, found)
