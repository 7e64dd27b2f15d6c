"""Questions about image sets dealt by the shards of their DAGs: what each is scored by alone."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from questree.metrics.sets import Commonest, answers_in
from questree.scoring.image_sets import options_of
from questree.tables.image_questions import QuestionChunk, chunks
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.workers import each

ALONE = Table(
    "alone",
    {
        "shard": pl.UInt32,  # rows of a piece are sorted by it
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
    begins: tuple[int, ...]  # [shard] its first image
    split: str | None  # of which questions are scored
    pieces: tuple[Path, ...] = ()  # where they lie once they are dealt
    commonest: Commonest | None = None  # answers of train, if there is anything to learn from

    def place(self, piece: QuestionChunk) -> Path:
        return self.scratch / f"questions-{piece.begin}"

    def questions(self, shard: int) -> pl.DataFrame:
        """Rows of ALONE."""
        found = [ALONE.empty()]
        for folder in self.pieces:
            piece = ALONE.read_piece(folder)
            begin, end = np.searchsorted(piece["shard"].to_numpy(), [shard, shard + 1])
            found.append(piece[int(begin) : int(end)])
        return pl.concat(found).rechunk()


def deal_all(run: Run, split: str | None, begins: Sequence[int], scratch: Path, pool: Executor | None) -> QuestionDeal:
    """Deal the balanced selection of a run, if there is one, or else all questions."""
    parts, task = chunks(run), QuestionDeal(scratch, tuple(begins), split)
    learnt = each(pool, "dealing questions", "questions", parts, deal_questions, task)
    known = pl.concat(learnt)
    pieces = tuple(map(task.place, parts))
    return replace(task, pieces=pieces, commonest=Commonest.of(known) if len(known) else None)


def deal_questions(task: QuestionDeal, piece: QuestionChunk) -> pl.DataFrame:
    """In a worker: the questions of a piece in the order of shards; what there is to learn from."""
    asked = piece.selected(False, *ASKED)
    own = asked if task.split is None else asked.filter(split=task.split)
    first, number = pl.col("images").list.first().fill_null(0), pl.col("images").list.len()
    columns = own.select("id", "template", "answer", image=first, images=number, options=options_of(own))
    least = own["images"].list.min().fill_null(0).to_numpy()
    shard = pl.Series(np.searchsorted(task.begins[1:], least, side="right"), dtype=pl.UInt32)
    with new_folder(task.place(piece)) as folder:
        ALONE.write_piece(columns.with_row_index("row", piece.begin).with_columns(shard=shard).sort("shard"), folder)
    return answers_in(asked.filter(split="train"))
