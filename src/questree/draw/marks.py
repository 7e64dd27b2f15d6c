"""Marks for what shapes do not tell: a tag per thing, lines of sight, a strip with what is being done."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial

import skia

from questree.draw.canvas import Box, Canvas, fill, stroke
from questree.draw.letters import STEP, written
from questree.draw.scene import Doing, Where, marks
from questree.draw.shapes import fit, icons, source_of

INK, PAPER, GAZE, DOUBT, PASSED = "#222222", "#ffffff", "#e8590c", "#868e96", "#5c7cfa"
Point = tuple[float, float]
ROOMY = 1.6  # times as wide and high as its tag: there is room for it in the box
LETTER = 0.6  # height of letters beside glyphs


@dataclass(frozen=True)
class Glyph:
    draw: Callable[[Canvas, float, float, float], None]  # canvas, x, y, side: drawn in that square
    wide: float = 1.0  # squares
    size: float = 1.0  # units of a tag


@dataclass
class Layout:
    """Where marks are: they keep clear of each other and stay in the picture."""

    size: tuple[int, int]
    unit: float
    taken: list[Box] = field(default_factory=list)

    def place(self, box: Box, wide: float, high: float) -> Point:
        """The free place that is nearest to a box; where there is none, the last that was tried."""
        for x, y in self._around(box, wide, high):
            x, y = self._inside(x, y, wide, high)
            card = (x, y, x + wide, y + high)
            if not any(_meet(card, other) for other in self.taken):
                break
        self.taken.append(card)
        return x, y

    def _around(self, box: Box, wide: float, high: float) -> Iterator[Point]:
        x1, y1, x2, y2 = box
        middle, step = (x1 + x2 - wide) / 2, high + 0.1 * self.unit
        if x2 - x1 > ROOMY * wide and y2 - y1 > ROOMY * high:
            yield x1 + 1, y1 + 1
        yield from ((middle, y1 - high), (middle, y2), (x2, (y1 + y2 - high) / 2))
        yield x1 - wide, (y1 + y2 - high) / 2
        for ring in range(1, 12):
            for x in (middle, middle - ring * 0.5 * wide, middle + ring * 0.5 * wide):
                yield x, y1 - high - ring * step
                yield x, y2 + ring * step

    def _inside(self, x: float, y: float, wide: float, high: float) -> Point:
        return min(max(x, 0.0), self.size[0] - wide), min(max(y, 0.0), self.size[1] - high)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def glyph(source: str) -> Glyph:
    """An icon, or a word where there is none."""
    if source.partition(" ")[0] in icons() or source.startswith("<"):
        return Glyph(lambda canvas, x, y, side: fit(canvas, source, x, y, side))
    return Glyph(partial(_word, source), LETTER * STEP * len(source))


def _word(text: str, canvas: Canvas, x: float, y: float, side: float) -> None:
    written(canvas, text, x, y + side * (1 - LETTER) / 2, side * LETTER)


def thing_glyph(word: str, states: frozenset[str] = frozenset()) -> Glyph:
    source = source_of(word, states)
    return replace(glyph(source), size=1.45) if source else glyph(word)


def where_glyph(where: Where) -> Glyph:
    return Glyph(partial(_from_above if where.seen == "top" else _from_the_side, where))


def _from_above(where: Where, canvas: Canvas, x: float, y: float, side: float) -> None:
    """A head with a nose that points up, and a dot where the thing is: ahead, aside, behind, around it."""
    middle, r = (x + side / 2, y + side / 2), side * 0.2
    nose = skia.Path().moveTo(middle[0] - r, middle[1]).lineTo(middle[0], middle[1] - 1.7 * r)
    canvas.drawPath(nose.lineTo(middle[0] + r, middle[1]).close(), fill(INK))
    canvas.drawCircle(*middle, r, fill(INK))
    if where.at == (0.0, 0.0):
        canvas.drawCircle(*middle, side * 0.44, stroke(where.fill, side * 0.12))
        return
    sides = (-1, 1) if where.at[0] else (1,)
    for sign in sides:
        dot = middle[0] + sign * where.at[0] * side * 0.38, middle[1] - where.at[1] * side * 0.4
        wide, high = (0.1, 0.3) if where.at[0] else (0.42, 0.11)
        bar = skia.Rect(dot[0] - side * wide, dot[1] - side * high, dot[0] + side * wide, dot[1] + side * high)
        canvas.drawRect(bar, fill(where.fill))


def _from_the_side(where: Where, canvas: Canvas, x: float, y: float, side: float) -> None:
    """A person, and the thing as a bar over the head or under the feet."""
    up = where.at[1] > 0
    fit(canvas, "mdi-human", x + side * 0.17, y + side * (0.3 if up else 0.0), side * 0.68)
    top = y if up else y + side * 0.8
    canvas.drawRect(skia.Rect(x + side * 0.02, top, x + side * 0.98, top + side * 0.2), fill(where.fill))


def tag(canvas: Canvas, layout: Layout, box: Box, glyphs: list[Glyph]) -> None:
    """Beside the box of a thing, tied to it by a line: what it is, and what is to be told of it."""
    unit = layout.unit
    sides = [each.size * unit for each in glyphs]
    spans = [side * each.wide for side, each in zip(sides, glyphs, strict=True)]
    wide, high = sum(spans) + 0.15 * unit * (len(sides) + 1), max(sides) + 0.2 * unit
    x, y = layout.place(box, wide, high)
    knot = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    end = min(max(knot[0], x), x + wide), min(max(knot[1], y), y + high)
    if end != knot:
        canvas.drawLine(*end, *knot, stroke(INK, 0.08 * unit, 170))
        canvas.drawCircle(*knot, 0.14 * unit, fill(INK, 200))
    _card(canvas, (x, y, x + wide, y + high), unit)
    x += 0.15 * unit
    for each, side, span in zip(glyphs, sides, spans, strict=True):
        each.draw(canvas, x, y + (high - side) / 2, side)
        x += span + 0.15 * unit


def _card(canvas: Canvas, box: Box, unit: float, paper: str = PAPER) -> None:
    canvas.drawRoundRect(skia.Rect(*box), 0.2 * unit, 0.2 * unit, fill(paper, 235))
    canvas.drawRoundRect(skia.Rect(*box), 0.2 * unit, 0.2 * unit, stroke(INK, 0.06 * unit))


def sight(canvas: Canvas, eyes: Point, target: Point, unit: float, sure: bool) -> None:
    """A line from the eyes: an arrow for what is looked at, dots and a question mark for what may be."""
    ink, dashes = (GAZE, (0.5 * unit, 0.25 * unit)) if sure else (DOUBT, (0.01 * unit, 0.4 * unit))
    canvas.drawLine(*eyes, *target, stroke(ink, 0.16 * unit, 220, dashes))
    if sure:
        _arrow(canvas, eyes, target, unit)
    else:
        middle = (eyes[0] + target[0]) / 2 - 0.4 * unit, (eyes[1] + target[1]) / 2 - 0.4 * unit
        fit(canvas, f"mdi-help {DOUBT}", *middle, 0.8 * unit)


def _arrow(canvas: Canvas, start: Point, end: Point, unit: float) -> None:
    away = start[0] - end[0], start[1] - end[1]
    far = max((away[0] ** 2 + away[1] ** 2) ** 0.5, 0.01)
    x, y = 0.7 * unit * away[0] / far, 0.7 * unit * away[1] / far
    path = skia.Path().moveTo(*end).lineTo(end[0] + x - 0.45 * y, end[1] + y + 0.45 * x)
    canvas.drawPath(path.lineTo(end[0] + x + 0.45 * y, end[1] + y - 0.45 * x).close(), fill(GAZE))


def strip(canvas: Canvas, layout: Layout, doing: tuple[Doing, ...]) -> None:
    """What goes on, one card per action along the lower edge: how, and with what."""
    unit = layout.unit
    side, x = 1.6 * unit, 0.3 * unit
    bottom = layout.size[1] - 0.3 * unit
    for action in doing:
        glyphs = _said(action)
        wide = sum(side * each.wide + 0.2 * unit for each in glyphs) + 0.2 * unit
        if x + wide > layout.size[0]:
            x, bottom = 0.3 * unit, bottom - side - 0.6 * unit
        card = (x, bottom - side - 0.3 * unit, x + wide, bottom)
        _card(canvas, card, unit, "#fff3bf")
        layout.taken.append(card)
        inner = x + 0.2 * unit
        for each in glyphs:
            each.draw(canvas, inner, card[1] + 0.15 * unit, side)
            inner += side * each.wide + 0.2 * unit
        x += wide + 0.3 * unit


def _said(action: Doing) -> list[Glyph]:
    """How, and with what; the whole phrase in words, if nobody drew how."""
    known = marks()
    how = known.actions.get(action.phrase) or [known.verbs.get(action.verb, "")]
    if how == [""]:
        return [glyph(action.phrase)]
    what = [thing_glyph(action.thing)] if action.thing and action.thing not in known.lists["unnamed"] else []
    return [glyph(each) for each in how] + what


def clock(canvas: Canvas, layout: Layout, when: float) -> None:
    """How much of the video has passed: a bar along the upper edge."""
    wide, high = layout.size[0], 0.45 * layout.unit
    canvas.drawRect(skia.Rect(0, 0, wide, high), fill(PAPER))
    canvas.drawRect(skia.Rect(0, 0, when * wide, high), fill(PASSED))
    for tenth in range(1, 10):
        canvas.drawLine(wide * tenth / 10, 0, wide * tenth / 10, high, stroke(INK, 0.07 * layout.unit))
    layout.taken.append((0.0, 0.0, float(wide), high))
