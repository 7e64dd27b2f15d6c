"""Metrics as values: a name, a formula and what a question counts; a score is a ratio of sums, with an interval.

The table has one row per question: `scope` (position of the video or the first image, what the bootstrap draws), `id`,
`answer`, `prediction` (null without one), `correct`, and what the benchmark says about a question (`type`, `parts`,
`template`, `steps` ...).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from questree.extensions import Registry
from questree.faults import BadInput
from questree.metrics.cells import OVERALL, PARTS, Cell, Floats, How, Tallies, joined
from questree.metrics.scores import Scored
from questree.tables.scored import ASKED

ALL = "all"
SHIPPED = (
    "accuracy",
    "CA",
    "RWR",
    "Delta",
    "IC",
    "precision",
    "recall",
    "coverage",
    "unparsed",
)  # names of our own scores
COLUMNS = dict.fromkeys(  # of the tables below, in whichever benchmark
    ("id", "answer", "prediction", "correct", "scope", "type", "parts", "dag", "template", "image", *ASKED.columns)
)
Counted = pl.Series | pl.Expr | Sequence[pl.Series | pl.Expr]


@dataclass(frozen=True)
class Metric:
    name: str
    formula: str
    count: Callable[[pl.DataFrame], Counted]  # -> [question] 1 passed, 0 failed, null not counted; one per part
    by: str = ""  # a column whose values are the rows of its table, above Overall
    how: How = "ratio"  # how the parts are put together
    needs: tuple[str, ...] = ()  # columns; without one of them the metric is left out

    def applies(self, table: pl.DataFrame) -> bool:
        return {*self.needs, *([self.by] if self.by else [])} <= {*table.columns}

    def parts(self, table: pl.DataFrame) -> list[Floats]:
        """[question] per part; NaN where it is not counted."""
        given = self.count(table)
        several: list[Any] = list(given) if isinstance(given, list | tuple) else [given]
        found = [table.select(each).to_series() if isinstance(each, pl.Expr) else each for each in several]
        for each in found:
            if not isinstance(each, pl.Series) or len(each) != len(table):
                got = f"{len(each)} rows" if isinstance(each, pl.Series) else type(each).__name__
                raise BadInput.at(METRICS.places[self.name], f"expected a Series of {len(table)} rows, got {got}")
            if not (each.dtype.is_numeric() or each.dtype in (pl.Boolean, pl.Null)):
                raise BadInput.at(METRICS.places[self.name], f"expected a Series of numbers, got one of {each.dtype}")
        wanted = PARTS[self.how]
        many = self.how.startswith("mean")
        if not found or (len(found) % wanted if many else len(found) != wanted):
            said = f"how {self.how!r}: expected {wanted}{' or a multiple of it' * many} Series, got {len(found)}"
            raise BadInput.at(METRICS.places[self.name], said)
        return [each.cast(pl.Float64).fill_null(np.nan).to_numpy() for each in found]


METRICS = Registry[Metric]("metric")


def with_metrics(scored: Scored, table: Callable[[], pl.DataFrame]) -> Scored:
    """The scores of a benchmark, then those of every metric of the registry that applies to its questions."""
    if not METRICS:
        return scored
    asked, scopes = table(), len(scored.tallies.total)
    parts, cells = [scored.tallies], list(scored.cells)
    for metric in METRICS.values():
        if metric.applies(asked):
            counted, found = tallied(metric, asked, scopes, sum(len(part.columns) for part in parts))
            parts.append(counted)
            cells += found
    return Scored(joined(parts), cells)


def tallied(metric: Metric, table: pl.DataFrame, scopes: int, before: int = 0) -> tuple[Tallies, list[Cell]]:
    """Sums per scope, a column for each group and part, and the cells over them, `before` columns on."""
    groups = _groups(metric, table)
    scope, parts = table["scope"].to_numpy().astype(np.int64), metric.parts(table)
    columns = [(metric.name, group, at) for group in groups for at in range(len(parts))]
    passed, total = np.zeros((scopes, len(columns))), np.zeros((scopes, len(columns)), np.int32)
    for number, (_, group, at) in enumerate(columns):
        rows = groups[group] & ~np.isnan(parts[at])
        passed[:, number] = np.bincount(scope[rows], parts[at][rows], scopes)
        total[:, number] = np.bincount(scope[rows], minlength=scopes)
    of = {group: tuple((before + at,) for at, column in enumerate(columns) if column[1] == group) for group in groups}
    single = len(parts) == 1
    cells = [Cell(metric.name, metric.by or ALL, group, of[group], metric.how, single) for group in groups]
    return Tallies(list(columns), passed, total), cells


def _groups(metric: Metric, table: pl.DataFrame) -> dict[str, np.ndarray[tuple[int], np.dtype[np.bool_]]]:
    """Group -> [question] whether it is in it; of a list a question is in every group it names."""
    every = {OVERALL: np.ones(len(table), bool)}
    if not metric.by:
        return every
    column = table[metric.by]
    several = isinstance(column.dtype, pl.List)
    values = (column.explode() if several else column).drop_nulls().unique().sort().to_list()

    def inside(value: object) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        found = column.list.contains(value) if several else column == value  # type: ignore[arg-type]
        return np.asarray(found.fill_null(False).to_numpy(), bool)

    return {str(value): inside(value) for value in values if value != ""} | every
