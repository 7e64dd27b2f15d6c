"""The page that finds questions: filters, how models do on what is found, and the questions a page at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.show.page.filters import FilteredRows
from questree.show.page.questions import RIGHT, WRONG
from questree.show.page.shown import ShownAnswer
from questree.show.page.site import Collection
from questree.show.views import Posed

PAGE = 50
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class ListedQuestion:
    asked: Posed
    numbers: list[int]  # as the view's
    said: list[ShownAnswer]
    broken: list[str]  # models that contradict themselves in its DAG


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


def lines(own: Collection, rows: Rows, models: list[str]) -> list[ListedQuestion]:
    return [_line(own, int(row), models) for row in rows]


def _line(own: Collection, at: int, models: list[str]) -> ListedQuestion:
    asked, verdict = own.questions, {RIGHT: True, WRONG: False}
    judged = {name: asked.models[name].judgement for name in models}
    return ListedQuestion(
        asked.question(at),
        [int(asked.columns[name][at]) for name in asked.view.numbers],
        [ShownAnswer(name, asked.word(int(j.said[at])), verdict.get(int(j.right[at]))) for name, j in judged.items()],
        [name for name, j in judged.items() if j.broken[at]],
    )


@dataclass(frozen=True)
class ModelSummary:
    """How one model does on what was found; shares of the questions it answers."""

    model: str
    answered: int
    right: float | None
    lucky: float | None  # right ones that rest on a wrong sub-question
    contradicting: float | None


def summary(own: Collection, found: FilteredRows, models: list[str]) -> list[ModelSummary]:
    key = ("summary", *models)
    if key not in found.kept:
        found.kept[key] = [_told(own, found.rows, name) for name in models]
    kept: list[ModelSummary] = found.kept[key]
    return kept


def _told(own: Collection, rows: Rows, name: str) -> ModelSummary:
    judgement = own.questions.models[name].judgement
    right, below, broken = judgement.right[rows], judgement.wrong_below[rows], judgement.broken[rows]
    is_right = right == RIGHT
    answered = int((right >= WRONG).sum())
    return ModelSummary(
        name,
        answered,
        share(is_right.sum(), answered),
        share((is_right & below).sum(), is_right.sum()),
        share((broken > 0).sum(), len(rows)),
    )


def share(part: Any, whole: Any) -> float | None:
    return float(part) / float(whole) if whole else None


def by_number(own: Collection, found: FilteredRows, models: list[str]) -> list[dict[str, Any]]:
    """How many of the questions have how many steps, or images, and how often each model is right on them."""
    key = ("by number", *models)
    if key not in found.kept:
        found.kept[key] = _by_number(own, found.rows, models)
    kept: list[dict[str, Any]] = found.kept[key]
    return kept


def _by_number(own: Collection, among: Rows, models: list[str]) -> list[dict[str, Any]]:
    number = own.questions.columns[next(iter(own.view.numbers))][among]
    counts = np.bincount(number)
    rows: list[dict[str, Any]] = []
    for name in models:
        right = own.questions.models[name].judgement.right[among]
        answered = np.bincount(number[right >= WRONG], minlength=len(counts))
        passed = np.bincount(number[right == RIGHT], minlength=len(counts))
        here = np.flatnonzero(answered).tolist()
        rows += [
            {"number": at, "model": name, "n": int(answered[at]), "right": passed[at] / answered[at]} for at in here
        ]
    return rows or [{"number": at, "n": int(n)} for at, n in enumerate(counts.tolist()) if n]
