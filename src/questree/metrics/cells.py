"""A score is a cell: a name, the columns it is computed from, and how; evaluated on sums, resampled or not."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from questree.metrics.tallies import Floats, share

How = Literal[
    "ratio", "rest", "odds", "odds drop", "mean", "mean of defined", "difference", "score", "mean score", "correlation"
]
CONSTANT = 1e-20  # a variance below this is rounding
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


def _first(ratios: Sequence[Floats]) -> Floats:
    return ratios[0]


def _rest(ratios: Sequence[Floats]) -> Floats:
    return 1 - ratios[0]


def _odds(ratios: Sequence[Floats]) -> Floats:
    """Passed / failed; N/A when nothing failed."""
    return share(ratios[0], 1 - ratios[0])


def _odds_drop(ratios: Sequence[Floats]) -> Floats:
    """The share of the first part's odds that the second part lacks."""
    before, after = (_odds([one]) for one in ratios)
    return 1 - share(after, before)


def _mean(ratios: Sequence[Floats]) -> Floats:
    return np.asarray(np.mean(ratios, axis=0))  # one N/A makes the mean N/A


def _mean_of_defined(ratios: Sequence[Floats]) -> Floats:
    stacked = np.asarray(ratios)  # [part, ...]
    known = ~np.isnan(stacked)
    return share(np.where(known, stacked, 0.0).sum(axis=0), known.sum(axis=0))


def _difference(ratios: Sequence[Floats]) -> Floats:
    return ratios[1] - ratios[0]


def _score(ratios: Sequence[Floats]) -> Floats:
    """How much of the gap between parts 1 and 2 part 0 closes."""
    gap = ratios[2] - ratios[1]
    return share(np.sign(gap) * (ratios[0] - ratios[1]), np.abs(gap))


def _mean_score(ratios: Sequence[Floats]) -> Floats:
    """The mean, over threes of parts, of the scores that are defined."""
    return _mean_of_defined([_score(ratios[at : at + 3]) for at in range(0, len(ratios), 3)])


def _correlation(means: Sequence[Floats]) -> Floats:
    """Pearson from the means of x, y, xx, yy, xy; N/A when x or y is constant."""
    x, y, xx, yy, xy = means
    spread_x, spread_y = xx - x * x, yy - y * y
    varies = (spread_x > CONSTANT) & (spread_y > CONSTANT)
    return share(xy - x * y, np.sqrt(np.where(varies, spread_x * spread_y, 0.0)))


COMBINE: dict[str, Callable[[Sequence[Floats]], Floats]] = {
    "ratio": _first,
    "rest": _rest,
    "odds": _odds,
    "odds drop": _odds_drop,
    "mean": _mean,
    "mean of defined": _mean_of_defined,
    "difference": _difference,
    "score": _score,
    "mean score": _mean_score,
    "correlation": _correlation,
}
PARTS: dict[str, int] = {  # how many each takes; means take a multiple of it
    **dict.fromkeys(("ratio", "rest", "odds", "mean", "mean of defined"), 1),
    **dict.fromkeys(("odds drop", "difference"), 2),
    "score": 3,
    "mean score": 3,
    "correlation": 5,
}


def evaluate(cells: Sequence[Cell], passed: Floats, total: Floats) -> Floats:
    """[..., cell] from sums of shape [..., column]."""
    values = np.full((*total.shape[:-1], len(cells)), np.nan)
    for at, cell in enumerate(cells):
        if cell.parts:
            values[..., at] = COMBINE[cell.how]([ratio(passed, total, part) for part in cell.parts])
    return values


def counts(cells: Sequence[Cell], total: Floats) -> list[int | None]:
    """[cell] n: the rows a cell is made of, None where a mean of ratios has no single n."""
    columns = [
        [at for part in (cell.parts[:1] if cell.how == "correlation" else cell.parts) for at in part] for cell in cells
    ]
    return [int(total[at].sum()) if cell.counted else None for cell, at in zip(cells, columns, strict=True)]
