"""Imported questions on disk: RUN/imported/<balanced|unbalanced>/<train|test>-<number>.parquet, in the order read."""

from pathlib import Path

import polars as pl

from questree.benchmarks.agqa.records import TEST
from questree.tables.table import Table

SETS, SPLITS = ("balanced", "unbalanced"), ("train", "test")
COLUMNS = {
    "id": pl.String,
    **TEST,  # the fields of the record; null where the file does not have them
    "as_is": pl.String,  # the record's own text, where the fields would give another one
    "shape": pl.String,  # the program in our notation, words replaced by slots $w0, $w1, ...; null if it cannot be read
    "words": pl.String,  # of the slots in the order of their numbers, a comma and a space between them
    "fault": pl.String,  # what is irregular about the record; null if nothing is
}


def table(name: str) -> Table:
    return Table(name, COLUMNS, frozenset(COLUMNS) - {"id"})


def files(folder: Path, name: str) -> list[str]:
    """The files of a set, in order: train, then test; paths inside `folder`."""
    found = sorted((folder / name).glob("*.parquet"), key=lambda path: (SPLITS.index(_split(path)), path.name))
    return [f"{name}/{path.name}" for path in found]


def split_of(file: str) -> str:
    return _split(Path(file))


def _split(path: Path) -> str:
    return path.name.partition("-")[0]


def read(folder: Path, file: str) -> pl.DataFrame:
    path = folder / file
    return table(path.stem).read(path.parent)
