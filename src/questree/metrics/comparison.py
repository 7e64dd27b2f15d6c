"""Paired comparison: difference = value of B - value of A on the same resamples of videos, p, and q over the table.

p = (1 + resamples with |d* - d| >= |d|) / (1 + resamples), d the difference, d* that of a resample (Efron and
Tibshirani 1993, section 16.4). q: Benjamini and Hochberg 1995, over all cells of the table that have a p.
"""

import msgspec
import numpy as np

from questree.metrics.bootstrap import Resampling, resampled
from questree.metrics.scores import Scored, interval, number
from questree.metrics.tallies import Floats


class ModelDifference(msgspec.Struct, frozen=True):
    metric: str
    by: str
    group: str
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    q: float | None  # p after Benjamini-Hochberg over the table


def compare(a: Scored, b: Scored, resampling: Resampling) -> list[ModelDifference]:
    """Cells both models have, in the order of the first."""
    second = {cell.name: at for at, cell in enumerate(b.cells)}
    pairs = [(at, second[cell.name]) for at, cell in enumerate(a.cells) if cell.name in second]
    left, right = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    value_a, value_b = a.values()[left], b.values()[right]
    found = value_b - value_a
    cells_a, cells_b = [a.cells[at] for at in left], [b.cells[at] for at in right]
    draws = resampled(cells_b, b.tallies, resampling) - resampled(cells_a, a.tallies, resampling)
    low, high = interval(draws)
    p = p_values(found, draws)
    columns = zip(value_a, value_b, found, low, high, p, benjamini_hochberg(p), strict=True)
    return [
        ModelDifference(*cell.name, *(number(value) for value in _hidden(row)))
        for cell, row in zip(cells_a, columns, strict=True)
    ]


def _hidden(row: tuple[float, ...]) -> tuple[float, ...]:
    """Without a difference there is no interval of one."""
    a, b, found, *rest = row
    return (a, b, found, *(rest if not np.isnan(found) else [np.nan] * len(rest)))


def p_values(found: Floats, draws: Floats) -> Floats:
    """[cell] from the differences [cell] and their resamples [resample, cell]; NaN where either is undefined."""
    known = ~np.isnan(draws)
    far = (np.abs(np.where(known, draws, 0) - found) >= np.abs(found)) & known
    p = (1 + far.sum(axis=0)) / (1 + known.sum(axis=0))
    return np.where(np.isnan(found) | ~known.any(axis=0), np.nan, p)


def benjamini_hochberg(p: Floats) -> Floats:
    """[cell] the smallest false discovery rate at which a cell is called different; NaN stays NaN."""
    q = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    raised = p[order] * len(order) / np.arange(1, len(order) + 1)
    q[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return q
