"""Plots: what a run asks, accuracy against steps, consistency against accuracy, CA, RWR and Delta per composition."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from questree import svg
from questree.metrics.cells import Ints
from questree.metrics.comparison import ModelDifference
from questree.metrics.dags import BINS
from questree.metrics.scores import QUESTION_ACCURACY, Score, titled
from questree.show.report.document import Number, ScoreRows
from questree.svg import PAGE, Point, line

# colour and mark of the first, second, ... model: colours that people with any colour vision tell apart (Okabe, Ito)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
SQUARE = ((-0.88, -0.88), (0.88, -0.88), (0.88, 0.88), (-0.88, 0.88))
DIAMOND = ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0))
TRIANGLE = ((0, -1.2), (1.1, 0.8), (-1.1, 0.8))
MARKS: tuple[tuple[Point, ...], ...] = ((), SQUARE, DIAMOND, TRIANGLE)  # corners; none: a circle
BOT, GRID, ZERO = "#767676", "#e3e3e3", "#888888"
DASHES = ("6 3", "2 2", "8 2 2 2")  # of the first, second, ... bot
SHADES = ("#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c", "#08306b")
LONGEST = 22  # letters of a model's name
SIDE = 240.0  # pixels of a square panel
PANEL, ROW = 330.0, 30.0  # width of a panel; height of a composition


@dataclass(frozen=True)
class Axis:
    """Values from low to high on pixels from begin to end."""

    low: float
    high: float
    begin: float
    end: float

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.begin + min(max(share, -0.02), 1.02) * (self.end - self.begin)

    def ticks(self, most: int = 6) -> list[float]:
        """Round numbers inside, at most so many."""
        rough = (self.high - self.low) / most
        ten = 10.0 ** math.floor(math.log10(rough))
        step = next(step * ten for step in (1, 2, 5, 10) if step * ten >= rough * (1 - 1e-9))
        first = math.ceil(self.low / step - 1e-9)
        return [step * at for at in range(first, math.floor(self.high / step + 1e-9) + 1)]


def around(values: Iterable[float], least: float = 0.1, limits: Point = (0.0, 1.0)) -> Point:
    """Low and high of an axis that shows all values with some air, within the limits."""
    known = list(values) or list(limits)
    low, high = min(known), max(known)
    air = max(0.06 * (high - low), (least - (high - low)) / 2, 0.01)
    return max(low - air, limits[0]), min(high + air, limits[1])


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def dash(at: int) -> str:
    return DASHES[at % len(DASHES)]


def short(name: str, longest: int = LONGEST) -> str:
    """A name as far as there is room."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def per_cent(value: float) -> str:
    return f"{100 * value:.0f}"


def path(points: Iterable[Point], stroke: str, width: float, dash: str | None = None) -> str:
    look = {"fill": "none", "stroke": stroke, "stroke_linejoin": "round", "stroke_dasharray": dash}
    return svg.element("polyline", points=svg.joined(points), stroke_width=width, **look)


def mark(at: int, place: Point, told: str, size: float = 4.5, opacity: float = 1.0) -> str:
    """The mark of model number `at`."""
    corners, (x, y) = MARKS[at % len(MARKS)], place
    shape: dict[str, float | str] = {
        "points": svg.joined((x + right * size, y + down * size) for right, down in corners)
    }
    shape = shape if corners else {"cx": x, "cy": y, "r": size}
    look = {"fill": colour(at), "stroke": "white"}
    name = "polygon" if corners else "circle"
    return svg.element(name, svg.title(told), **shape, **look, fill_opacity=opacity, stroke_width=0.8)


def whisker(a: Point, b: Point, stroke: str) -> str:
    """An interval with small ends."""
    flat = abs(a[1] - b[1]) < abs(a[0] - b[0])
    ends = [((x, y - 2.5), (x, y + 2.5)) if flat else ((x - 2.5, y), (x + 2.5, y)) for x, y in (a, b)]
    return "".join(line(*each, stroke, 1.2) for each in ((a, b), *ends))


def frame(
    x: Axis, y: Axis, x_name: str, y_name: str, whole_x: bool = False, told: Callable[[float], str] = per_cent
) -> list[str]:
    """Grid lines with numbers, `told` as texts on the left, and what the axes are of."""
    found = []
    for value in y.ticks():
        found.append(line((x.begin, y(value)), (x.end, y(value)), GRID))
        found.append(svg.words(x.begin - 7, y(value), told(value), 11, "end"))
    for value in x.ticks(10 if whole_x else 6):
        if whole_x and value != round(value):
            continue
        found.append(line((x(value), y.begin), (x(value), y.end), GRID))
        found.append(svg.words(x(value), y.begin + 13, f"{value:g}" if whole_x else per_cent(value), 11, "middle"))
    found.append(svg.words((x.begin + x.end) / 2, y.begin + 32, x_name, 12, "middle"))
    found.append(svg.words(x.begin - 44, (y.begin + y.end) / 2, y_name, 12, "middle", -90))
    return found


def square(x_name: str, y_name: str, title: str, shapes: Callable[[Axis, Axis], Iterable[str]]) -> str:
    """A panel of two shares."""
    x, y = Axis(0, 1, 62, 62 + SIDE), Axis(0, 1, 30 + SIDE, 30)
    above = svg.words(x(0.5), 14, title, 12, "middle")
    return svg.drawing(x.end + 10, y.begin + 42, [*frame(x, y, x_name, y_name), *shapes(x, y), above])


def legend(names: Sequence[str], place: Point, bots: Sequence[str] = (), wide: float = PAGE) -> tuple[list[str], float]:
    """Models with their marks, bots with a dashed line, side by side while there is room; and where they end below."""
    found, (left, y) = [], place
    x = left
    for at, (name, bot) in enumerate(
        [*((short(name), False) for name in names), *((short(name), True) for name in bots)]
    ):
        room = (40 if bot else 28) + 7 * len(name)
        if x > left and x + room > wide:
            x, y = left, y + 18
        if bot:
            found += [line((x - 6, y), (x + 14, y), BOT, 1.5, dash(at - len(names))), svg.words(x + 19, y, name, 12)]
        else:
            found += [mark(at, (x, y), name), svg.words(x + 9, y, name, 12)]
        x += room
    return found, y


def histogram(found: Mapping[int, int], unit: str, wide: float = PAGE) -> str:
    """How many questions have which whole number."""
    if not found:
        return svg.drawing(wide, 40, [])
    low, high, total = min(found), max(found), sum(found.values())
    x = Axis(low - 1, high + 1, 60, wide - 20)
    y = Axis(0, max(found.values()) / total * 1.05, 250, 15)
    shapes = []
    for value in y.ticks(5):
        shapes.append(line((x.begin, y(value)), (x.end, y(value)), GRID))
        shapes.append(svg.words(54, y(value), f"{100 * value:g} %", 11, "end"))
    own = (x.end - x.begin) / (high - low + 2) * 0.84
    step = 1 if own > 18 else 5
    for at in range(low, high + 1):
        share = found.get(at, 0) / total
        told = f"{at} {unit}: {found.get(at, 0):,} questions, {100 * share:.1f} %"
        shapes.append(svg.box(x(at) - own / 2, y(share), own, y.begin - y(share), colour(0), told))
        if at % step == 0:
            shapes.append(svg.words(x(at), y.begin + 12, str(at), 11, "middle"))
    return svg.drawing(wide, 285, [*shapes, svg.words((x.begin + x.end) / 2, 275, unit, 12, "middle")])


def bars(numbers: Mapping[str, int], wide: float = PAGE) -> str:
    """A bar per name, with its number."""
    x = Axis(0, max(numbers.values(), default=1), 190, wide - (110 if wide >= PAGE else 75))
    shapes = []
    for at, (name, n) in enumerate(numbers.items()):
        y = 4 + 21 * at
        shapes.append(svg.words(182, y + 8, name, 12, "end"))
        shapes.append(svg.box(190, y, x(n) - 190, 16, colour(0), f"{name}: {n:,}"))
        shapes.append(svg.words(x(n) + 6, y + 8, f"{n:,}", 11))
    return svg.drawing(wide, 8 + 21 * len(numbers), shapes)


def said(row: Score) -> str:
    """A score as it is told where somebody points at it."""
    number = Number.of(row)
    room = f" [{number.room}]" if number.room else ""
    n = "" if row.n is None else f", n {row.n:,}"
    return f"{row.model}, {row.group}: {titled(row.metric, row.by)} {number.text}{room}{n}"


def known(rows: ScoreRows, metric: str, by: str, model: str) -> dict[str, Score]:
    """Group -> the row of a metric that has a value."""
    own = (rows.find(metric, by, group, model) for group in rows.groups(by, [metric]))
    return {row.group: row for row in own if row is not None and row.value is not None}


def steps_plot(
    rows: ScoreRows, models: Sequence[str], bots: Sequence[str], wide: float = PAGE, by: str = "steps"
) -> str:
    """Figure 5 of AGQA: dots as large as their n, the weighted fit with its 80 % band, bots as dashed lines.

    Of other numbers than steps there is no fit: a line joins the dots.
    """

    def by_steps(metric: str, model: str) -> list[Score]:
        return [row for group, row in known(rows, metric, by, model).items() if group != "Overall"]

    dots = {model: by_steps("accuracy", model) for model in [*models, *bots]}
    every = [row for own in dots.values() for row in own]
    if not every:
        return ""
    steps = [float(row.group) for row in every]
    named, top = legend(models, (80, 16), bots, wide)
    x = Axis(min(steps) - 0.6, max(steps) + 0.6, 70, wide - 30)
    y = Axis(*around([row.value or 0.0 for row in every], 0.2), top + 354, top + 24)

    def place(row: Score, value: float | None) -> Point:
        return x(float(row.group)), y(value or 0.0)

    shapes = frame(x, y, by, "accuracy, %", whole_x=True)
    shapes += [path([place(row, row.value) for row in dots[bot]], BOT, 1.3, dash(at)) for at, bot in enumerate(bots)]
    most = max(row.n or 1 for row in every)
    for at, model in enumerate(models):
        fit = by_steps("fit, 80 % band", model) if by == "steps" else dots[model]
        above = [place(row, row.high) for row in fit if row.high is not None]
        below = [place(row, row.low) for row in reversed(fit) if row.low is not None]
        if len(fit) > 1 and above and by == "steps":
            band = svg.joined([*above, *below])
            shapes.append(svg.element("polygon", points=band, fill=colour(at), fill_opacity=0.15))
        if len(fit) > 1:
            shapes.append(path([place(row, row.value) for row in fit], colour(at), 2))
        sizes = [3 + 9 * math.sqrt((row.n or 0) / most) for row in dots[model]]
        shapes += [
            mark(at, place(row, row.value), said(row), size, 0.85) for row, size in zip(dots[model], sizes, strict=True)
        ]
    return svg.drawing(wide, y.begin + 50, [*shapes, *named])


def curve_plot(rows: Sequence[Score], models: Sequence[str], wide: float = PAGE) -> str:
    """Figure 13 of COVR: a line per split, numbers of examples from left to right, the farther apart the more they
    differ in order of magnitude; whiskers are intervals."""
    counts = [model.partition(" ")[0] for model in models]
    known = [math.log10(int(count) + 1) for count in counts if count.isdecimal()]
    places = {m: known[at] if at < len(known) else max(known, default=0.0) + 0.5 for at, m in enumerate(models)}
    splits = list(dict.fromkeys(row.group for row in rows))
    here = [row for row in rows if row.value is not None]
    named, top = legend(splits, (80, 16), wide=wide)
    x = Axis(min(places.values()) - 0.2, max(places.values()) + 0.2, 70, wide - 30)
    seen = [v for row in here for v in (row.value, row.low, row.high) if v is not None]
    y = Axis(*around(seen, 0.2), top + 354, top + 24)
    shapes = [line((x.begin, y(value)), (x.end, y(value)), GRID) for value in y.ticks()]
    shapes += [svg.words(x.begin - 7, y(value), per_cent(value), 11, "end") for value in y.ticks()]
    shapes += [svg.words(x(places[m]), y.begin + 13, c, 11, "middle") for m, c in zip(models, counts, strict=True)]
    shapes.append(
        svg.words((x.begin + x.end) / 2, y.begin + 32, "examples of what is held out, in train", 12, "middle")
    )
    shapes.append(svg.words(26, (y.begin + y.end) / 2, "accuracy, %", 12, "middle", -90))
    for at, split in enumerate(splits):
        own = [row for row in here if row.group == split]
        shapes.append(path([(x(places[row.model]), y(row.value or 0.0)) for row in own], colour(at), 2))
        for row in own:
            right = x(places[row.model])
            if row.low is not None and row.high is not None:
                shapes.append(whisker((right, y(row.low)), (right, y(row.high)), colour(at)))
            shapes.append(mark(at, (right, y(row.value or 0.0)), said(row)))
    return svg.drawing(wide, y.begin + 50, [*shapes, *named])


def models_plot(rows: ScoreRows, models: Sequence[str], bots: Sequence[str], _: float = PAGE) -> str:
    """Overall accuracy and internal consistency of every model, with intervals; bots are grey."""
    found: list[tuple[Score, Score]] = []
    for model in [*models, *bots]:
        accuracy = rows.find(QUESTION_ACCURACY, "type", "Overall", model)
        consistency = rows.find("IC", "composition", "Overall", model)
        if accuracy and consistency and accuracy.value is not None and consistency.value is not None:
            found.append((accuracy, consistency))

    def shapes(x: Axis, y: Axis) -> Iterable[str]:
        for number, (accuracy, consistency) in enumerate(found):
            model = accuracy.model
            at = None if model in bots else list(models).index(model)
            tint = BOT if at is None else colour(at)
            right, down = x(accuracy.value or 0), y(consistency.value or 0)
            if accuracy.low is not None and accuracy.high is not None:
                yield whisker((x(accuracy.low), down), (x(accuracy.high), down), tint)
            if consistency.low is not None and consistency.high is not None:
                yield whisker((right, y(consistency.low)), (right, y(consistency.high)), tint)
            told = f"{said(accuracy)}; {said(consistency)}"
            dot = svg.element("circle", cx=right, cy=down, r=4, fill=BOT)
            yield dot if at is None else mark(at, (right, down), told, 5.5)
            aside, anchor = (-8, "end") if right > 62 + 0.6 * SIDE else (8, "start")
            yield svg.words(right + aside, down + (-9 if number % 2 else 10), short(model), 11, anchor, fill=tint)

    return square(f"{QUESTION_ACCURACY}, %", "internal consistency, %", "models", shapes) if found else ""


def dags_plot(model: str, counts: Ints, __: float = PAGE) -> str:
    """Figure 3 of AGQA-Decomp: how many DAGs have which accuracy and consistency; darker is more."""
    most = max(counts.max(), 2)

    def shapes(x: Axis, y: Axis) -> Iterable[str]:
        for a, c in np.argwhere(counts).tolist():
            count, wide = int(counts[a, c]), SIDE / BINS
            shade = SHADES[min(int(math.log(count) / math.log(most) * len(SHADES)), len(SHADES) - 1)]
            told = f"{count:,} DAGs, accuracy from {100 * a // BINS} %, consistency from {100 * c // BINS} %"
            yield svg.box(x(a / BINS), y((c + 1) / BINS), wide, wide, shade, told)

    title = f"{short(model)}: {int(counts.sum()):,} DAGs"
    return square("accuracy of a DAG, %", "its consistency, %", title, shapes)


def composition_plot(rows: ScoreRows, models: Sequence[str], bots: Sequence[str], wide: float = PAGE) -> str:
    """CA, RWR and Delta of every composition, side by side or below each other; whiskers are intervals, ticks bots."""
    metrics = ("CA", "RWR", "Delta")
    of = {
        (metric, model): known(rows, metric, "composition", model) for metric in metrics for model in [*models, *bots]
    }
    asked = {group for metric in metrics[:2] for model in models for group in of[metric, model]}
    groups = [group for group in rows.groups("composition", metrics[:2]) if group in asked]
    if not groups:
        return ""
    left, beside = 120.0, wide >= PAGE
    panel = PANEL if beside else wide - left + 16
    shapes, end = legend(models, (left + 6, 16) if beside else (16, 16), bots, left + 3 * PANEL if beside else wide)
    high = ROW * len(groups)
    for number, metric in enumerate(metrics):
        begin = left + number * panel if beside else left
        top = end + 46 + (0 if beside else number * (high + 64))
        if begin == left:
            for at, group in enumerate(groups):
                shapes.append(svg.words(left - 10, top + ROW * (at + 0.5), group, 12, "end"))
                across = left + (3 * panel if beside else panel - 26)
                shapes.append(line((left, top + ROW * at), (across, top + ROW * at), GRID))
        values = [v for model in models for row in of[metric, model].values() for v in (row.value, row.low, row.high)]
        shown = [0.0, *(value for value in values if value is not None)]
        ends = around(shown, 0.2, (-1.0, 1.0)) if metric == "Delta" else (0.0, 1.0)
        x = Axis(*ends, begin + 14, begin + panel - 30)
        shapes.append(svg.words((x.begin + x.end) / 2, top - 22, f"{metric}, %", 12, "middle"))
        for value in x.ticks(5):
            strong = metric == "Delta" and abs(value) < 1e-9
            shapes.append(line((x(value), top), (x(value), top + high), ZERO if strong else GRID))
            shapes.append(svg.words(x(value), top + high + 12, per_cent(value), 11, "middle"))
        for at, group in enumerate(groups):
            own, other = ([of[metric, name].get(group) for name in names] for names in (models, bots))
            shapes += _composition(own, other, x, top + ROW * (at + 0.5))
    return svg.drawing(left + 3 * PANEL + 10 if beside else wide, top + high + 26, shapes)


def differences_plot(rows: Sequence[ModelDifference], names: tuple[str, str], level: float, wide: float = PAGE) -> str:
    """The difference of two models in every cell, with its interval; hollow where it does not count."""
    here = [row for row in rows if row.difference is not None]
    ends = [v for row in here for v in (row.difference, row.low, row.high) if v is not None]
    left, top = 190.0, 40.0
    x = Axis(*around([0.0, *ends], 0.1, (-1.0, 1.0)), left + 6, wide - 20)
    each = [(title, list(own)) for title, own in groupby(here, lambda row: titled(row.metric, row.by))]
    high = 18.0 * (len(here) + len(each))
    shapes = [svg.words(wide / 2, 14, f"{short(names[1])} minus {short(names[0])}, points", 12, "middle")]
    for value in x.ticks(5):
        shapes.append(line((x(value), top), (x(value), top + high), ZERO if abs(value) < 1e-9 else GRID))
        shapes.append(svg.words(x(value), top - 10, per_cent(value), 11, "middle"))
    y = top + 9
    for title, own in each:
        shapes.append(svg.words(4, y, title, 11))
        for row in own:
            y += 18
            shapes.append(svg.words(left - 6, y, short(row.group, 30), 11, "end"))
            if row.low is not None and row.high is not None:
                shapes.append(whisker((x(row.low), y), (x(row.high), y), colour(0)))
            told = f"{title}, {row.by}, {row.group}: {100 * (row.difference or 0.0):.2f}"
            look = {"fill": colour(0) if row.q is not None and row.q <= level else "white", "stroke": colour(0)}
            shapes.append(svg.element("circle", svg.title(told), cx=x(row.difference or 0.0), cy=y, r=4, **look))
        y += 18
    return svg.drawing(wide, top + high + 12, shapes)


def _composition(models: Sequence[Score | None], bots: Sequence[Score | None], x: Axis, y: float) -> Iterable[str]:
    """One composition in one panel."""
    for at, row in enumerate(bots):
        if row is not None:
            place = x(row.value or 0.0)
            yield line((place, y - ROW / 2 + 2), (place, y + ROW / 2 - 2), BOT, 1.5, dash(at))
    for at, row in enumerate(models):
        if row is not None:
            own = y + (at - (len(models) - 1) / 2) * min(9.0, (ROW - 8) / max(len(models) - 1, 1))
            if row.low is not None and row.high is not None:
                yield whisker((x(row.low), own), (x(row.high), own), colour(at))
            yield mark(at, (x(row.value or 0.0), own), said(row))
