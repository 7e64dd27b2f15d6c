"""Questions about image sets written as runs have them."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import polars as pl

from questree.stages import question_shards
from questree.tables.image_questions import MADE, answered
from questree.tables.run import Run

ALL = 1 << 14  # questions of a shard


def write_questions(made: pl.DataFrame, run: Run, questions: int = ALL) -> None:
    """In this order, in shards of about so many."""
    shutil.rmtree(run.covr / "questions", ignore_errors=True)
    run.covr.mkdir(exist_ok=True, parents=True)
    with TemporaryDirectory() as place, patch.object(question_shards, "QUESTIONS", questions):
        question_shards.write_piece(made.select(list(MADE.columns)), Path(place))
        question_shards.write_shards([Path(place)], run.covr, None)


def put_in_shards(run: Run, questions: int = 40) -> None:
    """The questions of a run, in smaller shards or larger ones."""
    write_questions(answered(run), run, questions)
