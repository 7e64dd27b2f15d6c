"""What the papers report, number by number, as score rows beside ours."""

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from questree.metrics.scores import Score

HERE = Path(__file__).parent / "published"
PAPER = "(paper)"


def of_paper(model: str) -> str:
    """What a model of a paper is called beside ours."""
    return f"{model} {PAPER}"


@cache
def published(paper: str) -> tuple[Score, ...]:
    """Every number of the paper's tables; values that it leaves out are None. Nobody published an n or an interval."""
    with (HERE / f"{paper}.csv").open(encoding="utf-8", newline="") as file:
        return tuple(
            Score(
                row["metric"], row["by"], row["group"], _share(row["value"]), None, None, None, of_paper(row["model"])
            )
            for row in csv.DictReader(file)
        )


def _share(per_cent: str) -> float | None:
    return round(float(per_cent) / 100, 6) if per_cent else None


@cache
def numbers(paper: str) -> Mapping[tuple[str, str, str, str], float]:
    """(metric, by, group, model as the paper calls it) -> its value."""
    return {
        (row.metric, row.by, row.group, row.model.removesuffix(f" {PAPER}")): row.value
        for row in published(paper)
        if row.value is not None
    }
