"""What a worker counts about the DAGs of one shard and the predictions of stored models, bots and files."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from questree.metrics.answered import Listing, Missing, ModelAnswers, answered, needed
from questree.metrics.cells import Tallies
from questree.metrics.dags import DagMetric, count_answered, dag_counts
from questree.metrics.errors import error_kinds
from questree.models.stored import covered, said
from questree.rules.schemes import unscored
from questree.scoring.answer_kinds import kinds_of_keys
from questree.scoring.as_read import as_read, read_by_key, unread
from questree.scoring.compared import PredictionReader, choices, dag_reader, options_in, used_words
from questree.scoring.dag_shards import AloneQuestions, RunDags
from questree.scoring.shard_tasks import (
    NOTHING_ASKED,
    GivenFile,
    ModelCounts,
    ReadCounts,
    ScoringTask,
    ShardAnswers,
    ShardScores,
    counts_of,
)
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.question_texts import texts_by_id
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.predictions import Stored


@dataclass(frozen=True, kw_only=True)
class DagTask(ScoringTask):
    dags: RunDags
    errors: bool = False  # are kinds of errors told apart?
    alone: bool = False  # is every question scored alone, too?


class DagListing(NamedTuple):
    """What tables list, whoever answers."""

    dags: Listing
    alone: Any  # of the questions, if they are scored alone


def shard_answers(task: DagTask, name: Any) -> ShardAnswers:
    """In a worker: the answers there are in one shard."""
    return task.dags.answers(name, task.split)


def score_shard(task: DagTask, name: Any) -> ShardScores:
    """In a worker: the counts of one shard."""
    with unscored(task.unscored):
        asked = task.dags.part(name, task.split)
        own = DagShard.of(task, name, asked)
        if not own.dags.videos and own.alone is None:
            return NOTHING_ASKED
        counted = [own.of_model(model) for model in task.models] + [own.of_file(given) for given in task.files]
        with_dags = np.zeros(len(own.dags.videos), bool)
        with_dags[own.dags.dags["video"].to_numpy()] = True
        answers = ShardAnswers(own.dags.words, used_words(own.dags))
        return ShardScores(own.dags.videos, with_dags, answers, own.listing, counted)


@dataclass(frozen=True)
class DagShard:
    """A shard that is scored."""

    task: DagTask
    name: Any
    asked: RunHierarchies
    reader: PredictionReader | None  # reads for the questions of the shard with the answers of all
    more: Sequence[DagMetric]
    alone: AloneQuestions | None

    @classmethod
    def of(cls, task: DagTask, name: Any, asked: RunHierarchies) -> "DagShard":
        more = [partial(error_kinds, choices=choices(options_in(asked), task.how))] if task.errors else []
        return cls(task, name, asked, _reader(task, asked), more, task.dags.alone(name, asked, task.split))

    @property
    def dags(self) -> Hierarchies:
        return self.asked.hierarchies

    @property
    def listing(self) -> DagListing:
        alone = None if self.alone is None else self.alone.listing
        return DagListing(Listing.of(self.dags), alone)

    def of_model(self, model: str) -> ModelCounts:
        """One that is stored, or a bot."""
        given, missing = said(self.asked, self.task.dags.stored(self.name, model)), self.task.missing(model)
        cover = covered(self.asked, given)
        if self.reader is None:
            every = needed(self.dags, scored=False)
            times = np.bincount(given.by_key[every] - NOTHING, minlength=len(given.words) + 1)[1:]
            said_here = {given.words[at]: int(times[at]) for at in np.flatnonzero(times).tolist()}
            counts = [self.counts(0, 0, given, missing)]
            return ModelCounts(cover.needed, cover.found, cover.examples, 0, said_here, counts)
        found = list[ReadCounts]()
        for policy in self.task.how.policies:
            read = read_by_key(self.asked, given, self.reader, policy)
            found.append(self.counts(*unread(self.asked, read, self.reader), read, missing))
        return ModelCounts(cover.needed, cover.found, cover.examples, 0, {}, found)

    def counts(self, lost: int, count: int, read: ModelAnswers, missing: Missing) -> ReadCounts:
        beside = answered(self.dags, read, missing)
        tallies = count_answered(beside, self.more)
        if not self.task.alone:
            return ReadCounts(lost, count, tallies)
        alone = None if self.alone is None else self.alone.tallies(read, missing)
        return ReadCounts(lost, count, tallies, alone, dag_counts(beside))

    def of_file(self, given: GivenFile) -> ModelCounts:
        assert self.reader is not None
        table, missing = given.among(self.reader.known), self.task.missing(given.model)
        return counts_of(table, self.reader, missing, self.tallies)

    def tallies(self, said: pl.DataFrame | ModelAnswers, missing: Missing) -> Tallies:
        return count_answered(answered(self.dags, said, missing), self.more)


def read_models(task: DagTask, name: Any) -> dict[str, Stored]:
    """What every model says in a shard, as the policy reads it; the shards must know what an answer is, if it does."""
    found = {model: task.dags.stored(name, model) for model in task.models}
    if task.known is None:
        return found
    asked = task.dags.part(name, task.split)
    reader = _reader(task, asked)
    assert reader is not None
    return {model: as_read(asked, own, reader, task.how.policies[0]) for model, own in found.items()}


def _reader(task: DagTask, asked: RunHierarchies) -> PredictionReader | None:
    if task.known is None:
        return None
    dags, known = asked.hierarchies, task.known
    texts = partial(texts_by_id, asked)
    return dag_reader(dags, known.words, task.how, texts, lambda _: kinds_of_keys(dags, known.kinds))
