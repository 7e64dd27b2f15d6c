"""AGQA's questions scored, each alone: of a run shard by shard, or in memory as one shard."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from questree.formats.agqa_import import records_of
from questree.metrics.answers import AnswerCounts, agqa_cells, agqa_tallies
from questree.metrics.scores import Scored
from questree.models.stored import stored_predictions, video_predictions
from questree.scoring.agqa_questions import (
    asked_in,
    by_splits,
    most_steps,
    nothing_asked,
    shard_names,
    texts_in,
    texts_of_run,
)
from questree.scoring.answer_kinds import types_of_records
from questree.scoring.compared import Given, PredictionReader, Scoring, for_run, looked_up, silent
from questree.scoring.run_shards import ShardsTogether, ShardWork, counted, given_files, stored_in, with_answers
from questree.scoring.shard_tasks import EVERY, NOTHING_ASKED, ScoringTask, ShardAnswers, ShardScores, counts_of_models
from questree.stages.balance.rounds import has_selection
from questree.stages.decompose.hierarchies import FEW, shards
from questree.stages.questions import Bank
from questree.tables.predictions import Stored, samples
from questree.tables.run import Run
from questree.tables.scored import QuestionRecords
from questree.vocabulary.words import Vocabulary
from questree.workers import shared_out


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


QUESTIONS = ShardWork(question_answers, score_questions, with_answers)


def questions_together(
    run: Run,
    models: Sequence[str],
    split: str,
    every: bool,
    how: Scoring,
    workers: int,
    files: Sequence[Given] = (),
    as_released: bool = False,
) -> ShardsTogether:
    """The counts of all shards with the balanced questions of a split, or with all of them."""
    stored_in(run, models)
    bank, own = Bank(run), for_run(run, how)
    names, workers = shard_names(bank), workers if bank.bytes() > FEW else 1
    with (
        given_files(files, how, run.predictions) as given,
        shared_out(workers, len(names)) as pool,
    ):
        task = QuestionTask(
            *(run.folder, split, own, tuple(models), given, samples(run)),
            chosen=not every and has_selection(run),
            most_steps=most_steps(bank),
            by_splits=by_splits(run, as_released),
        )
        task, found = counted(QUESTIONS, task, names, pool, unknown=True)
    if not found:
        raise nothing_asked(run, split)
    return ShardsTogether(task, found, agqa_cells)


def records_together(
    place: Path,
    asked: QuestionRecords,
    how: Scoring,
    files: Sequence[Given] = (),
    models: Sequence[str] = (),
    stored: Callable[[str], pl.DataFrame] | None = None,
    sampled: frozenset[str] = frozenset(),
) -> ShardsTogether:
    """The counts of questions in memory, which are one shard; `stored`: what a model of a run says to them, `sampled`:
    models that need not have answered everything."""
    with given_files(files, how) as given:
        task = ScoringTask(place, None, how, tuple(models), given, sampled)
        task = with_answers(task, [answers_in(asked.table)])
        return ShardsTogether(task, [counts_in(task, asked, stored)], agqa_cells)


def scored_on(asked: QuestionRecords, run: Run, how: Scoring, models: Sequence[str]) -> dict[str, Scored]:
    """Models that are stored in a run on some of its questions."""

    def stored(model: str) -> pl.DataFrame:
        return video_predictions(run, model, asked.table["id"]).table

    found = records_together(run.folder, asked, for_run(run, how), (), models, stored, samples(run))
    return {name: scored for name, scored, _ in found.scored((), silent)}


def answer_counts(found: ShardsTogether) -> AnswerCounts:
    return AnswerCounts.together([shard.listing for shard in found.shards])
