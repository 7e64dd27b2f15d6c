"""Two models compared as `questree compare` does: every cell with its interval, and questions only one gets right."""

from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any

from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference, compare
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Resampling, Scored
from questree.models.stored import said
from questree.show.page.filters import Filters, address
from questree.show.views import View
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.tables.predictions import Stored

RESAMPLES = 1000
METRICS = {
    "type": ("accuracy", "CA", "RWR", "Delta", "IC"),
    "composition": ("CA", "RWR", "Delta", "IC"),
    "rule": ("IC",),
}


@dataclass
class Comparing:
    """Scores are worked out when they are first asked for, and kept."""

    view: View
    _scored: dict[str, Scored] = field(default_factory=dict)
    _found: dict[tuple[str, str], list[ModelDifference]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def asked(self) -> RunHierarchies:
        return self.view.hierarchies()

    def scored(self, model: str) -> Scored:
        if model not in self._scored:
            predictions = said(self.asked, Stored.of(self.view.run, model))
            self._scored[model] = score_decomp(self.asked.hierarchies, predictions, "wrong")
        return self._scored[model]

    def ready(self, a: str, b: str) -> bool:
        return (a, b) in self._found

    def differences(self, a: str, b: str) -> list[ModelDifference]:
        """The second model minus the first; the cells of the papers' main tables."""
        with self._lock:
            if (a, b) not in self._found:
                rows = compare(self.scored(a), self.scored(b), Resampling(RESAMPLES))
                self._found[a, b] = [row for row in rows if row.metric in METRICS.get(row.by, ())]
            return self._found[a, b]


LEVEL = 0.05  # false discovery rate called a difference


@dataclass(frozen=True)
class Examples:
    """Questions that only one of the models gets right."""

    count: int
    address: str


@dataclass(frozen=True)
class ComparedRow:
    group: str
    cells: dict[str, ModelDifference]  # by metric
    only_a: Examples | None
    only_b: Examples | None


@dataclass(frozen=True)
class ComparedTable:
    by: str
    metrics: list[str]
    rows: list[ComparedRow]


def grids(comparing: Comparing, filters: Filters, a: str, b: str) -> list[ComparedTable]:
    found = comparing.differences(a, b)
    return [grid(filters, by, [row for row in found if row.by == by], a, b) for by in METRICS]


def grid(filters: Filters, by: str, cells: list[ModelDifference], a: str, b: str) -> ComparedTable:
    """Groups that no cell says anything about are left out."""
    groups = dict.fromkeys(row.group for row in cells if row.a is not None or row.b is not None)
    rows = [
        ComparedRow(
            group,
            {row.metric: row for row in cells if row.group == group},
            examples(filters, by, group, a, b),
            examples(filters, by, group, b, a),
        )
        for group in groups
    ]
    return ComparedTable(by, list(METRICS[by]), rows)


def examples(filters: Filters, by: str, group: str, right: str, wrong: str) -> Examples | None:
    """Where one is right and the other wrong; rules have no questions of their own."""
    wanted = {"model": right, "verdict": "right", "other": wrong, "other_verdict": "wrong"}
    if by == "rule":
        return None
    if group != OVERALL:
        wanted[by] = group
    found = filters.find(wanted)
    return Examples(len(found.rows), address(filters.questions.view.home, wanted)) if len(found.rows) else None


def points(found: list[ComparedTable]) -> list[dict[str, Any]]:
    """What is plotted: differences with intervals, in the order of the tables."""
    return [
        {
            "by": grid.by,
            "group": row.group,
            "metric": metric,
            "difference": cell.difference,
            "low": cell.low,
            "high": cell.high,
            "differs": cell.q is not None and cell.q <= LEVEL,
        }
        for grid in found
        for row in grid.rows
        for metric, cell in row.cells.items()
        if cell.difference is not None
    ]
