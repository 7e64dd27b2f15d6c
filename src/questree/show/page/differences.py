"""The page that compares two models: every cell with its interval, and the questions only one of them gets right."""

from dataclasses import dataclass
from typing import Any

from questree.metrics.comparison import Difference
from questree.metrics.dags.names import OVERALL
from questree.show.page.browse import address
from questree.show.page.comparing import METRICS
from questree.show.page.site import Site

LEVEL = 0.05  # false discovery rate called a difference


@dataclass(frozen=True)
class Examples:
    """Questions that only one of the models gets right."""

    count: int
    address: str


@dataclass(frozen=True)
class Row:
    group: str
    cells: dict[str, Difference]  # by metric
    only_a: Examples | None
    only_b: Examples | None


@dataclass(frozen=True)
class Grid:
    by: str
    metrics: list[str]
    rows: list[Row]


def grids(site: Site, a: str, b: str) -> list[Grid]:
    found = site.comparing.differences(a, b)
    return [grid(site, by, [row for row in found if row.by == by], a, b) for by in METRICS]


def grid(site: Site, by: str, cells: list[Difference], a: str, b: str) -> Grid:
    """Groups that no cell says anything about are left out."""
    groups = dict.fromkeys(row.group for row in cells if row.a is not None or row.b is not None)
    rows = [
        Row(
            group,
            {row.metric: row for row in cells if row.group == group},
            examples(site, by, group, a, b),
            examples(site, by, group, b, a),
        )
        for group in groups
    ]
    return Grid(by, list(METRICS[by]), rows)


def examples(site: Site, by: str, group: str, right: str, wrong: str) -> Examples | None:
    """Where one is right and the other wrong; rules have no questions of their own."""
    wanted = {"model": right, "verdict": "right", "other": wrong, "other_verdict": "wrong"}
    if by == "rule":
        return None
    if group != OVERALL:
        wanted[by] = group
    found = site.filters.find(wanted)
    return Examples(len(found.rows), address("/", wanted)) if len(found.rows) else None


def points(found: list[Grid]) -> list[dict[str, Any]]:
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
