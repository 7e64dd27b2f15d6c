"""A finding is a number with its interval beside a bound: it holds, does not hold, or cannot be decided here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np

from questree.metrics.answers import values as fitted
from questree.metrics.catalogue import REST
from questree.metrics.cells import OVERALL, Floats, behind
from questree.metrics.comparison import FEWEST, only
from questree.metrics.scores import Resampling, Scored, interval, number, resampled, resampled_sums

Verdict = Literal["holds", "does not hold", "undecided"]


class Finding(msgspec.Struct, frozen=True):
    name: str
    claim: str  # what the paper found, as a sentence about this number
    statistic: str  # what is computed
    value: float | None
    low: float | None
    high: float | None
    side: Literal["above", "below"]  # of the bound, where it holds
    bound: float
    verdict: Verdict
    published: float | None = None  # the same number in the paper
    source: str = ""  # table or figure of the paper
    digits: int | None = None  # of a number that is no share

    @property
    def claimed(self) -> str:
        return f"{self.side} {self.bound * (100 if self.digits is None else 1):g}"


@dataclass(frozen=True)
class Statistic:
    """A number, and what it is on resampled videos or images."""

    said: str
    value: float
    draws: Floats  # [resample]
    n: int  # items behind it, of several numbers the fewest

    def __sub__(self, other: "Statistic") -> "Statistic":
        said, n = f"{self.said} - {other.said}", min(self.n, other.n)
        return Statistic(said, self.value - other.value, self.draws - other.draws, n)


def mean(said: str, some: Sequence[Statistic]) -> Statistic:
    """Of none there is none."""
    draws = np.array([each.draws for each in some]).reshape(len(some), -1)
    value, n = float(np.mean([each.value for each in some] or [np.nan])), sum(each.n for each in some)
    return Statistic(said, value, draws.mean(axis=0), n)


def score(scored: Scored, metric: str, by: str, group: str, resampling: Resampling, model: str) -> Statistic:
    """A cell of a model's scores; models scored on the same questions are drawn alike."""
    said = f"{metric if group == OVERALL else f'{metric} on {group}'} of {model}"
    name = (metric, by, group)
    if not any(cell.name == name and any(cell.parts) for cell in scored.cells):  # no question is like that
        return Statistic(said, np.nan, np.full(resampling.resamples, np.nan), 0)
    own = only(scored, name)
    (n,) = behind(own.cells, own.tallies.summed()[1])
    return Statistic(said, float(own.values()[0]), resampled(own.cells, own.tallies, resampling)[:, 0], n)


def slope(scored: Scored, resampling: Resampling, model: str) -> Statistic:
    """Of the line fitted to accuracy against steps, as in AGQA's Figure 5: points per step."""
    columns = scored.tallies.columns
    at = [i for i, name in enumerate(columns) if name[:2] == ("accuracy", "steps") and name[2] != REST]
    x = np.array([float(str(columns[i][2])) for i in at])
    passed, total = (sums[at] for sums in scored.tallies.summed())
    draws = [fitted(x, p[:, at], t[:, at])[:, 0] for p, t in resampled_sums(scored.tallies, resampling)]
    value, n = float(fitted(x, passed, total)[0]), int(total.sum())
    return Statistic(f"accuracy per step of {model}", value, np.concatenate(draws), n)


def finding(
    name: str,
    claim: str,
    found: Statistic,
    side: Literal["above", "below"],
    bound: float = 0.0,
    published: float | None = None,
    source: str = "",
    digits: int | None = None,
) -> Finding:
    """Holds if the whole interval lies on that side of the bound, does not hold if all of it lies on the other.

    Fewer than 10 items decide nothing.
    """
    low, high = (number(float(each[0])) for each in interval(np.array([found.value]), found.draws[:, None]))
    value = number(found.value)
    judged = verdict(low, high, side, bound) if found.n >= FEWEST else "undecided"
    return Finding(name, claim, found.said, value, low, high, side, bound, judged, published, source, digits)


def verdict(low: float | None, high: float | None, side: Literal["above", "below"], bound: float) -> Verdict:
    if low is None or high is None:
        return "undecided"
    above, below = low > bound, high < bound
    if not above and not below:
        return "undecided"
    return "holds" if above == (side == "above") else "does not hold"


def counted(findings: Sequence[Finding]) -> dict[Verdict, int]:
    found: dict[Verdict, int] = {"holds": 0, "does not hold": 0, "undecided": 0}
    for each in findings:
        found[each.verdict] += 1
    return found
