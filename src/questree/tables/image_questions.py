"""Questions about sets of images, and which of them are kept, as columns; read some at a time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import polars as pl

from questree.faults import BadInput
from questree.tables.images import IMAGES
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.table import Table, readable, rows_in

ANSWERED = Table(  # RUN/covr/questions.parquet, in the order they were made
    "questions",
    {
        "id": pl.String,
        "split": pl.String,  # train, dev or test
        "template": pl.String,  # COUNT, VERIFYLOGIC, ...
        "question": pl.String,
        "answer": pl.String,  # "yes", "no", a number or a word
        **PROGRAM,
        "images": pl.List(pl.UInt32),  # rows in `images`
        "length": pl.UInt8,  # nodes and relations of its largest reference
        "depth": pl.UInt8,  # of its deepest reference
        "attributes": pl.UInt8,  # of all its references
        "pair": pl.UInt32,  # equal for questions of one text that were made together with other images and answers
    },
    made_by="questree generate` or `questree import covr",
)
BALANCED = Table("balanced", {"id": pl.String})  # RUN/covr/balanced.parquet
MADE_FROM = {"balanced.parquet": "balanced selection", "splits": "splits", "decomposed": "DAGs"}


QUESTIONS = 1 << 16  # of a chunk
EMPTY = "the balanced selection is empty; `questree balance` makes another, or use --all"


def answered(run: Run) -> pl.DataFrame:
    """The image questions of a run; none are none to work with."""
    count(run)
    return ANSWERED.read(run.covr)


def count(run: Run) -> int:
    """How many image questions a run has; none are none to work with."""
    made_by = "`questree generate` makes them, `questree import covr` reads them"
    path = run.covr / f"{ANSWERED.name}.parquet"
    if not path.is_file():
        raise BadInput.at(run.covr, f"no image questions here; {made_by}")
    run.require_plugins(run.covr)
    ANSWERED.read(run.covr, rows=(0, 1))  # say now what is wrong with them
    found = rows_in(path)
    if not found:
        raise BadInput.at(run.covr, f"the table of image questions is empty; {made_by}")
    return found


def some_of(run: Run, ids: Sequence[str]) -> pl.DataFrame:
    """Those with these ids, in the order of the table, which is never all in memory."""
    file = run.covr / f"{ANSWERED.name}.parquet"
    with readable(file):
        every = pl.scan_parquet(file, glob=False).filter(pl.col("id").is_in(list(ids)))
        return ANSWERED.frame(every.select(list(ANSWERED.columns)).collect(engine="streaming"))


def check_images(run: Run) -> None:
    """Says so if a question asks about an image that is not there."""
    count(run)
    IMAGES.read(run.images, rows=(0, 1))  # say now if there are none
    last, there = _last_image(run), rows_in(run.images / f"{IMAGES.name}.parquet")
    if last is not None and last >= there:
        raise BadInput.at(run.covr, f"made from other images: a question asks about image {last}, there are {there}")


def _last_image(run: Run) -> int | None:
    file = run.covr / f"{ANSWERED.name}.parquet"
    with readable(file):
        every = pl.scan_parquet(file, glob=False).select(pl.col("images").list.max().max())
        found: int | None = every.collect(engine="streaming").item()
    return found


def has_selection(run: Run) -> bool:
    return (run.covr / f"{BALANCED.name}.parquet").is_file()


@dataclass(frozen=True)
class QuestionChunk:
    """Some image questions of a run that stand next to each other; small enough to send anywhere that sees the run."""

    run: Path
    begin: int  # rows begin <= r < end
    end: int

    def __str__(self) -> str:
        return f"{self.begin}-{self.end - 1}"

    @property
    def name(self) -> str:
        """Of files with what is made of it; names are sorted as chunks are."""
        return f"{self.begin:012}"

    def read(self, *columns: str) -> pl.DataFrame:
        """All columns, or some."""
        table = ANSWERED.only(*columns) if columns else ANSWERED
        return table.read(Run(self.run).covr, rows=(self.begin, self.end))

    def chosen(self, ids: pl.Series) -> pl.Series:
        """[question] is it in the balanced selection, which is never all in memory?"""
        file = os.fspath(Run(self.run).covr / f"{BALANCED.name}.parquet")
        with readable(Path(file)):
            own = (
                pl.scan_parquet(file, glob=False).filter(pl.col("id").is_in(ids.implode())).collect(engine="streaming")
            )
        return ids.is_in(own["id"].implode())

    def selected(self, every: bool, *columns: str) -> pl.DataFrame:
        """Those of the balanced selection, if there is one; `columns` as for `read`."""
        table = self.read(*columns)
        return table if every or not has_selection(Run(self.run)) else table.filter(self.chosen(table["id"]))


def chunks(run: Run) -> list[QuestionChunk]:
    """All image questions of a run."""
    rows = count(run)
    return [QuestionChunk(run.folder, *cuts) for cuts in pairwise([*range(0, rows, QUESTIONS), rows])]


def made_from_questions(run: Run) -> str | None:
    """What would go with the questions of a run if they were replaced, in words; None without questions."""
    if not (run.covr / f"{ANSWERED.name}.parquet").is_file():
        return None
    names = [said for name, said in MADE_FROM.items() if (run.covr / name).exists()]
    listed = " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), *names[-1:]])
    verb = "is" if names == ["balanced selection"] else "are"
    return f"; their {listed} {verb} gone" if names else ""
