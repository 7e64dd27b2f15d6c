"""A few shapes as SVG text: enough for bars, rings and their labels."""

import math
from html import escape

# light enough for words on them, and told apart with any colour vision (Tol)
COLOURS = ("#77aadd", "#ee8866", "#eedd88", "#ffaabb", "#99ddff", "#44bb99", "#bbcc33", "#aaaa00")
REST = "#dddddd"
Pair = tuple[float, float]


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def box(x: float, y: float, width: float, height: float, fill: str, title: str = "") -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height:.1f}" fill="{fill}" '
        f'stroke="white" stroke-width="0.5"><title>{escape(title)}</title></rect>'
    )


def words(
    x: float, y: float, text: str, size: float = 11, anchor: str = "start", turn: float = 0, fill: str = ""
) -> str:
    more = f' transform="rotate({turn:.1f} {x:.1f} {y:.1f})"' if turn else ""
    more += f' fill="{fill}"' if fill else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}" '
        f'dominant-baseline="middle"{more}>{escape(text)}</text>'
    )


def arc(centre: Pair, radii: Pair, turns: Pair, fill: str, title: str) -> str:
    """A piece of a ring; turns: where it begins and ends, 0 to 1 from the top clockwise."""
    (cx, cy), (inner, outer), (begin, end) = centre, radii, turns
    end = min(end, begin + 0.99999)  # a full circle would have no beginning
    large = int(end - begin > 0.5)
    points = [point(cx, cy, radius, turn) for radius in (outer, inner) for turn in (begin, end)]
    (a, b, c, d) = (f"{x:.1f} {y:.1f}" for x, y in points)
    path = f"M {a} A {outer} {outer} 0 {large} 1 {b} L {d} A {inner} {inner} 0 {large} 0 {c} Z"
    return f'<path d="{path}" fill="{fill}" stroke="white" stroke-width="0.7"><title>{escape(title)}</title></path>'


def point(cx: float, cy: float, radius: float, turn: float) -> tuple[float, float]:
    angle = 2 * math.pi * turn
    return cx + radius * math.sin(angle), cy - radius * math.cos(angle)


def drawing(width: float, height: float, shapes: list[str]) -> str:
    size = f'width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return "\n".join([head, f'<rect width="{width:g}" height="{height:g}" fill="white"/>', *shapes, "</svg>", ""])
