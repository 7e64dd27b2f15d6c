"""Splits of some questions, proved as those of a run."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from questree.stages.split.declared import Split
from questree.stages.split.engine import Proof, SplitTables, proofs_of
from questree.stages.split.rows import QuestionRows, Truth


def proved(splits: list[Split], rows: QuestionRows, side: Mapping[str, Truth], place: Path) -> list[Proof]:
    tables = SplitTables(place)
    tables.write_parts("0", splits, rows, side, pl.DataFrame())
    return proofs_of(splits, tables)
