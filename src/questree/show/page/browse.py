"""The page that finds questions: filters, how models do on what is found, and the questions a page at a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.show.dag import Piece
from questree.show.page.filters import Found
from questree.show.page.models import RIGHT, WRONG
from questree.show.page.questions import ALL_TYPES
from questree.show.page.shown import Said
from questree.show.page.site import Site, word_of
from questree.show.page.wording import pieces

PAGE = 50
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Line:
    """A question in the list."""

    id: str
    pieces: list[Piece]
    answer: str
    template: str
    type: str
    steps: int
    said: list[Said]
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


def shown_models(site: Site, wanted: Mapping[str, str]) -> list[str]:
    """The models a list speaks of: those filtered by, or else all."""
    named = [wanted[name] for name in ("model", "other") if wanted.get(name) in site.models]
    return list(dict.fromkeys(named)) or site.models


def lines(site: Site, rows: Rows, models: list[str]) -> list[Line]:
    return [_line(site, int(row), models) for row in rows]


def _line(site: Site, at: int, models: list[str]) -> Line:
    asked = site.asked
    question = asked.question(at)
    verdict = {RIGHT: True, WRONG: False}
    judged = {name: asked.models[name].judgement for name in models}
    return Line(
        id=question.id,
        pieces=pieces(question),
        answer=question.answer,
        template=TEMPLATES[asked.columns["template"][at]].name,
        type=ALL_TYPES[asked.columns["type"][at]] if asked.decomposed else "",
        steps=int(asked.columns["steps"][at]),
        said=[Said(name, word_of(asked, int(j.said[at])), verdict.get(int(j.right[at]))) for name, j in judged.items()],
        broken=[name for name, j in judged.items() if j.broken[at]],
    )


@dataclass(frozen=True)
class Told:
    """How one model does on what was found; shares of the questions it answers."""

    model: str
    answered: int
    right: float | None
    lucky: float | None  # right ones that rest on a wrong sub-question
    contradicting: float | None


def summary(site: Site, found: Found, models: list[str]) -> list[Told]:
    key = ("summary", *models)
    if key not in found.kept:
        found.kept[key] = [_told(site, found.rows, name) for name in models]
    kept: list[Told] = found.kept[key]
    return kept


def _told(site: Site, rows: Rows, name: str) -> Told:
    judgement = site.asked.models[name].judgement
    right, below, broken = judgement.right[rows], judgement.wrong_below[rows], judgement.broken[rows]
    is_right = right == RIGHT
    answered = int((right >= WRONG).sum())
    return Told(
        name,
        answered,
        share(is_right.sum(), answered),
        share((is_right & below).sum(), is_right.sum()),
        share((broken > 0).sum(), len(rows)),
    )


def share(part: Any, whole: Any) -> float | None:
    return float(part) / float(whole) if whole else None


def by_steps(site: Site, found: Found, models: list[str]) -> list[dict[str, Any]]:
    """How many of the questions have how many steps, and how often each model is right on them."""
    key = ("steps", *models)
    if key not in found.kept:
        found.kept[key] = _by_steps(site, found.rows, models)
    kept: list[dict[str, Any]] = found.kept[key]
    return kept


def _by_steps(site: Site, among: Rows, models: list[str]) -> list[dict[str, Any]]:
    steps = site.asked.columns["steps"][among]
    counts = np.bincount(steps)
    rows: list[dict[str, Any]] = []
    for name in models:
        right = site.asked.models[name].judgement.right[among]
        answered = np.bincount(steps[right >= WRONG], minlength=len(counts))
        passed = np.bincount(steps[right == RIGHT], minlength=len(counts))
        here = np.flatnonzero(answered).tolist()
        rows += [
            {"steps": at, "model": name, "n": int(answered[at]), "right": passed[at] / answered[at]} for at in here
        ]
    return rows or [{"steps": at, "n": int(n)} for at, n in enumerate(counts.tolist()) if n]
