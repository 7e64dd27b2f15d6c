"""The imported questions of a run as a source of records: what was read is written again."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.formats.csvs import runs
from questree.formats.import_table import files, read, split_of
from questree.tables.run import Run


@dataclass(frozen=True)
class Imported:
    run: Path
    sets: tuple[str, ...]

    @classmethod
    def of(cls, run: Run, sets: tuple[str, ...]) -> "Imported":
        return cls(run.folder, tuple(name for name in sets if files(run.imported, name)))

    @property
    def pieces(self) -> list[str]:
        return [file for name in self.sets for file in files(self.folder, name)]

    @property
    def folder(self) -> Path:
        return Run(self.run).imported

    def count(self, piece: str) -> pl.DataFrame:
        """Rows of CSV files, of the first set; records that could not be read are not in them."""
        first = piece.startswith(f"{self.sets[0]}/")
        table = read(self.folder, piece).filter(pl.col("question").is_not_null() & first)
        split = pl.lit(split_of(piece)).alias("split")
        return runs(table.select(split, pl.col("video_id").alias("video"), "novel_comp", "more_steps"))

    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]:
        name = piece.partition("/")[0]
        yield name, read(self.folder, piece).with_columns(split=pl.lit(split_of(piece)))
