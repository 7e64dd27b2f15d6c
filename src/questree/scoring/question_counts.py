"""What a worker counts about AGQA's questions of one shard, each alone, and the predictions for them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl

from questree.formats.agqa_import import records_of
from questree.metrics.answers import AnswerCounts, agqa_tallies
from questree.models.stored import stored_predictions
from questree.scoring.agqa_questions import EVERY, asked_in, texts_in, texts_of_run
from questree.scoring.answer_kinds import types_of_records
from questree.scoring.compared import PredictionReader, looked_up
from questree.scoring.shard_tasks import NOTHING_ASKED, ScoringTask, ShardAnswers, ShardScores, counts_of_models
from questree.stages.decompose.hierarchies import shards
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.scored import QuestionRecords
from questree.vocabulary.words import Vocabulary


@dataclass(frozen=True)
class QuestionTask(ScoringTask):
    chosen: bool = True  # only the balanced selection
    most_steps: tuple[int, ...] = ()  # [template] in train
    by_splits: bool = False  # what is held out is read in the run's splits

    def asked(self, name: str) -> pl.DataFrame:
        assert self.split is not None
        return asked_in(Run(self.run), name, self.split, self.chosen, self.most_steps, self.by_splits)


def question_answers(task: QuestionTask, name: str) -> ShardAnswers | None:
    """In a worker: the answers there are in one shard; nothing if no question is asked."""
    asked = task.asked(name)
    return None if asked.is_empty() else answers_in(asked)


def answers_in(asked: pl.DataFrame) -> ShardAnswers:
    pairs = pl.DataFrame({"type": types_of_records(asked), "answer": asked["answer"]}).unique()
    return ShardAnswers.of(asked["answer"])._replace(by_type=pairs)


def score_questions(task: QuestionTask, name: str) -> ShardScores:
    """In a worker: the counts of one shard."""
    asked, run = task.asked(name), Run(task.run)
    if asked.is_empty():
        return NOTHING_ASKED
    texts = partial(texts_of_run, run) if name == EVERY else partial(texts_in, run, name)
    there = shards(run) if task.models else []
    folders = [folder for folder in there if name in (EVERY, folder.name)]

    def stored(model: str) -> pl.DataFrame:
        return stored_predictions(run, Stored.believed(run, model), folders, asked["id"]).table

    return counts_in(task, replace(records_of(asked), texts=texts), stored)


def counts_in(
    task: ScoringTask, asked: QuestionRecords, stored: Callable[[str], pl.DataFrame] | None = None
) -> ShardScores:
    """Of some questions, with all about the same videos; `stored`: what a model of the run says to them."""
    counted = counts_of_models(task, _reader(task, asked), partial(agqa_tallies, asked, known={}), stored)
    answers, without = ShardAnswers.of(asked.table["answer"]), np.zeros(len(asked.videos), bool)
    return ShardScores(asked.videos, without, answers, AnswerCounts.of(asked.table), counted)


def _reader(task: ScoringTask, asked: QuestionRecords) -> PredictionReader:
    """Reads for the questions of a shard with the answers of all."""
    assert task.known is not None
    words, of_type, ids = task.known.words, task.known.kinds, asked.table["id"]

    def kinds(_: Vocabulary) -> pl.DataFrame:
        own = types_of_records(asked.table).replace_strict(of_type, return_dtype=pl.String)
        return asked.table.select("id").with_columns(kind=own)

    return PredictionReader(ids, ids, words, task.how, texts=looked_up(asked.texts), kinds=kinds)
