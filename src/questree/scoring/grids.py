"""Scores laid out as a table: groups down, metrics across, intervals in brackets."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from questree.metrics.scores import Score, titled
from questree.scoring.footnotes import Footnotes


def plain(value: float | None, digits: int = 3) -> str:
    """A number that is no share, such as a correlation."""
    return "N/A" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.2f}"


def shown(row: Score | None, notes: Footnotes | None = None) -> str:
    """A value with its interval; with footnotes, marked where it says little, and why where there is none."""
    if row is None:
        return ""
    if row.value is None and notes:
        return notes.absent(row)
    if row.low is None or row.high is None:
        return percent(row.value)
    return f"{percent(row.value)} [{percent(row.low)}, {percent(row.high)}]" + (notes.mark(row) if notes else "")


Name = TypeVar("Name")


def once(names: Iterable[Name]) -> list[Name]:
    return list(dict.fromkeys(names))


Line = dict[str, str | int | None]


def grid(
    rows: Sequence[Score], by: str, metrics: Sequence[str], corner: str, notes: Footnotes | None = None
) -> list[Line]:
    """Groups down, of several models a line each, metrics across with their intervals, and n of the first metric."""
    here = [row for row in rows if row.by == by and row.metric in metrics]
    models = once(row.model for row in here)
    at = {(row.metric, row.group, row.model): row for row in here}
    some = {(row.metric, row.group) for row in here}  # that any model has
    numbers = {(row.group, row.model, row.n) for row in here if row.n is not None}
    alike = len(numbers) == len({name[:2] for name in numbers})  # all metrics of a line count the same

    def line(group: str, model: str) -> Line:
        cells: Line = {corner: group}
        if len(models) > 1:
            cells["model"] = model
        for metric in metrics:
            absent = Score(metric, by, group, None, 0, None, None, model) if (metric, group) in some else None
            cells[titled(metric, by)] = shown(at.get((metric, group, model), absent), notes)
        first = at.get((metrics[0], group, model))
        if numbers:
            cells["n" if alike else f"n of {titled(metrics[0], by)}"] = first.n if first else None
        return cells

    return [line(group, model) for group in once(row.group for row in here) for model in models]
