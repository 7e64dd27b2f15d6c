"""One image: first what is behind, then what stands; what lies on a thing, is worn by it or a part of it after it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import skia

from questree.draw.canvas import Box, Canvas, fill, stroke
from questree.draw.figure import Figure, figure, postures
from questree.draw.marks import INK, Layout, glyph, tag, thing_glyph
from questree.draw.paint import attributes, draw_painted, told

HIDDEN = 0.3  # share of a thing in sight up to which it is drawn once more, paler, before what hides it
PALE = 170
DARKER = "#7f6a9e"  # trousers of whom nobody dressed


@dataclass(frozen=True)
class Part:
    """A thing of an image, and the thing it is drawn after."""

    id: str
    name: str
    box: Box
    attributes: tuple[str, ...]
    links: frozenset[str]  # names of its relations
    holds: tuple[str, ...]
    after: str
    level: float  # of those drawn after nothing: 0 the background, 1 what hangs, then how far down it stands


def draw_image(canvas: Canvas, scene: Mapping[str, Any], dyed: frozenset[str]) -> None:
    """`dyed` are names of things that may have a colour."""
    parts = {part.id: part for part in _parts(scene)}
    order = [each for root in sorted(_under(parts, ""), key=lambda part: part.level) for each in _tree(parts, root)]
    for part in order:
        _draw(canvas, part, parts, dyed)
    for part in order:
        if part.level and _in_sight(part, order, parts) < HIDDEN:
            canvas.saveLayerAlpha(None, PALE)
            _draw(canvas, part, parts, dyed)
            canvas.restore()
            canvas.drawRect(skia.Rect(*part.box), stroke(INK, 1.0, PALE, (4.0, 3.0)))
    size = scene["width"], scene["height"]
    layout = Layout(size, (size[0] * size[1]) ** 0.5 / 34)
    layout.taken += [_head(part) for part in order if part.name in attributes().people]
    for part in sorted(order, key=lambda part: (part.box[2] - part.box[0]) * (part.box[3] - part.box[1])):
        if said := told(part.attributes):
            what = glyph(part.name) if not part.level else thing_glyph(part.name)
            tag(canvas, layout, part.box, said if part.name in attributes().people else [what, *said])


def _head(part: Part) -> Box:
    x1, y1, x2, y2 = part.box
    return x1 + 0.25 * (x2 - x1), y1, x2 - 0.25 * (x2 - x1), y1 + 0.22 * (y2 - y1)


def _parts(scene: Mapping[str, Any]) -> Iterator[Part]:
    links, things = attributes().links, scene["objects"]
    after = dict[str, str]()
    for id, thing in things.items():
        for relation in thing["relations"]:
            if relation["name"] in links["over"] and not _leads(after, relation["object"], id):
                after[id] = relation["object"]
            elif relation["name"] in links["under"] and not _leads(after, id, relation["object"]):
                after.setdefault(relation["object"], id)
    for id, thing in things.items():
        x, y, wide, high = (thing[side] for side in "xywh")
        named = frozenset(relation["name"] for relation in thing["relations"])
        holds = tuple(r["object"] for r in thing["relations"] if r["name"] in links["under"])
        hangs = not named.isdisjoint(links["flat"])
        level = 0.0 if wide == scene["width"] and id not in after else 1.0 if hangs else 2.0 + y + high
        box = (x, y, x + wide, y + high)
        yield Part(id, thing["name"], box, tuple(thing["attributes"]), named, holds, after.get(id, ""), level)


def _leads(after: Mapping[str, str], begin: str, to: str) -> bool:
    """Is one drawn after the other already? Annotators may have each of two things on the other."""
    while begin and begin != to:
        begin = after.get(begin, "")
    return begin == to


def _under(parts: Mapping[str, Part], id: str) -> list[Part]:
    return [part for part in parts.values() if part.after == id]


def _tree(parts: Mapping[str, Part], root: Part) -> Iterator[Part]:
    yield root
    for part in _under(parts, root.id):
        yield from _tree(parts, part)


def _root(part: Part, parts: Mapping[str, Part]) -> str:
    return _root(parts[part.after], parts) if part.after else part.id


def _in_sight(part: Part, order: list[Part], parts: Mapping[str, Part]) -> float:
    """Share of 25 points of its box that no later thing of another tree covers."""
    own, at = _root(part, parts), order.index(part)
    later = [each.box for each in order[at + 1 :] if _root(each, parts) != own]
    x1, y1, x2, y2 = part.box
    points = [(x1 + (x2 - x1) * (i + 0.5) / 5, y1 + (y2 - y1) * (j + 0.5) / 5) for i in range(5) for j in range(5)]
    return sum(not any(b[0] <= x <= b[2] and b[1] <= y <= b[3] for b in later) for x, y in points) / len(points)


def _draw(canvas: Canvas, part: Part, parts: Mapping[str, Part], dyed: frozenset[str]) -> None:
    if part.name in attributes().people:
        _draw_person(canvas, part, parts)
    else:
        unsaid = attributes().unsaid if part.level else attributes().backdrop
        draw_painted(canvas, part.name, part.box, part.attributes, unsaid if part.name in dyed else "")


def _draw_person(canvas: Canvas, part: Part, parts: Mapping[str, Part]) -> None:
    who = _somebody(part)
    who.draw(canvas)
    known = attributes()
    features = known.people[part.name]
    head, unit = who.at(who.posture.eyes), who.unit
    if "long" in features:
        for side in (-1, 1):
            lock = skia.Rect.MakeXYWH(head[0] + side * 13 * unit - 3 * unit, head[1] - 6 * unit, 6 * unit, 30 * unit)
            canvas.drawRoundRect(lock, 3 * unit, 3 * unit, fill(who.hair))
    if "bow" in features:
        knot = head[0], head[1] - 15 * unit
        for side in (-1, 1):
            wing = skia.Path().moveTo(*knot).lineTo(knot[0] + side * 9 * unit, knot[1] - 5 * unit)
            canvas.drawPath(wing.lineTo(knot[0] + side * 9 * unit, knot[1] + 5 * unit).close(), fill("#ff5d8f"))
    if "beard" in features:
        chin = who.at(who.posture.mouth)
        canvas.drawArc(
            skia.Rect(chin[0] - 10 * unit, chin[1] - 9 * unit, chin[0] + 10 * unit, chin[1] + 9 * unit),
            0,
            180,
            True,
            fill(who.hair),
        )
    held = [parts[id].box for id in part.holds]
    mouth = next((known.faces[each] for each in part.attributes if each in known.faces), "")
    who.face(canvas, mouth, None)
    for side in (0, 1):
        who.arm(canvas, side, _reach(who, held, side))


def _reach(who: Figure, held: list[Box], side: int) -> tuple[float, float]:
    """To a thing beyond this side of the body, which is held; else the hand hangs."""
    middle = (who.box[0] + who.box[2]) / 2
    for x1, y1, x2, y2 in held:
        far = abs((x1 + x2) / 2 - middle) > 0.3 * (who.box[2] - who.box[0])  # what is worn is in the middle
        if far and ((x1 + x2) / 2 > middle) == bool(side):
            return (x1 + x2) / 2, (y1 + y2) / 2
    return who.at(who.posture.rest[side])


def _somebody(part: Part) -> Figure:
    """Their clothes have no colour of their own: what they wear lies over it."""
    known = attributes()
    who = figure(part.box, part.id)
    hair = next((known.hair[each] for each in part.attributes if each in known.hair), who.hair)
    posture = "seated" if set(known.links["upright"]).isdisjoint(part.links) else "upright"
    return Figure(part.box, postures()[posture], who.skin, hair or who.skin, known.unsaid, DARKER)
