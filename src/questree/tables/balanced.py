"""Which questions of a run are in its balanced selection; RUN/balanced holds one or more such tables."""

from pathlib import Path

import polars as pl

from questree.faults import BadInput
from questree.tables.table import Table

BALANCED = Table("balanced", {"video": pl.UInt32, "number": pl.UInt32})  # as in questions


def read_balanced(folder: Path) -> pl.DataFrame:
    """Every selected question once, in order; the files may have more columns."""
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise BadInput.at(folder, "no selection here: expected Parquet files with the columns video, number")
    found = [Table(file.stem, BALANCED.columns).read(folder) for file in files]
    return pl.concat(found).unique().sort("video", "number")
