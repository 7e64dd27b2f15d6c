"""What a worker counts about the DAGs of one shard and the predictions of stored models, bots and files."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.metrics.answered import Listing, Missing, ModelAnswers, answered, needed
from questree.metrics.answers import AnswerCounts, agqa_tallies
from questree.metrics.catalogue import Groups
from questree.metrics.cells import Tallies
from questree.metrics.dags import DagMetric, dag_counts, score_answered
from questree.metrics.errors import error_kinds
from questree.models.stored import covered, said
from questree.rules.schemes import unscored
from questree.scoring.answer_kinds import answers_by_type, kinds_of_keys
from questree.scoring.as_read import read_by_key, unread
from questree.scoring.compared import PredictionReader, choices, used_words
from questree.scoring.run_answers import answers_in
from questree.scoring.run_questions import AskedShard, asked_shard
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
from questree.stages.decompose.hierarchies import RunHierarchies, corpus, part
from questree.stages.decompose.question_texts import texts_by_id
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.nodes import GIVEN, NODES
from questree.tables.run import Run


@dataclass(frozen=True)
class DagTask(ScoringTask):
    errors: bool = False  # are kinds of errors told apart?
    alone: tuple[int, ...] | None = None  # is every question scored alone, too? [template] the most steps in train


class DagListing(NamedTuple):
    """What tables list, whoever answers."""

    dags: Listing
    alone: AnswerCounts | None  # of the questions


def shard_answers(task: DagTask, name: str) -> ShardAnswers | None:
    """In a worker: the answers there are in one shard; nothing if no question is asked."""
    dags, _ = part(task.run, name, task.split)
    if nothing_in(dags):
        return None
    return ShardAnswers(dags.words, used_words(dags), answers_by_type(dags))


def score_shard(task: DagTask, name: str) -> ShardScores:
    """In a worker: the counts of one shard."""
    with unscored(task.unscored):
        dags, named = part(task.run, name, task.split)
        if nothing_in(dags):
            return NOTHING_ASKED
        own = DagShard.of(task, RunHierarchies(Run(task.run), dags, [named]))
        counted = [own.of_model(model) for model in task.models] + [own.of_file(given) for given in task.files]
        with_dags = np.zeros(len(dags.videos), bool)
        with_dags[dags.dags["video"].to_numpy()] = True
        answers = ShardAnswers(dags.words, used_words(dags))
        return ShardScores(dags.videos, with_dags, answers, own.listing, counted)


def keys_apart(run: Path, name: str) -> bool:
    """In a worker: does every key that came with a node of a shard name its video, so that no other shard has it?"""
    bank, folder = corpus(run)[0], Run(run).decomposed / name
    names = bank.names.gather(NODES.only("video").read(folder)["video"])
    return bool((GIVEN.only("key").read(folder)["key"].str.replace("-[^-]*$", "") == names).all())


def nothing_in(dags: Hierarchies) -> bool:
    return dags.dags.is_empty() and dags.isolated.is_empty()


@dataclass(frozen=True)
class DagShard:
    """A shard that is scored."""

    task: DagTask
    asked: RunHierarchies
    reader: PredictionReader | None  # reads for the questions of the shard with the answers of all
    more: Sequence[DagMetric]
    alone: AskedShard | None
    groups: dict[str, Groups] = field(default_factory=dict)  # of its questions, alone

    @classmethod
    def of(cls, task: DagTask, asked: RunHierarchies) -> "DagShard":
        more = [partial(error_kinds, choices=choices(task.run, asked, task.how))] if task.errors else []
        alone = None
        if task.alone is not None:
            alone = asked_shard(asked.run, asked.named[0].shard, task.split, task.alone)
        return cls(task, asked, _reader(task, asked), more, alone)

    @property
    def dags(self) -> Hierarchies:
        return self.asked.hierarchies

    @property
    def listing(self) -> DagListing:
        return DagListing(Listing.of(self.dags), AnswerCounts.of(self.alone.records.table) if self.alone else None)

    def of_model(self, model: str) -> ModelCounts:
        """One that is stored, or a bot."""
        named = self.asked.named[0]
        given, missing = said(self.asked, answers_in(self.asked.run, model, named.shard)), self.task.missing(model)
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
        tallies = score_answered(beside, self.more).tallies
        if self.alone is None:
            return ReadCounts(lost, count, tallies)
        given = self.alone.said(read.words, read.by_key[self.alone.own.nodes :])
        return ReadCounts(
            lost, count, tallies, agqa_tallies(self.alone.records, given, missing, self.groups), dag_counts(beside)
        )

    def of_file(self, given: GivenFile) -> ModelCounts:
        assert self.reader is not None
        return counts_of(given.among(self.reader.known), self.reader, self.task.missing(given.model), self.of_table)

    def of_table(self, predictions: pl.DataFrame, missing: Missing) -> Tallies:
        return score_answered(answered(self.dags, predictions, missing), self.more).tallies


def _reader(task: DagTask, asked: RunHierarchies) -> PredictionReader | None:
    if task.known is None:
        return None
    dags, kinds = asked.hierarchies, task.known.kinds
    scored, every = (dags.keys.gather(needed(dags, scored)) for scored in (True, False))
    texts, of_keys = partial(texts_by_id, asked), lambda _: kinds_of_keys(dags, kinds)
    return PredictionReader(scored, every, task.known.words, task.how, texts=texts, kinds=of_keys)
