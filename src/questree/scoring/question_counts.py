"""What a worker counts about AGQA's questions of one shard, each alone, and the predictions for them."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from questree.formats.agqa_import import records_of
from questree.metrics.answers import AnswerCounts, agqa_tallies
from questree.models.stored import stored_predictions
from questree.scoring.agqa_questions import EVERY, asked_in, texts_in, texts_of_run
from questree.scoring.answer_kinds import types_of_records
from questree.scoring.compared import PredictionReader, looked_up
from questree.scoring.shard_tasks import NOTHING_ASKED, ModelCounts, ScoringTask, ShardAnswers, ShardScores, counts_of
from questree.stages.decompose.hierarchies import shards
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.scored import QuestionRecords
from questree.vocabulary.words import Vocabulary


@dataclass(frozen=True)
class QuestionTask(ScoringTask):
    chosen: bool = True  # only the balanced selection
    most_steps: tuple[int, ...] = ()  # [template] in train

    def asked(self, name: str) -> pl.DataFrame:
        assert self.split is not None
        return asked_in(Run(self.run), name, self.split, self.chosen, self.most_steps)


def question_answers(task: QuestionTask, name: str) -> ShardAnswers | None:
    """In a worker: the answers there are in one shard; nothing if no question is asked."""
    asked = task.asked(name)
    if asked.is_empty():
        return None
    words = asked["answer"].unique(maintain_order=True).to_list()
    pairs = pl.DataFrame({"type": types_of_records(asked), "answer": asked["answer"]}).unique()
    return ShardAnswers(words, np.ones(len(words), bool), pairs)


def score_questions(task: QuestionTask, name: str) -> ShardScores:
    """In a worker: the counts of one shard."""
    asked = records_of(task.asked(name))
    if not asked.videos:
        return NOTHING_ASKED
    reader, run, counted = _reader(task, asked, name), Run(task.run), list[ModelCounts]()
    count = partial(agqa_tallies, asked, known={})
    there = shards(run) if task.models else []
    folders = [folder for folder in there if name in (EVERY, folder.name)]
    for model in task.models:
        given = stored_predictions(run, Stored.believed(run, model), folders, reader.known)
        counted.append(counts_of(given.table, reader, task.missing(model), count))
    for file in task.files:
        counted.append(counts_of(file.among(reader.known), reader, task.missing(file.model), count))
    words = asked.table["answer"].unique(maintain_order=True).to_list()
    answers = ShardAnswers(words, np.ones(len(words), bool))
    without = np.zeros(len(asked.videos), bool)
    return ShardScores(asked.videos, without, answers, AnswerCounts.of(asked.table), counted)


def _reader(task: QuestionTask, asked: QuestionRecords, name: str) -> PredictionReader:
    """Reads for the questions of a shard with the answers of all."""
    assert task.known is not None
    words, of_type, run = task.known.words, task.known.kinds, Run(task.run)

    def kinds(_: Vocabulary) -> pl.DataFrame:
        own = types_of_records(asked.table).replace_strict(of_type, return_dtype=pl.String)
        return asked.table.select("id").with_columns(kind=own)

    texts = partial(texts_of_run, run) if name == EVERY else partial(texts_in, run, name)
    ids = asked.table["id"]
    return PredictionReader(ids, ids, words, task.how, texts=looked_up(texts), kinds=kinds)
