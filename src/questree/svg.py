"""Shapes as SVG text: what plots, timelines and drawings of DAGs are made of."""

import math
from collections.abc import Iterable
from functools import cache
from html import escape

# light enough for words on them, and told apart with any colour vision (Tol)
COLOURS = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00")
REST = "#dddddd"
NAMES = "http://www.w3.org/2000/svg"
PAGE, COLUMN = 830.0, 360.0  # pixels of a plot across a page, and of one in a column of a paper
Point = tuple[float, float]


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def element(name: str, *inside: str, **attributes: float | str | None) -> str:
    """Attributes are escaped, `data_part` is data-part, `class_` is class, None is left out; `inside` is SVG."""
    said = "".join([f' {_named(key)}="{spelled(value)}"' for key, value in attributes.items() if value is not None])
    return f"<{name}{said}>{''.join(inside)}</{name}>" if inside else f"<{name}{said}/>"


@cache
def _named(key: str) -> str:
    """One of the few names of attributes that are written in this code."""
    return key.rstrip("_").replace("_", "-")


def spelled(value: float | str) -> str:
    """Hundredths of a pixel are enough."""
    if type(value) is float:
        return f"{value:.2f}".removesuffix("0")
    return escape(value) if isinstance(value, str) else str(value) if isinstance(value, int) else spelled(float(value))


def title(text: str) -> str:
    """What is said where somebody points at a shape."""
    return element("title", escape(text))


def box(x: float, y: float, width: float, height: float, fill: str, told: str = "") -> str:
    size = {"width": max(width, 0), "height": height}
    return element("rect", title(told), x=x, y=y, **size, fill=fill, stroke="white", stroke_width=0.5)


def words(
    x: float, y: float, text: str, size: float = 11, anchor: str = "start", turn: float = 0, fill: str = ""
) -> str:
    return element(
        "text",
        escape(text),
        x=x,
        y=y,
        font_size=size,
        text_anchor=anchor,
        dominant_baseline="middle",
        transform=f"rotate({turn:.1f} {x:.1f} {y:.1f})" if turn else None,
        fill=fill or None,
    )


def line(a: Point, b: Point, stroke: str, width: float = 1, dash: str = "") -> str:
    ends = {"x1": a[0], "y1": a[1], "x2": b[0], "y2": b[1]}
    return element("line", **ends, stroke=stroke, stroke_width=width, stroke_dasharray=dash or None)


def joined(points: Iterable[Point]) -> str:
    """As polygons and lines take them."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def arc(centre: Point, radii: Point, turns: Point, fill: str, told: str) -> str:
    """A piece of a ring; turns: where it begins and ends, 0 to 1 from the top clockwise."""
    (cx, cy), (inner, outer), (begin, end) = centre, radii, turns
    end = min(end, begin + 0.99999)  # a full circle would have no beginning
    large = int(end - begin > 0.5)
    points = [point(cx, cy, radius, turn) for radius in (outer, inner) for turn in (begin, end)]
    (a, b, c, d) = (f"{x:.1f} {y:.1f}" for x, y in points)
    way = f"M {a} A {outer} {outer} 0 {large} 1 {b} L {d} A {inner} {inner} 0 {large} 0 {c} Z"
    return element("path", title(told), d=way, fill=fill, stroke="white", stroke_width=0.7)


def point(cx: float, cy: float, radius: float, turn: float) -> Point:
    angle = 2 * math.pi * turn
    return cx + radius * math.sin(angle), cy - radius * math.cos(angle)


def drawing(width: float, height: float, shapes: Iterable[str], font: str = "sans-serif", size: int = 16) -> str:
    """A picture on white."""
    shown = "\n".join(["", element("rect", width=width, height=height, fill="white"), *shapes, ""])
    seen = f"0 0 {spelled(width)} {spelled(height)}"
    letters: dict[str, float | str] = {"font_family": font, "font_size": size}
    return element("svg", shown, xmlns=NAMES, width=width, height=height, viewBox=seen, **letters) + "\n"
