"""Named boxes on a picture, or on an empty ground of its size, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

KINDS = ("other", "person", "step", "mentioned")  # in the order they are drawn; step: on the way to what is meant
DEFAULT = (400.0, 300.0)  # corner of a picture with neither a size nor boxes
Box = tuple[float, float, float, float]  # x1, y1, x2, y2 in pixels


@dataclass(frozen=True)
class Boxed:
    label: str
    kind: str  # one of KINDS
    box: Box
    parts: tuple[int, ...] = ()  # numbers of what picks it out


def picture(
    size: tuple[int, int], boxes: Sequence[Boxed], name: str, address: str = "", seen: Box | None = None
) -> str:
    """`seen` is the piece that is looked at; all of it, if nobody says."""
    width, height = size
    x1, y1, x2, y2 = seen or (0, 0, width, height)
    unit = max(x2 - x1, y2 - y1) / 100
    ground = f'<rect class="ground" width="{width}" height="{height}"/>'
    if address:
        ground = f'<image href="{escape(address)}" width="{width}" height="{height}"/>'
    shapes = "".join(
        _drawn(each, unit, (x1, y1, x2, y2)) for each in sorted(boxes, key=lambda each: KINDS.index(each.kind))
    )
    view = f"{x1:.0f} {y1:.0f} {x2 - x1:.0f} {y2 - y1:.0f}"
    head = f'<svg class="picture" viewBox="{view}" role="img" aria-label="{escape(name)}">'
    return f"{head}{ground}{shapes}</svg>"


def _drawn(each: Boxed, unit: float, seen: Box) -> str:
    x1, y1, x2, y2 = each.box
    size, label = 3.4 * unit, escape(each.label)
    wide = len(each.label) * size * 0.56 + unit
    x, y = max(min(x1, seen[2] - wide), seen[0]), max(y1 - 4.4 * unit, seen[1])
    parts = " ".join(map(str, each.parts))
    return (
        f'<g class="{each.kind}" data-parts="{parts}"><title>{label}</title>'
        f'<rect class="box" x="{x1:.1f}" y="{y1:.1f}" '
        f'width="{max(x2 - x1, 1):.1f}" height="{max(y2 - y1, 1):.1f}" stroke-width="{0.6 * unit:.2f}"/>'
        f'<rect class="tag" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{4.4 * unit:.1f}"/>'
        f'<text x="{x + unit / 2:.1f}" y="{y + 3.3 * unit:.1f}" font-size="{size:.1f}">{label}</text></g>'
    )


def size_of(width: int | None, height: int | None, boxes: Sequence[Boxed]) -> tuple[int, int]:
    """As the source says, or all that there is to see."""
    if width and height:
        return int(width), int(height)
    corners = [each.box[2:] for each in boxes] or [DEFAULT]
    return int(max(x for x, _ in corners)) + 10, int(max(y for _, y in corners)) + 10
