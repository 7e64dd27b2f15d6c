"""Models against each other, runs with different seeds together, and how many videos a comparison needs."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

import msgspec
import numpy as np

from questree.metrics.cells import Tallies, behind
from questree.metrics.paired import benjamini_hochberg, contributions, p_values
from questree.metrics.scores import Resampling, Score, Scored, interval, number, resampled

FEWEST = 10  # items on either side of a difference that is tested


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
    q: float | None = None  # p after Benjamini-Hochberg over the cells that are shown together
    n_a: int = 0  # items behind the value; of a difference of two shares those of the smaller one
    n_b: int = 0
    weak: bool = False  # not tested: too few items, or no resample changes the difference


def compare(a: Scored, b: Scored, resampling: Resampling, fewest: int = FEWEST) -> list[ModelDifference]:
    """Paired comparison: difference = value of B - value of A, its interval on the same resamples of videos, and p.

    p is that of `paired.p_values`. Differences of fewer than `fewest` items on either side have none, and no
    difference that all resamples share. q is a matter of what is shown: `ranked`.

    Cells both models have, in the order of the first.
    """
    second = {cell.name: at for at, cell in enumerate(b.cells)}
    pairs = [(at, second[cell.name]) for at, cell in enumerate(a.cells) if cell.name in second]
    left, right = (list(side) for side in zip(*pairs, strict=True)) if pairs else ([], [])
    value_a, value_b = a.values()[left], b.values()[right]
    found = value_b - value_a
    cells_a, cells_b = [a.cells[at] for at in left], [b.cells[at] for at in right]
    n_a, n_b = behind(cells_a, a.tallies.summed()[1]), behind(cells_b, b.tallies.summed()[1])
    draws = resampled(cells_b, b.tallies, resampling) - resampled(cells_a, a.tallies, resampling)
    low, high = interval(found, draws)
    p = np.full(len(found), np.nan)
    enough = np.flatnonzero(~np.isnan(found) & (np.minimum(n_a, n_b) >= fewest) & (low != high))
    each = [contributions((cells_a[at], a.tallies), (cells_b[at], b.tallies)) for at in enough.tolist()]
    if each:
        null, free = (np.stack(side, axis=1) for side in zip(*each, strict=True))
        p[enough] = p_values(null, free, resampling)
    low, high = (np.where(np.isnan(found), np.nan, end) for end in (low, high))  # without a difference there is none
    columns = np.stack([value_a, value_b, found, low, high, p], axis=1)
    weak = ~np.isnan(found) & np.isnan(p)
    return [
        ModelDifference(*cell.name, *map(number, row), *([None, *each]))
        for cell, row, *each in zip(cells_a, columns, n_a, n_b, weak.tolist(), strict=True)
    ]


def ranked(rows: Iterable[ModelDifference]) -> list[ModelDifference]:
    """With q: Benjamini and Hochberg 1995, over those of these rows that have a p."""
    each = list(rows)
    q = benjamini_hochberg(np.array([row.p for row in each], float))
    return [msgspec.structs.replace(row, q=number(one)) for row, one in zip(each, q, strict=True)]


def only(scored: Scored, name: tuple[str, str, str]) -> Scored:
    """One cell with the columns it is made of, which is all that comparing it takes."""
    cell = next(cell for cell in scored.cells if cell.name == name)
    used = sorted({at for part in cell.parts for at in part})
    place = {at: number for number, at in enumerate(used)}
    parts = tuple(tuple(place[at] for at in part) for part in cell.parts)
    own = scored.tallies
    kept = Tallies([own.columns[at] for at in used], own.passed[:, used], own.total[:, used])
    return Scored(kept, [replace(cell, parts=parts)])


MEDIAN = "median of"  # what a model is called that is several runs


def over_runs(runs: Sequence[Sequence[Score]], model: str = "") -> list[Score]:
    """Over training runs with different seeds: the median, and the maximum deviation from it.

    FPVG, Table 3. A cell that is N/A in any run is N/A.

    Cells of all runs, with low and high the median minus and plus the maximum deviation.
    """
    named = [{(row.metric, row.by, row.group): row for row in rows} for rows in runs]
    found, called = list[Score](), ", ".join([*filter(None, [model]), f"{MEDIAN} {len(runs)} runs"])
    for name, row in named[0].items():
        values = [rows[name].value for rows in named if name in rows]
        known = [value for value in values if value is not None]
        if len(known) < len(runs):
            found.append(Score(*name, None, row.n, None, None, called))
            continue
        middle = median(known)
        far = max(abs(value - middle) for value in known)
        found.append(Score(*name, middle, row.n, middle - far, middle + far, called))
    return found


NORMAL = 1.959963984540054  # 97.5 % quantile


class Need(msgspec.Struct, frozen=True):
    metric: str
    by: str
    group: str
    value: float | None
    half_width: float | None  # with the videos there are
    videos: int | None  # needed for the wanted half-width
    model: str = ""  # by whose answers


def needs(scored: Scored, wanted: float, resampling: Resampling, model: str = "") -> list[Need]:
    """Videos needed for a half-width h of the 95 % interval: videos * (1.96 * s / h)^2, s the bootstrap standard error.

    The standard error of a mean over clusters falls with the square root of their number (Kish 1965, section 5).

    For every cell; None where it has no value or no spread to go by.
    """
    values, draws = scored.values(), resampled(scored.cells, scored.tallies, resampling)
    known = (~np.isnan(draws)).sum(axis=0)
    enough = (known > 1) & ~np.isnan(values)
    half = np.full(len(values), np.nan)
    half[enough] = NORMAL * np.nanstd(draws[:, enough], axis=0, ddof=1)
    here = len(scored.tallies.total)
    return [
        Need(*cell.name, number(value), number(width), _videos(here, width, wanted), model)
        for cell, value, width in zip(scored.cells, values, half, strict=True)
    ]


def most_needed(rows: Iterable[Need]) -> list[Need]:
    """Of every cell the need of the model that needs most."""
    found: dict[tuple[str, str, str], Need] = {}
    for row in rows:
        name = (row.metric, row.by, row.group)
        if name not in found or (row.videos or 0) > (found[name].videos or 0):
            found[name] = row
    return list(found.values())


def _videos(here: int, width: float, wanted: float) -> int | None:
    """No spread at all says nothing about how many are needed."""
    return None if np.isnan(width) or width == 0 else max(2, math.ceil(here * (width / wanted) ** 2))
