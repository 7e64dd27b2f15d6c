"""A score is a cell: sums of passed and total per video and column, the columns it is computed from, and how."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Column = tuple[Hashable, ...]  # what is counted: ("CA", "type", "Choose", 0)


@dataclass(frozen=True)
class Tallies:
    columns: list[Column]
    passed: NDArray[Any]  # [video, column] whole numbers, or sums where the mean of numbers is wanted
    total: NDArray[np.int32]  # [video, column]

    def summed(self) -> tuple[Floats, Floats]:
        """[column] passed, [column] total over all videos."""
        return self.passed.sum(axis=0, dtype=np.float64), self.total.sum(axis=0, dtype=np.float64)


def share(above: NDArray[Any], below: NDArray[Any], least: float = 0.0) -> Floats:
    """[...] above / below; NaN where below is not more than `least`."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > least))


def tally(video: Ints, column: Ints, passed: NDArray[np.bool_], videos: int, names: Sequence[Column]) -> Tallies:
    """Rows (video, column, passed) counted per video and column; columns without a row are left out."""
    used = np.flatnonzero(np.bincount(column, minlength=len(names)))
    place = np.zeros(len(names), np.int64)
    place[used] = np.arange(len(used))
    cell = video * len(used) + place[column]
    shape = (videos, len(used))
    total = np.bincount(cell, minlength=videos * len(used)).astype(np.int32).reshape(shape)
    right = np.bincount(cell[passed], minlength=videos * len(used)).astype(np.int32).reshape(shape)
    return Tallies([names[at] for at in used.tolist()], right, total)


def mean_tally(video: Ints, value: Floats, videos: int, name: Column) -> Tallies:
    """One column whose ratio is the mean of `value` (NaN rows left out)."""
    here = ~np.isnan(value)
    total = np.bincount(video[here], minlength=videos).astype(np.int32)[:, None]
    return Tallies([name], np.bincount(video[here], value[here], minlength=videos)[:, None], total)


def joined(parts: Sequence[Tallies]) -> Tallies:
    """The columns of all parts side by side; the videos are the same."""
    columns = [column for part in parts for column in part.columns]
    return Tallies(columns, np.hstack([p.passed for p in parts]), np.hstack([p.total for p in parts]))


def stacked(parts: Sequence[Tallies], places: Sequence[Ints] | None = None) -> Tallies:
    """The videos of all parts, one after the other; columns that a part lacks count nothing there. `places`: [part]
    [video] where a video stands instead; what several parts count of one is added up."""
    columns = list(dict.fromkeys(column for part in parts for column in part.columns))
    number, where = (
        {column: at for at, column in enumerate(columns)},
        _one_after_another(parts) if places is None else places,
    )
    kind = np.result_type(np.int32, *(part.passed for part in parts))
    videos = 1 + max((int(at.max(initial=-1)) for at in where), default=-1)
    passed, total = np.zeros((videos, len(columns)), kind), np.zeros((videos, len(columns)), np.int32)
    for part, at in zip(parts, where, strict=True):
        own = np.ix_(at, np.array([number[column] for column in part.columns], np.int64))
        passed[own] += part.passed
        total[own] += part.total
    return Tallies(columns, passed, total)


def _one_after_another(parts: Sequence[Tallies]) -> list[Ints]:
    ends = np.cumsum([0, *(len(part.total) for part in parts)])
    return [np.arange(*span) for span in pairwise(ends)]


How = Literal[
    "ratio", "rest", "odds", "odds drop", "mean", "mean of defined", "difference", "score", "mean score", "correlation"
]
OVERALL = "Overall"  # the group of all questions
CONSTANT = 1e-14  # a variance below this is rounding
Part = tuple[int, ...]  # columns pooled into one ratio: sum of passed / sum of total


@dataclass(frozen=True)
class Cell:
    metric: str
    by: str
    group: str
    parts: tuple[Part, ...]
    how: How = "ratio"
    counted: bool = True  # whether n, the pooled total, is said

    @property
    def name(self) -> tuple[str, str, str]:
        return self.metric, self.by, self.group


def ratio(passed: Floats, total: Floats, part: Part) -> Floats:
    """[...] pooled passed / total; NaN where nothing was counted."""
    columns = list(part)
    return share(passed[..., columns].sum(axis=-1), total[..., columns].sum(axis=-1))


def odds(one: Floats) -> Floats:
    """Passed / failed; N/A when nothing failed."""
    return share(one, 1 - one)


def mean_of_defined(ratios: Sequence[Floats]) -> Floats:
    stacked = np.asarray(ratios)  # [part, ...]
    known = ~np.isnan(stacked)
    return share(np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0))


def gap_closed(own: Floats, low: Floats, high: Floats) -> Floats:
    """How much of the gap between the other two the first closes."""
    gap = high - low
    return share(np.sign(gap) * (own - low), np.abs(gap))


def correlation(x: Floats, y: Floats, xx: Floats, yy: Floats, xy: Floats) -> Floats:
    """Pearson from means; N/A when x or y is constant."""
    spread_x, spread_y = xx - x * x, yy - y * y
    varies = (spread_x > CONSTANT) & (spread_y > CONSTANT)
    return share(xy - x * y, np.sqrt(np.where(varies, spread_x * spread_y, 0.0)))


Combine = Callable[[Sequence[Floats]], Floats]  # the ratios of a cell's parts -> its value
COMBINE: dict[str, tuple[int, Combine]] = {  # how many parts each takes; means take a multiple of it
    "ratio": (1, lambda ratios: ratios[0]),
    "rest": (1, lambda ratios: 1 - ratios[0]),
    "odds": (1, lambda ratios: odds(ratios[0])),
    "odds drop": (2, lambda ratios: 1 - share(odds(ratios[1]), odds(ratios[0]))),  # what the second's odds lack
    "mean": (1, lambda ratios: np.asarray(np.mean(ratios, axis=0))),  # one N/A makes the mean N/A
    "mean of defined": (1, mean_of_defined),
    "difference": (2, lambda ratios: ratios[1] - ratios[0]),
    "score": (3, lambda ratios: gap_closed(*ratios)),
    "mean score": (
        3,
        lambda ratios: mean_of_defined([gap_closed(*ratios[at : at + 3]) for at in range(0, len(ratios), 3)]),
    ),
    "correlation": (5, lambda ratios: correlation(*ratios)),
}


def evaluate(cells: Sequence[Cell], passed: Floats, total: Floats, held: Mapping[Part, Floats] | None = None) -> Floats:
    """[..., cell] from sums of shape [..., column]; `held`: in means, ratios of parts of which nothing was counted."""
    values = np.full((*total.shape[:-1], len(cells)), np.nan)
    known = ratios(passed, total, all_parts(cells))
    for at, cell in enumerate(cells):
        if cell.parts:
            _, combine = COMBINE[cell.how]
            own = [known[part] for part in cell.parts]
            if held is not None and cell.how.startswith("mean"):
                own = [np.where(np.isnan(one), held[part], one) for one, part in zip(own, cell.parts, strict=True)]
            values[..., at] = combine(own)
    return values


def all_parts(cells: Sequence[Cell]) -> list[Part]:
    return list(dict.fromkeys(part for cell in cells for part in cell.parts))


def ratios(passed: Floats, total: Floats, parts: Sequence[Part]) -> dict[Part, Floats]:
    """The ratio of every part: sums of whole numbers in one go, which is exact in whatever order they are added."""
    whole = (passed == np.rint(passed)).all(axis=tuple(range(passed.ndim - 1))).tolist()
    quick = [part for part in parts if part and (len(part) == 1 or all(whole[at] for at in part))]
    found = {part: ratio(passed, total, part) for part in set(parts).difference(quick)}
    if quick:
        sizes = np.cumsum([0, *map(len, quick)])
        columns = np.concatenate([np.array(part, np.int64) for part in quick])
        above, below = (np.add.reduceat(np.take(own, columns, axis=-1), sizes[:-1], axis=-1) for own in (passed, total))
        found |= zip(quick, np.moveaxis(share(above, below), -1, 0), strict=True)
    return found


def counts(cells: Sequence[Cell], total: Floats) -> list[int | None]:
    """[cell] n: the rows a cell is made of, None where a mean of ratios has no single n."""
    columns = [
        [at for part in (cell.parts[:1] if cell.how == "correlation" else cell.parts) for at in part] for cell in cells
    ]
    return [int(total[at].sum()) if cell.counted else None for cell, at in zip(cells, columns, strict=True)]


def behind(cells: Sequence[Cell], total: Floats) -> list[int]:
    """[cell] the items a value rests on: those of all parts of a mean, the fewest of a part of what compares parts."""
    found = list[int]()
    for cell in cells:
        each = [int(total[list(part)].sum()) for part in cell.parts] or [0]
        means = cell.how.startswith("mean") and cell.how != "mean score"
        found.append(sum(each) if means else min(each))
    return found
