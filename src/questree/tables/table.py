"""A table is a name and its columns; reading and writing check both."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from questree.faults import BadInput
from questree.tables.silence import silence

WORD = {False: pl.UInt8, True: pl.UInt16}  # are there many words? -> type of a position in the vocabulary
NO_WORD = {False: 255, True: 65535}  # and what stands where there is none
# texts that repeat, stored as numbers; the column brings the texts along, in the order they came
NUMBERED = pl.Enum([])
WHOLE, PIECE = 1 << 23, 1 << 20  # rows that are read at once; more has only a shard with a monster of a video
ROWS = 1 << 17  # of a group of rows in a table that is put together of pieces
DAMAGED = (Exception, pl.exceptions.PanicException)  # polars raises many kinds for a damaged file


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Within it a Parquet file is read; that it is damaged is told in one line, whatever polars says about it."""
    try:
        with silence():
            yield
    except DAMAGED as error:
        raise BadInput.at(path, f"not a readable Parquet file ({type(error).__name__})") from error


def columns_in(path: Path) -> list[str]:
    """Names of the columns of a Parquet file."""
    with readable(path):
        return list(pl.scan_parquet(path, glob=False).collect_schema())


def read_parquet(path: Path) -> pl.DataFrame:
    """All of a Parquet file."""
    with readable(path):
        return pl.read_parquet(path, glob=False)


def rows_in(path: Path) -> int:
    """Number of rows of a Parquet file, read off its end."""
    with readable(path):
        return int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())


@dataclass(frozen=True)
class Table:
    name: str
    columns: Mapping[str, pl.DataType | type[pl.DataType]]
    optional: frozenset[str] = frozenset()  # columns that may hold nulls
    made_by: str = ""  # the command that writes it, for a table of an older version
    wide: Mapping[str, type[pl.DataType]] = field(default_factory=dict)  # types of columns if there are many words
    skipping: bool = True  # are the bounds of groups of rows written, so that readers skip those with no wanted row?

    def types(self, wide: bool) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        """Column -> its type, for few or many words."""
        return {**self.columns, **self.wide} if wide else self.columns

    def only(self, *names: str) -> "Table":
        """Some of its columns."""
        columns = {name: self.columns[name] for name in names}
        return Table(self.name, columns, wide={name: dtype for name, dtype in self.wide.items() if name in names})

    def empty(self) -> pl.DataFrame:
        return pl.DataFrame(schema=dict(self.columns))

    def frame(self, data: pl.DataFrame | Mapping[str, object]) -> pl.DataFrame:
        """The data with exactly these columns, in this order and of these types; what is wide stays wide."""
        table = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
        own = {column.name: column for column in table.get_columns()}
        kept = {name: dtype for name, dtype in self.wide.items() if own[name].dtype == dtype}
        return pl.DataFrame(
            [own[name].cast(kept.get(name) or _numbered(own[name], dtype)) for name, dtype in self.columns.items()]
        )

    def write(self, data: pl.DataFrame, folder: Path) -> None:
        self.write_to(data, folder / f"{self.name}.parquet")

    def write_to(self, data: pl.DataFrame, path: Path) -> None:
        """A file of another name, until it is renamed."""
        self.frame(data).write_parquet(path, compression="zstd", compression_level=1, statistics=self.skipping)

    def write_piece(self, data: pl.DataFrame, folder: Path) -> None:
        """Some rows of the table, for `join` to put together with others."""
        self.frame(data).write_ipc(folder / f"{self.name}.arrow")

    def read_piece(self, folder: Path, begin: int = 0, rows: int | None = None) -> pl.DataFrame:
        """The rows of a piece, or some of them; of columns that are looked at alone, only these come into memory."""
        piece = pl.scan_ipc(os.fspath(folder / f"{self.name}.arrow"), glob=False)
        return (piece if rows is None else piece.slice(begin, rows)).collect()

    def join(self, pieces: Sequence[Path], folder: Path) -> None:
        """Write the rows of pieces, one folder after the other: never all in memory, and the bytes do not depend
        on where one piece ends. What is wide in one of them is wide."""
        files = [os.fspath(piece / f"{self.name}.arrow") for piece in pieces]
        schemas = [pl.read_ipc_schema(file) for file in files]
        wide = {name: dtype for name, dtype in self.wide.items() if any(own[name] == dtype for own in schemas)}
        self.sink(pl.concat([pl.scan_ipc(file, glob=False).cast(wide) for file in files]), folder)  # type: ignore[arg-type]

    def sink(self, rows: pl.LazyFrame, folder: Path) -> None:
        self.sink_to(rows, folder / f"{self.name}.parquet")

    def sink_to(self, rows: pl.LazyFrame, path: Path) -> None:
        """Write rows as they come, never all in memory; they have the types of the table."""
        own = rows.select(list(self.columns))
        own.sink_parquet(os.fspath(path), compression="zstd", compression_level=1, row_group_size=ROWS)

    def read(self, folder: Path, where: pl.Expr | None = None, rows: tuple[int, int] | None = None) -> pl.DataFrame:
        """All rows, or those for which a condition holds, or between two places: groups of rows that have none are not
        read."""
        path = folder / f"{self.name}.parquet"
        if not path.is_file():
            raise BadInput.at(path, f"no table {self.name} here; was the stage that writes it run?")
        with readable(path):
            missing = self.columns.keys() - pl.scan_parquet(path, glob=False).collect_schema().keys()
            if missing:
                table = pl.DataFrame()
            elif where is None and rows is None:
                table = pl.read_parquet(path, columns=list(self.columns), glob=False)
            else:
                scanned = pl.scan_parquet(path, glob=False)
                scanned = scanned if rows is None else scanned.slice(rows[0], rows[1] - rows[0])
                scanned = scanned if where is None else scanned.filter(where)
                table = scanned.select(list(self.columns)).collect()
        if missing:
            wanted = [name for name in self.columns if name in missing]
            older = f"; made by an older version: run `{self.made_by}` again" if self.made_by else ""
            raise BadInput.at(path, f"columns missing: {', '.join(wanted)}; expected {', '.join(self.columns)}{older}")
        return self.frame(table)

    def ranges(self, folder: Path) -> list[tuple[int, int]]:
        """All rows, or of more than WHOLE so many at a time: from where to where."""
        path = folder / f"{self.name}.parquet"
        rows = rows_in(path) if path.is_file() else 0  # who reads it says that it is missing
        most = PIECE if rows > WHOLE else max(rows, 1)
        return [(begin, min(begin + most, rows)) for begin in range(0, max(rows, 1), most)]

    def pieces(self, folder: Path) -> Iterator[pl.DataFrame]:
        """All rows, not more at a time than are read at once."""
        ranges = self.ranges(folder)
        return (self.read(folder, rows=own if len(ranges) > 1 else None) for own in ranges)

    def ends(self, folder: Path, column: str) -> tuple[int, int]:
        """The least and the largest of the numbers in a column."""
        path = folder / f"{self.name}.parquet"
        with readable(path):
            own = pl.scan_parquet(path, glob=False).select(low=pl.col(column).min(), high=pl.col(column).max())
            low, high = own.collect(engine="streaming").row(0)
        return int(low or 0), int(high or 0)

    def counted(self, folder: Path, column: str) -> pl.DataFrame:
        """The values of a column, and `len`: how many rows have each."""
        path = folder / f"{self.name}.parquet"
        with readable(path):
            return pl.scan_parquet(path, glob=False).group_by(column).len().collect(engine="streaming")


def _numbered(column: pl.Series, dtype: pl.DataType | type[pl.DataType]) -> pl.DataType | type[pl.DataType]:
    """The type of a column that is declared as this: one of NUMBERED texts has its own."""
    if dtype == pl.List(NUMBERED):
        return pl.List(_texts(column.explode(empty_as_null=False)))
    return _texts(column) if dtype == NUMBERED else dtype


def _texts(column: pl.Series) -> pl.DataType:
    if isinstance(column.dtype, pl.Enum):
        return column.dtype
    return pl.Enum(column.cast(pl.String).drop_nulls().unique(maintain_order=True))
