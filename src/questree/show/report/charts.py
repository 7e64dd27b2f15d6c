"""Plots of scores: accuracy against steps, consistency against accuracy, CA, RWR and Delta of every composition."""

import math
from collections.abc import Sequence

import numpy as np

from questree.metrics.cells import Floats
from questree.metrics.scores import Score
from questree.show.report.axes import (
    BOT,
    DASHES,
    GRID,
    Axis,
    Point,
    area,
    around,
    colour,
    frame,
    legend,
    line,
    mark,
    path,
    per_cent,
    short,
    whisker,
)
from questree.show.report.document import Number, ScoreRows
from questree.stages.audit import svg

BINS = 20  # of accuracy and of consistency
SIDE = 240.0  # pixels of a square panel
PANEL, ROW = 330.0, 30.0  # width of a panel; height of a composition
SHADES = ("#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")


def said(row: Score) -> str:
    """A score as it is told where somebody points at it."""
    number = Number.of(row)
    room = f" [{number.room}]" if number.room else ""
    n = "" if row.n is None else f", n {row.n:,}"
    return f"{row.model}, {row.group}: {row.metric} {number.text}{room}{n}"


def known(rows: ScoreRows, metric: str, by: str, model: str) -> list[Score]:
    """The rows of a metric that have a value, Overall left out."""
    own = (rows.find(metric, by, group, model) for group in rows.groups(by, [metric]) if group != "Overall")
    return [row for row in own if row is not None and row.value is not None]


def steps_plot(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> str:
    """Figure 5 of AGQA: dots as large as their n, the weighted fit with its 80 % band, bots as dashed lines."""
    dots = {model: known(rows, "accuracy", "steps", model) for model in [*models, *bots]}
    every = [row for own in dots.values() for row in own]
    if not every:
        return ""
    steps = [float(row.group) for row in every]
    values = [value for row in every for value in (row.value,) if value is not None]
    x = Axis(min(steps) - 0.6, max(steps) + 0.6, 70, 800)
    y = Axis(*around(values, 0.2), 370, 40)
    shapes = frame(x, y, "steps", "accuracy, %", per_cent, whole_x=True)
    for at, bot in enumerate(bots):
        shapes.append(path([_place(row, x, y) for row in dots[bot]], BOT, 1.3, DASHES[at % len(DASHES)]))
    most = max(row.n or 1 for row in every)
    for at, model in enumerate(models):
        shapes += _fitted(known(rows, "fit, 80 % band", "steps", model), at, x, y)
        shapes += [
            mark(at, _place(row, x, y), said(row), 3 + 9 * math.sqrt((row.n or 0) / most), 0.85) for row in dots[model]
        ]
    return svg.drawing(830, 420, [*shapes, *legend(models, (80, 16), bots)])


def _place(row: Score, x: Axis, y: Axis) -> Point:
    return x(float(row.group)), y(row.value or 0.0)


def _fitted(fit: Sequence[Score], at: int, x: Axis, y: Axis) -> list[str]:
    if len(fit) < 2:
        return []
    points = [_place(row, x, y) for row in fit]
    above = [(x(float(row.group)), y(row.high)) for row in fit if row.high is not None]
    below = [(x(float(row.group)), y(row.low)) for row in fit if row.low is not None]
    band = [area([*above, *reversed(below)], colour(at), 0.15)] if above else []
    return [*band, path(points, colour(at), 2)]


def models_plot(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> str:
    """Overall accuracy and internal consistency of every model, with intervals; bots are grey."""
    found = []
    for model in [*models, *bots]:
        pair = rows.find("accuracy", "type", "Overall", model), rows.find("IC", "composition", "Overall", model)
        if pair[0] and pair[1] and pair[0].value is not None and pair[1].value is not None:
            found.append((model, pair[0], pair[1]))
    if not found:
        return ""
    x, y = Axis(0, 1, 62, 62 + SIDE), Axis(0, 1, 30 + SIDE, 30)
    shapes = frame(x, y, "accuracy, %", "internal consistency, %", per_cent)
    for model, accuracy, consistency in found:
        bot = model in bots
        tint = BOT if bot else colour(list(models).index(model))
        place = x(accuracy.value or 0), y(consistency.value or 0)
        if accuracy.low is not None and accuracy.high is not None:
            shapes.append(whisker((x(accuracy.low), place[1]), (x(accuracy.high), place[1]), tint))
        if consistency.low is not None and consistency.high is not None:
            shapes.append(whisker((place[0], y(consistency.low)), (place[0], y(consistency.high)), tint))
        told = f"{said(accuracy)}; {said(consistency)}"
        dot = f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="4" fill="{BOT}"/>'
        shapes.append(dot if bot else mark(list(models).index(model), place, told, 5.5))
        left, above = place[0] > 62 + 0.6 * SIDE, found.index((model, accuracy, consistency)) % 2
        aside = (-8, "end") if left else (8, "start")
        y_text = place[1] + (-9 if above else 10)
        shapes.append(svg.words(place[0] + aside[0], y_text, short(model), 11, aside[1], fill=tint))
    title = svg.words(x(0.5), 14, "models", 12, "middle")
    return svg.drawing(x.end + 10, y.begin + 42, [*shapes, title])


def dags_plot(model: str, accuracy: Floats, consistency: Floats) -> str:
    """Figure 3 of AGQA-Decomp: how many DAGs have which accuracy and consistency; darker is more."""
    here = ~np.isnan(accuracy) & ~np.isnan(consistency)
    counts, _, _ = np.histogram2d(accuracy[here], consistency[here], BINS, ((0, 1), (0, 1)))
    x, y = Axis(0, 1, 62, 62 + SIDE), Axis(0, 1, 30 + SIDE, 30)
    shapes = frame(x, y, "accuracy of a DAG, %", "its consistency, %", per_cent)
    most = max(counts.max(), 2)
    for (a, c), count in np.ndenumerate(counts):
        if count:
            shade = SHADES[min(int(math.log(count) / math.log(most) * len(SHADES)), len(SHADES) - 1)]
            corner = x(a / BINS), y((c + 1) / BINS)
            told = f"{int(count):,} DAGs, accuracy from {100 * a // BINS} %, consistency from {100 * c // BINS} %"
            shapes.append(svg.box(*corner, SIDE / BINS, SIDE / BINS, shade, told))
    title = svg.words(x(0.5), 14, f"{short(model)}: {int(here.sum()):,} DAGs", 12, "middle")
    return svg.drawing(x.end + 10, y.begin + 42, [*shapes, title])


def composition_plot(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> str:
    """CA, RWR and Delta of every composition side by side; whiskers are intervals, ticks are bots."""
    groups = [g for g in rows.groups("composition", ["CA", "RWR"]) if _any(rows, g, models)]
    if not groups:
        return ""
    left, top = 120.0, 62.0
    bottom = top + ROW * len(groups)
    shapes = legend(models, (left + 6, 16), bots)
    for at, group in enumerate(groups):
        y = top + ROW * (at + 0.5)
        shapes.append(svg.words(left - 10, y, group, 12, "end"))
        shapes.append(line((left, top + ROW * at), (left + 3 * PANEL, top + ROW * at), GRID))
    for number, metric in enumerate(("CA", "RWR", "Delta")):
        x = _axis(rows, metric, groups, models, left + number * PANEL + 14)
        shapes.append(svg.words((x.begin + x.end) / 2, top - 22, f"{metric}, %", 12, "middle"))
        for value in x.ticks(5):
            strong = metric == "Delta" and abs(value) < 1e-9
            shapes.append(line((x(value), top), (x(value), bottom), "#888888" if strong else GRID))
            shapes.append(svg.words(x(value), bottom + 12, per_cent(value), 11, "middle"))
        for at, group in enumerate(groups):
            shapes += _row(rows, metric, group, models, bots, x, top + ROW * (at + 0.5))
    return svg.drawing(left + 3 * PANEL + 10, bottom + 26, shapes)


def _any(rows: ScoreRows, group: str, models: Sequence[str]) -> bool:
    found = (rows.find(metric, "composition", group, model) for metric in ("CA", "RWR") for model in models)
    return any(row is not None and row.value is not None for row in found)


def _axis(rows: ScoreRows, metric: str, groups: Sequence[str], models: Sequence[str], begin: float) -> Axis:
    if metric != "Delta":
        return Axis(0, 1, begin, begin + PANEL - 44)
    found = [rows.find(metric, "composition", group, model) for group in groups for model in models]
    values = [v for row in found if row is not None for v in (row.value, row.low, row.high) if v is not None]
    return Axis(*around([0.0, *values], 0.2, (-1.0, 1.0)), begin, begin + PANEL - 44)


def _row(
    rows: ScoreRows, metric: str, group: str, models: Sequence[str], bots: Sequence[str], x: Axis, y: float
) -> list[str]:
    shapes = []
    for at, bot in enumerate(bots):
        row = rows.find(metric, "composition", group, bot)
        if row is not None and row.value is not None:
            dash = DASHES[at % len(DASHES)]
            shapes.append(line((x(row.value), y - ROW / 2 + 2), (x(row.value), y + ROW / 2 - 2), BOT, 1.5, dash))
    for at, model in enumerate(models):
        row = rows.find(metric, "composition", group, model)
        if row is None or row.value is None:
            continue
        own = y + (at - (len(models) - 1) / 2) * min(9.0, (ROW - 8) / max(len(models) - 1, 1))
        if row.low is not None and row.high is not None:
            shapes.append(whisker((x(row.low), own), (x(row.high), own), colour(at)))
        shapes.append(mark(at, (x(row.value), own), said(row)))
    return shapes
