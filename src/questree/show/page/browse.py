"""The page that finds questions: filters, how models do on what is found, and the questions a page at a time."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.metrics.cells import share as part_of
from questree.metrics.cells import tally
from questree.metrics.scores import Resampling, interval, resampled_sums
from questree.show.page.filters import FilteredRows
from questree.show.page.questions import RIGHT, WRONG
from questree.show.page.site import Collection
from questree.show.templates import ShownAnswer
from questree.show.views import Ints, Mask

PAGE = 50
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Pages:
    """Where we are in what was found; pages count from 1."""

    found: int
    page: int
    size: int = PAGE

    @classmethod
    def of(cls, found: int, wanted: str) -> "Pages":
        """The page that is asked for, or the nearest there is."""
        number = int(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 10 else 1
        return cls(found, min(max(number, 1), max(-(-found // PAGE), 1)))

    @property
    def last(self) -> int:
        return max(-(-self.found // self.size), 1)

    @property
    def begin(self) -> int:
        return (self.page - 1) * self.size

    @property
    def end(self) -> int:
        return min(self.begin + self.size, self.found)


def shown_models(own: Collection, wanted: Mapping[str, str]) -> list[str]:
    """The models a list speaks of: those filtered by, or else all."""
    named = [wanted[name] for name in ("model", "other") if wanted.get(name) in own.models]
    return list(dict.fromkeys(named)) or own.models


def lines(own: Collection, rows: Rows, models: list[str]) -> Iterator[dict[str, Any]]:
    """Questions as they are listed: what is asked, the view's numbers, and what models say."""
    asked, verdict = own.questions, {RIGHT: True, WRONG: False}
    judged = {name: asked.models[name].judgement for name in models}
    for at in rows.tolist():
        said = [ShownAnswer(name, asked.word(j.said[at]), verdict.get(int(j.right[at]))) for name, j in judged.items()]
        yield {
            "asked": asked.question(at),
            "numbers": [int(asked.columns[name][at]) for name in asked.view.numbers],
            "said": said,
            "broken": [name for name, j in judged.items() if j.broken[at]],  # who contradicts himself in its DAG
        }


def summary(own: Collection, found: FilteredRows, models: list[str]) -> list[dict[str, Any]]:
    """How each model does on what was found."""
    return found.keep(("summary", *models), lambda: [_told(own, found.rows, name) for name in models])


def _told(own: Collection, rows: Rows, name: str) -> dict[str, Any]:
    judgement = own.questions.models[name].judgement
    right, below, broken = judgement.right[rows], judgement.wrong_below[rows], judgement.broken[rows]
    is_right = right == RIGHT
    return {
        "model": name,
        "right": share(is_right.sum(), (right >= WRONG).sum()),  # of the questions it answers
        "lucky": share((is_right & below).sum(), is_right.sum()),  # right ones that rest on a wrong sub-question
        "contradicting": share((broken > 0).sum(), len(rows)),
    }


def share(part: Any, whole: Any) -> float | None:
    return float(part) / float(whole) if whole else None


MOST_DRAWN = 4096  # scopes; more are drawn together with others, which is as good
PLOTTED = Resampling(400)


def by_number(own: Collection, found: FilteredRows, models: list[str]) -> list[dict[str, Any]]:
    """How many of the questions have how many steps, or images, and how often each model is right on them."""
    return found.keep(("by number", *models), lambda: _by_number(own, found.rows, models))


def _by_number(own: Collection, among: Rows, models: list[str]) -> list[dict[str, Any]]:
    number = own.questions.columns[next(iter(own.view.numbers))][among]
    if not models:
        return [{"number": at, "n": int(n)} for at, n in enumerate(np.bincount(number).tolist()) if n]
    scope = own.view.drawn(own.questions.columns["key"][among]) % MOST_DRAWN
    rows: list[dict[str, Any]] = []
    for name in models:
        right = own.questions.models[name].judgement.right[among]
        known = np.flatnonzero(right >= WRONG)
        if len(known):
            rows += [{"model": name, **row} for row in _intervals(number[known], scope[known], right[known] == RIGHT)]
    return rows


def _intervals(number: Ints, scope: Ints, right: Mask) -> Iterator[dict[str, Any]]:
    """Per number how often something is right, with the interval of a bootstrap over scopes."""
    names = [(at,) for at in range(int(number.max()) + 1)]
    different, own = np.unique(scope, return_inverse=True)
    counted = tally(own, number.astype(np.int64), right, len(different), names)
    draws = np.concatenate([part_of(*sums) for sums in resampled_sums(counted, PLOTTED)])
    sums = counted.summed()
    low, high = interval(part_of(*sums), draws)
    for at, (passed, total) in enumerate(zip(*sums, strict=True)):
        shown = {"number": counted.columns[at][0], "n": int(total), "right": passed / total}
        drawn = len(different) > 1 and not np.isnan(low[at])
        yield shown | ({"low": float(low[at]), "high": float(high[at])} if drawn else {})
