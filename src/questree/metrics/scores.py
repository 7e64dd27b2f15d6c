"""Scores as a flat table: one row per cell with its value, n and interval."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np

from questree.metrics.bootstrap import Resampling, resampled
from questree.metrics.cells import Cell, counts, evaluate
from questree.metrics.tallies import Floats, Tallies


class Score(msgspec.Struct, frozen=True):
    metric: str
    by: str
    group: str
    value: float | None  # a fraction; None is N/A
    n: int | None
    low: float | None
    high: float | None
    model: str


@dataclass(frozen=True)
class Scored:
    """What one model got: sufficient statistics per video, and the cells computed from them."""

    tallies: Tallies
    cells: Sequence[Cell]

    def values(self) -> Floats:
        """[cell]"""
        return evaluate(self.cells, *self.tallies.summed())

    def rows(self, model: str, resampling: Resampling | None = None) -> list[Score]:
        """With an interval for every cell that has a value, unless there is nothing to resample."""
        values, n = self.values(), counts(self.cells, self.tallies.summed()[1])
        low = high = np.full(len(self.cells), np.nan)
        if resampling is not None and len(self.tallies.total) > 1:
            low, high = interval(resampled(self.cells, self.tallies, resampling))
        return [
            Score(*cell.name, number(value), count, *bounds(value, at_least, at_most), model)
            for cell, value, count, at_least, at_most in zip(self.cells, values, n, low, high, strict=True)
        ]


def number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def bounds(value: float, low: float, high: float) -> tuple[float | None, float | None]:
    return (None, None) if np.isnan(value) else (number(low), number(high))


def interval(values: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """[cell] low, [cell] high of [resample, cell], over the resamples in which a cell is defined."""
    tail = (1 - level) / 2
    ordered = np.sort(values, axis=0)  # NaN last
    known = (~np.isnan(values)).sum(axis=0)
    return _quantile(ordered, known, tail), _quantile(ordered, known, 1 - tail)


def _quantile(ordered: Floats, known: np.ndarray[tuple[int], np.dtype[np.int64]], share: float) -> Floats:
    """[column] the quantile of the first `known` entries of each column, between neighbours linearly."""
    columns = np.arange(ordered.shape[1])
    place = np.maximum(known - 1, 0) * share
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    low, high = ordered[below, columns], ordered[above, columns]
    return np.where(known > 0, low + (high - low) * (place - below), np.nan)


def find(rows: Iterable[Score], metric: str, by: str, group: str) -> Score:
    return next(row for row in rows if (row.metric, row.by, row.group) == (metric, by, group))
