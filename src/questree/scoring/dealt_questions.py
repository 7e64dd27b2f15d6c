"""Questions about image sets dealt by the chunks of their DAGs: of which split each is, what it is scored by alone."""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from questree.metrics.sets import Commonest, answers_in
from questree.scoring.image_sets import options_of
from questree.stages.decompose.dealt_dags import CHUNK, write_dealt
from questree.stages.decompose.dealt_sets import chunk_of
from questree.tables.image_questions import QuestionChunk, chunks
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.terms import Array
from questree.workers import each

SIDES = Table("sides", {**CHUNK, "id": pl.String, "split": pl.String})
ALONE = Table(
    "alone",
    {
        **CHUNK,
        "row": pl.UInt32,  # ascends with the questions of the run
        "id": pl.String,
        "template": pl.String,
        "answer": pl.String,
        "image": pl.UInt32,  # row of the first one it names
        "images": pl.UInt32,  # how many it is about
        "options": pl.List(pl.String),  # null if it does not name any
    },
    frozenset({"options"}),
)
ASKED = ("id", "split", "template", "answer", *PROGRAM, "images")


@dataclass(frozen=True)
class QuestionDeal:
    """What is dealt, and where to; small enough to send anywhere that sees the run."""

    scratch: Path
    cuts: tuple[int, ...]  # [chunk + 1] its first image
    split: str | None  # of which questions are scored
    alone: bool  # is each scored alone, too? Then the balanced selection is, if there is one
    pieces: tuple[Path, ...] = ()  # where they lie once they are dealt
    commonest: Commonest | None = None  # answers of train, if there is anything to learn from

    def place(self, piece: QuestionChunk) -> Path:
        return self.scratch / f"questions-{piece.begin}"

    def chunk_of(self, questions: pl.DataFrame) -> Array:
        """[question] the chunk of the first image of its set."""
        return chunk_of(questions["images"].list.min().fill_null(0).to_numpy(), self.cuts)


def deal_all(run: Run, task: QuestionDeal, pool: Executor | None) -> QuestionDeal:
    """Deal the questions of a run."""
    parts = chunks(run)
    learnt = each(pool, "dealing questions", "questions", parts, deal_questions, task)
    counted = [own for own in learnt if own is not None and len(own)]
    known = Commonest.of(pl.concat(counted)) if counted else None
    return replace(task, pieces=tuple(map(task.place, parts)), commonest=known)


def deal_questions(task: QuestionDeal, piece: QuestionChunk) -> pl.DataFrame | None:
    """In a worker: the questions of a piece in the order of chunks; what there is to learn from, if it matters."""
    sides = piece.read("id", "split", "images")
    with new_folder(task.place(piece)) as folder:
        write_dealt(SIDES, sides.drop("images"), task.chunk_of(sides), folder)
        if not task.alone:
            return None
        asked = piece.selected(False, *ASKED)
        own = asked if task.split is None else asked.filter(split=task.split)
        write_dealt(ALONE, scored_by(own, piece.begin), task.chunk_of(own), folder)
    return answers_in(asked.filter(split="train"))


def scored_by(asked: pl.DataFrame, begin: int) -> pl.DataFrame:
    """What questions are scored by, each alone; `begin`: the number of the first."""
    first, number = pl.col("images").list.first().fill_null(0), pl.col("images").list.len()
    columns = asked.select("id", "template", "answer", image=first, images=number, options=options_of(asked))
    return columns.with_row_index("row", begin)
