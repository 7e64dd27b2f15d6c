"""Axes, marks, lines and bars of plots as SVG; what the plots of the audit need beyond bars and rings."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import polars as pl

from questree.stages.audit import svg

# colour and mark of the first, second, ... model: colours that people with any colour vision tell apart (Okabe, Ito)
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
BOT, GRID, INK = "#767676", "#e3e3e3", "#333333"
DASHES = ("6 3", "2 2", "8 2 2 2")  # of the first, second, ... bot
LONGEST = 22  # letters of a model's name
Point = tuple[float, float]


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


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


def line(a: Point, b: Point, stroke: str = INK, width: float = 1, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" stroke="{stroke}" '
        f'stroke-width="{width:g}"{dashed}/>'
    )


def path(points: Sequence[Point], stroke: str, width: float = 1.5, dash: str = "") -> str:
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<polyline points="{_joined(points)}" fill="none" stroke="{stroke}" stroke-width="{width:g}" '
        f'stroke-linejoin="round"{dashed}/>'
    )


def area(points: Sequence[Point], fill: str, opacity: float) -> str:
    return f'<polygon points="{_joined(points)}" fill="{fill}" fill-opacity="{opacity:g}"/>'


def _joined(points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _circle(x: float, y: float, r: float) -> str:
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r:.1f}"'


def _square(x: float, y: float, r: float) -> str:
    return f'<rect x="{x - 0.88 * r:.1f}" y="{y - 0.88 * r:.1f}" width="{1.76 * r:.1f}" height="{1.76 * r:.1f}"'


def _diamond(x: float, y: float, r: float) -> str:
    return f'<polygon points="{_joined([(x, y - 1.2 * r), (x + 1.2 * r, y), (x, y + 1.2 * r), (x - 1.2 * r, y)])}"'


def _triangle(x: float, y: float, r: float) -> str:
    return f'<polygon points="{_joined([(x, y - 1.2 * r), (x + 1.1 * r, y + 0.8 * r), (x - 1.1 * r, y + 0.8 * r)])}"'


SHAPES: tuple[Callable[[float, float, float], str], ...] = (_circle, _square, _diamond, _triangle)


def mark(at: int, place: Point, title: str, size: float = 4.5, opacity: float = 1.0) -> str:
    """The mark of model number `at`."""
    shape = SHAPES[at % len(SHAPES)](*place, size)
    return (
        f'{shape} fill="{colour(at)}" fill-opacity="{opacity:g}" stroke="white" stroke-width="0.8">'
        f"<title>{escape(title)}</title></{shape[1:].split(' ', 1)[0]}>"
    )


def whisker(a: Point, b: Point, stroke: str) -> str:
    """An interval with small ends."""
    flat = abs(a[1] - b[1]) < abs(a[0] - b[0])
    ends = [((x, y - 2.5), (x, y + 2.5)) if flat else ((x - 2.5, y), (x + 2.5, y)) for x, y in (a, b)]
    return line(a, b, stroke, 1.2) + "".join(line(*end, stroke, 1.2) for end in ends)


def frame(
    x: Axis, y: Axis, x_name: str, y_name: str, spelled: Callable[[float], str], whole_x: bool = False
) -> list[str]:
    """Grid lines with numbers, and what the axes are of."""
    found = []
    for value in y.ticks():
        found.append(line((x.begin, y(value)), (x.end, y(value)), GRID))
        found.append(svg.words(x.begin - 7, y(value), spelled(value), 11, "end"))
    for value in x.ticks(10 if whole_x else 6):
        if whole_x and value != round(value):
            continue
        found.append(line((x(value), y.begin), (x(value), y.end), GRID))
        found.append(svg.words(x(value), y.begin + 13, f"{value:g}" if whole_x else spelled(value), 11, "middle"))
    found.append(svg.words((x.begin + x.end) / 2, y.begin + 32, x_name, 12, "middle"))
    side = x.begin - 44
    found.append(svg.words(side, (y.begin + y.end) / 2, y_name, 12, "middle", -90))
    return found


def legend(names: Sequence[str], place: Point, bots: Sequence[str] = ()) -> list[str]:
    """Models with their marks, bots with a dashed line, side by side."""
    found, (x, y) = [], place
    for at, name in enumerate(map(short, names)):
        found += [mark(at, (x, y), name), svg.words(x + 9, y, name, 12)]
        x += 28 + 7 * len(name)
    for at, name in enumerate(map(short, bots)):
        found += [line((x - 6, y), (x + 14, y), BOT, 1.5, DASHES[at % len(DASHES)]), svg.words(x + 19, y, name, 12)]
        x += 40 + 7 * len(name)
    return found


def short(name: str) -> str:
    """A model's name as far as there is room."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def per_cent(value: float) -> str:
    return f"{100 * value:.0f}"


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
