"""Plots of counts: a histogram of whole numbers, a bar per name."""

from collections.abc import Mapping

import polars as pl

from questree.show.report.axes import GRID, Axis, colour, line
from questree.stages.audit import svg


def histogram(numbers: pl.Series, unit: str) -> str:
    """How many questions have which of these whole numbers."""
    found = dict(numbers.value_counts().rows())
    if not found:
        return svg.drawing(830, 40, [])
    low, high, total = min(found), max(found), sum(found.values())
    x = Axis(low - 1, high + 1, 60, 810)
    y = Axis(0, max(found.values()) / total * 1.05, 250, 15)
    shapes = []
    for value in y.ticks(5):
        shapes.append(line((x.begin, y(value)), (x.end, y(value)), GRID))
        shapes.append(svg.words(54, y(value), f"{100 * value:g} %", 11, "end"))
    wide = (x.end - x.begin) / (high - low + 2) * 0.84
    for at in range(low, high + 1):
        share = found.get(at, 0) / total
        told = f"{at} {unit}: {found.get(at, 0):,} questions, {100 * share:.1f} %"
        shapes.append(svg.box(x(at) - wide / 2, y(share), wide, y.begin - y(share), colour(0), told))
        if high - low < 30 or at % 5 == 0:
            shapes.append(svg.words(x(at), y.begin + 12, str(at), 11, "middle"))
    return svg.drawing(830, 285, [*shapes, svg.words(435, 275, unit, 12, "middle")])


def bars(numbers: Mapping[str, int]) -> str:
    """A bar per name, with its number."""
    x = Axis(0, max(numbers.values(), default=1), 190, 720)
    shapes = []
    for at, (name, n) in enumerate(numbers.items()):
        y = 4 + 21 * at
        shapes.append(svg.words(182, y + 8, name, 12, "end"))
        shapes.append(svg.box(190, y, x(n) - 190, 16, colour(0), f"{name}: {n:,}"))
        shapes.append(svg.words(x(n) + 6, y + 8, f"{n:,}", 11))
    return svg.drawing(830, 8 + 21 * len(numbers), shapes)
