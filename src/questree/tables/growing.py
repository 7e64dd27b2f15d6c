"""A table that is written as its rows come: only those that are written at once are in memory."""

import os
from pathlib import Path
from typing import Any

import polars as pl

from questree.tables.table import ROWS, Table


class TableWriter:
    """A Parquet file with the columns of a table. Its bytes depend on what is written at once."""

    def __init__(self, path: Path, table: Table, dictionary: bool = True):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path, self.table, self.dictionary = path, table, dictionary
        self._file: Any = None

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, rows: pl.DataFrame) -> None:
        if len(rows):
            found = self.table.frame(rows).to_arrow()
            self._begun(found.schema).write_table(found, row_group_size=ROWS)

    def close(self) -> None:
        """One to which nothing was written is a table without rows."""
        self._begun(self.table.empty().to_arrow().schema).close()

    def _begun(self, schema: Any) -> Any:
        from pyarrow.parquet import ParquetWriter  # slow to import, and reading needs none

        if self._file is None:
            how = {"compression": "zstd", "use_dictionary": self.dictionary}
            self._file = ParquetWriter(os.fspath(self.path), schema, **how)
        return self._file
