"""Questions about sets of images, and which of them are kept, as columns; read some at a time."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.faults import BadInput
from questree.tables.images import IMAGES
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.table import Table, readable, rows_in

MADE = Table(  # as they are made, in their order
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
)
ANSWERED = Table(  # RUN/covr/questions/<shard>: those whose first image is in a range, by number
    "questions", {"number": pl.UInt32, **MADE.columns}, made_by="questree generate` or `questree import covr"
)
# what every shard numbers for itself
TEXTS: dict[str, pl.DataType | type[pl.DataType]] = {"form": pl.String, "words": pl.List(pl.String)}
BALANCED = Table("balanced", {"id": pl.String})  # RUN/covr/balanced.parquet
MADE_FROM = {"balanced.parquet": "balanced selection", "splits": "splits", "decomposed": "DAGs"}
EMPTY = "the balanced selection is empty; `questree balance` makes another, or use --all"


def answered(run: Run) -> pl.DataFrame:
    """The image questions of a run in the order they were made; none are none to work with."""
    return every_question(run).sort("number")


def every_question(run: Run) -> pl.DataFrame:
    """The same in the order of shards."""
    count(run)
    return _collected(run, scanned(run))


def count(run: Run) -> int:
    """How many image questions a run has; none are none to work with."""
    made_by = "`questree generate` makes them, `questree import covr` reads them"
    folders = question_folders(run)
    if not folders:
        older = "of this version " if (run.covr / f"{ANSWERED.name}.parquet").is_file() else ""
        raise BadInput.at(run.covr, f"no image questions {older}here; {made_by}")
    run.require_plugins(run.covr)
    ANSWERED.read(folders[0], rows=(0, 1))  # say now what is wrong with them
    found = sum(rows_in(folder / f"{ANSWERED.name}.parquet") for folder in folders)
    if not found:
        raise BadInput.at(run.covr, f"the table of image questions is empty; {made_by}")
    return found


def question_folders(run: Run) -> list[Path]:
    """Of the shards, in the order of their images."""
    folder = run.covr / "questions"
    return sorted(path for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def scanned(run: Run) -> pl.LazyFrame:
    """The questions of all shards, which need not be in memory."""
    files = [os.fspath(folder / f"{ANSWERED.name}.parquet") for folder in question_folders(run)]
    return pl.concat([pl.scan_parquet(file, glob=False).cast(TEXTS) for file in files])  # type: ignore[arg-type]


def _collected(run: Run, questions: pl.LazyFrame) -> pl.DataFrame:
    with readable(run.covr / "questions"):
        return questions.select(list(ANSWERED.columns)).collect(engine="streaming")


def some_of(run: Run, ids: Sequence[str]) -> pl.DataFrame:
    """Those with these ids, in their order."""
    return _collected(run, scanned(run).filter(pl.col("id").is_in(list(ids)))).sort("number")


def check_images(run: Run) -> None:
    """Says so if a question asks about an image that is not there."""
    count(run)
    IMAGES.read(run.images, rows=(0, 1))  # say now if there are none
    there = rows_in(run.images / f"{IMAGES.name}.parquet")
    with readable(run.covr / "questions"):
        last = scanned(run).select(pl.col("images").list.max().max()).collect(engine="streaming").item()
    if last is not None and last >= there:
        raise BadInput.at(run.covr, f"made from other images: a question asks about image {last}, there are {there}")


def has_selection(run: Run) -> bool:
    return (run.covr / f"{BALANCED.name}.parquet").is_file()


@dataclass(frozen=True)
class QuestionChunk:
    """A shard of the image questions of a run, or all of them; small enough to send anywhere that sees the run."""

    run: Path
    name: str  # none of all of them

    def __str__(self) -> str:
        return self.name

    def read(self, *columns: str) -> pl.DataFrame:
        """All columns, or some."""
        if not self.name:
            return answered(Run(self.run)).select(columns or pl.all())
        table = ANSWERED.only(*columns) if columns else ANSWERED
        return table.read(Run(self.run).covr / "questions" / self.name)

    @property
    def shards(self) -> list[str]:
        return [self.name] if self.name else [folder.name for folder in question_folders(Run(self.run))]

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
    count(run)
    return [QuestionChunk(run.folder, folder.name) for folder in question_folders(run)]


def made_from_questions(run: Run) -> str | None:
    """What would go with the questions of a run if they were replaced, in words; None without questions."""
    if not (run.covr / "questions").is_dir():
        return None
    names = [said for name, said in MADE_FROM.items() if (run.covr / name).exists()]
    listed = " and ".join([*([", ".join(names[:-1])] if names[:-1] else []), *names[-1:]])
    verb = "is" if names == ["balanced selection"] else "are"
    return f"; their {listed} {verb} gone" if names else ""
