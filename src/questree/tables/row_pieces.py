"""Rows of a table that stand next to each other, to be sent to whoever works on them."""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from questree.tables.table import rows_in


@dataclass(frozen=True)
class RowPiece:
    """Rows begin <= r < end; small enough to send anywhere that sees the table."""

    begin: int
    end: int

    def __str__(self) -> str:
        return f"{self.begin}-{self.end - 1}"


def pieces_of(path: Path, rows: int) -> list[RowPiece]:
    """All rows of a Parquet file, so many at a time."""
    every = rows_in(path)
    return [RowPiece(*cuts) for cuts in pairwise([*range(0, every, rows), every])]
