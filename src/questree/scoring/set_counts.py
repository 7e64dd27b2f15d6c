"""What a worker counts about some of COVR's questions, each alone, and the predictions for them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from questree.metrics.answered import Missing
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Ints, Tallies
from questree.metrics.sets import Commonest, answers_in, covr_tallies, guessed
from questree.models.stored import stored_image_predictions
from questree.scoring.compared import PredictionReader
from questree.scoring.image_sets import HELD_OUT, options_of, texts_of
from questree.scoring.shard_tasks import NOTHING_ASKED, ScoringTask, ShardAnswers, ShardScores, counts_of_models
from questree.stages.split.image_sets import in_parts
from questree.tables.image_questions import QuestionChunk
from questree.tables.images import IMAGES
from questree.tables.predictions import Stored
from questree.tables.questions import PROGRAM
from questree.tables.run import Run

ASKED = ("number", "id", "split", "template", "question", "answer", *PROGRAM, "images")


@dataclass(frozen=True)
class SetTask(ScoringTask):
    every: bool = False  # not only the balanced selection
    held_out: str = ""  # a split: what it holds out is scored, and its train learnt from
    commonest: Commonest | None = None  # of what there is to learn from, if there is anything

    def of_side(self, table: pl.DataFrame, side: str) -> pl.DataFrame:
        """Of some questions those that are scored, or learnt from."""
        own = table.filter(split=side)
        if not self.held_out or own.is_empty():
            return own
        inside = in_parts(Run(self.run), self.held_out, own["id"]).filter(part=HELD_OUT.get(side, side))
        return own.filter(pl.col("id").is_in(inside["id"].implode()))


def chunk_answers(task: SetTask, chunk: QuestionChunk) -> ShardAnswers:
    """In a worker: the answers there are in one chunk, and what there is to learn from."""
    assert task.split is not None
    table = chunk.selected(task.every, "id", "split", "template", "answer")
    learnt = answers_in(task.of_side(table, "train"))
    return ShardAnswers.of(task.of_side(table, task.split)["answer"])._replace(learnt=learnt)


def score_chunk(task: SetTask, chunk: QuestionChunk) -> ShardScores:
    """In a worker: the counts of one chunk; images are known by their rows, or by ids."""
    assert task.split is not None
    table, run = task.of_side(chunk.selected(task.every, *ASKED), task.split), Run(task.run)
    if table.is_empty():
        return NOTHING_ASKED
    image: pl.Expr | pl.Series = pl.col("images").list.first().fill_null(0)
    if METRICS:  # of plugins, which see its id
        image = IMAGES.read(run.images)["id"].gather(table.select(image)["images"])
    asked = table.select("number", "id", "answer", "template", "question", image=image, options=options_of(table))

    def stored(model: str) -> pl.DataFrame:
        folders = [run.covr / "decomposed" / name for name in chunk.shards]
        return stored_image_predictions(Stored.believed(run, model), folders, asked["id"]).table

    return counts_in(task, asked, stored)


def counts_in(task: SetTask, asked: pl.DataFrame, stored: Callable[[str], pl.DataFrame] | None = None) -> ShardScores:
    """Of some questions; `stored`: what a model of the run says to them."""
    assert task.known is not None
    reader = PredictionReader(asked["id"], asked["id"], task.known.words, task.how, texts=texts_of(asked))
    counted = counts_of_models(task, reader, partial(_tallies, asked), stored)
    said = guessed(task.commonest, asked) if task.commonest else {}
    baselines = {name: covr_tallies(asked, own) for name, own in said.items()}
    images = first_asked(asked)
    without = np.zeros(len(images), bool)
    return ShardScores(images, without, ShardAnswers.of(asked["answer"]), baselines, counted)


def _tallies(asked: pl.DataFrame, said: pl.DataFrame, missing: Missing) -> Tallies:
    return covr_tallies(asked, said, missing == "skip")


def first_asked(asked: pl.DataFrame) -> list[tuple[int, Any]]:
    """[image] the number of the first question about it, and the image."""
    return asked.unique("image", keep="first", maintain_order=True).select("number", "image").rows()


def image_places(images: Sequence[list[tuple[int, Any]]]) -> list[Ints]:
    """[shard] [image] where it stands among all, in the order of the questions."""
    met = dict[Any, int]()
    for number, image in (each for own in images for each in own):
        met[image] = min(number, met.get(image, number))
    place = {image: at for at, image in enumerate(sorted(met, key=met.__getitem__))}
    return [np.array([place[image] for _, image in own], np.int64) for own in images]
