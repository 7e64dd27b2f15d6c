"""Rows of a shard's tables: held until it is complete, but those of a long video are written as they come."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from questree.columns.joins import Ints
from questree.tables.growing import TableWriter
from questree.tables.table import Table

PIECE = 1 << 21  # questions of a long video that are in memory together


@dataclass
class ShardRows:
    """Tables that grow: each is written at once, unless something was put down before."""

    folder: Path
    tables: Iterable[Table]
    wide: bool
    _held: list[tuple[Table, pl.DataFrame]] = field(default_factory=list)
    _begun: dict[str, TableWriter] = field(default_factory=dict)

    def add(self, table: Table, rows: pl.DataFrame) -> None:
        self._held.append((table, rows))

    def put_down(self) -> None:
        """Write what is held."""
        for table in self.tables:
            if table.name not in self._begun:
                self._begun[table.name] = TableWriter(self.folder / f"{table.name}.parquet", table, dictionary=False)
            self._begun[table.name].write(self._of(table))
        self._held.clear()

    def write(self) -> None:
        """The files of all tables."""
        if not self._begun:
            for table in self.tables:
                table.write(self._of(table), self.folder)
            return
        self.put_down()
        for growing in self._begun.values():
            growing.close()

    def _of(self, table: Table) -> pl.DataFrame:
        none = pl.DataFrame(schema=dict(table.types(self.wide)))
        return pl.concat([rows for own, rows in self._held if own is table] or [none])


def in_pieces(tables: Iterable[dict[str, Ints]], videos: int) -> Iterator[list[dict[str, Ints]]]:
    """Columns that are in memory together: all those of several videos, else so many of a long one."""
    held, rows = list[dict[str, Ints]](), 0
    for table in tables:
        held.append(table)
        rows += len(table["video"])
        if full(rows, videos):
            yield held
            held, rows = [], 0
    if held:
        yield held


def full(rows: int, videos: int) -> bool:
    return videos == 1 and rows > PIECE
