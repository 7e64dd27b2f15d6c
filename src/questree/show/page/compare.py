"""Two models compared as `questree compare` does: every cell with its interval, and questions only one gets right."""

from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from questree.metrics.catalogue import ALL, METRICS
from questree.metrics.cells import OVERALL, counts
from questree.metrics.comparison import ModelDifference, compare, ranked
from questree.metrics.scores import QUESTION_ACCURACY, Resampling, Scored
from questree.scoring.compared import Scoring, silent
from questree.scoring.dag_scores import run_dags
from questree.show.page.filters import Filters, address
from questree.show.views import View

EXACT = Scoring()
RESAMPLES = 1000
LEVEL = 0.05  # false discovery rate called a difference
BETTER = (QUESTION_ACCURACY, "accuracy", "CA", "IC")  # metrics of which more is better
Counted = dict[tuple[str, str, str], int | None]  # metric, by, group -> n
Examples = tuple[int, str]  # questions that only one of the models gets right: how many, and where they are listed
MAIN = {
    "type": (QUESTION_ACCURACY, "accuracy", "CA", "RWR", "Delta", "IC"),
    "composition": ("CA", "RWR", "Delta", "IC"),
    "rule": ("IC",),
}


@dataclass
class ComparedModels:
    """Scores are worked out when they are first asked for, and kept."""

    view: View
    how: Scoring = EXACT
    _scored: dict[str, Scored] = field(default_factory=dict)
    _found: dict[tuple[str, str], list[ModelDifference]] = field(default_factory=dict)
    _counted: dict[str, Counted] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def scored(self, model: str) -> Scored:
        if model not in self._scored:
            how = replace(self.how, missing="wrong")
            counted = run_dags(self.view.run, self.view.benchmark, [model], None, how, workers=1)
            ((_, self._scored[model], _),) = counted.scored([], silent)
        return self._scored[model]

    def counted(self, model: str) -> Counted:
        """What the cells of a model are counted over."""
        if model not in self._counted:
            own = self.scored(model)
            n = counts(own.cells, own.tallies.summed()[1])
            self._counted[model] = {cell.name: count for cell, count in zip(own.cells, n, strict=True)}
        return self._counted[model]

    def ready(self, a: str, b: str) -> bool:
        return (a, b) in self._found

    def differences(self, a: str, b: str) -> list[ModelDifference]:
        """The second model minus the first; the cells of the papers' main tables, and of metrics that plugins add."""
        with self._lock:
            if (a, b) not in self._found:
                rows = compare(self.scored(a), self.scored(b), Resampling(RESAMPLES))
                self._found[a, b] = ranked(row for row in rows if row.metric in shown_metrics().get(row.by, ()))
            return self._found[a, b]


def shown_metrics() -> dict[str, list[str]]:
    """By what -> the metrics of its table; those of plugins come last."""
    found = {by: list(metrics) for by, metrics in MAIN.items()}
    for name, metric in METRICS.items():
        found.setdefault(metric.by or ALL, []).append(name)
    return found


@dataclass(frozen=True)
class ComparedTable:
    by: str
    metrics: list[str]
    rows: dict[str, dict[str, ModelDifference]]  # group -> metric -> its cell
    examples: dict[str, tuple[Examples, Examples]]  # group -> only the first right, only the second; rules have none

    @classmethod
    def of(cls, filters: Filters, by: str, cells: list[ModelDifference], a: str, b: str) -> "ComparedTable":
        """Groups that no cell says anything about are left out."""
        groups = dict.fromkeys(row.group for row in cells if row.a is not None or row.b is not None)
        rows = {group: {row.metric: row for row in cells if row.group == group} for group in groups}
        metrics = [metric for metric in shown_metrics()[by] if any(metric in own for own in rows.values())]
        linked = [group for group in groups if by in ("type", "composition", ALL)]
        pairs = {group: (examples(filters, by, group, a, b), examples(filters, by, group, b, a)) for group in linked}
        return cls(by, metrics, rows, pairs)


def grids(comparing: ComparedModels, filters: Filters, a: str, b: str) -> list[ComparedTable]:
    found = comparing.differences(a, b)
    every = [ComparedTable.of(filters, by, [row for row in found if row.by == by], a, b) for by in shown_metrics()]
    return [one for one in every if one.by in MAIN or one.rows]


def examples(filters: Filters, by: str, group: str, right: str, wrong: str) -> Examples:
    """Where one is right and the other wrong."""
    wanted = {"model": right, "verdict": "right", "other": wrong, "other_verdict": "wrong"}
    wanted |= {} if group == OVERALL else {by: group}
    return len(filters.find(wanted).rows), address(filters.questions.view.home, wanted)


def points(found: list[ComparedTable]) -> list[dict[str, Any]]:
    """What is plotted: differences with intervals, and both values, in the order of the tables."""
    return [
        {
            "by": grid.by,
            "group": group,
            "metric": metric,
            "a": cell.a,
            "b": cell.b,
            "difference": cell.difference,
            "low": cell.low,
            "high": cell.high,
            "differs": cell.q is not None and cell.q <= LEVEL,
        }
        for grid in found
        for group, cells in grid.rows.items()
        for metric, cell in cells.items()
        if cell.difference is not None
    ]
