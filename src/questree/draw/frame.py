"""One frame of a video: the room, the things in their boxes, the person with their hands, and marks for the rest."""

from functools import lru_cache
from typing import Any

import skia

from questree.columns.hashing import seed_of
from questree.draw.canvas import Box, Canvas, fill, stroke
from questree.draw.figure import Figure, Point, figure
from questree.draw.letters import STEP, written
from questree.draw.marks import Glyph, Layout, clock, glyph, sight, strip, tag, thing_glyph, where_glyph
from questree.draw.scene import FrameScene, SeenThing, marks
from questree.draw.shapes import picture, source_of, stretch

WALLS = ("#e9e4d8", "#dfe7ea", "#e8dfe3", "#e3e8da", "#ece6cf", "#dcdfe8")
FLOORS = ("#cdb79a", "#bfae9a", "#c9c2b8", "#b9a48c")
HORIZON = 0.72  # where the floor begins
NEAR = 0.35  # share of the person's box up to which a thing is drawn before the person
UNKNOWN = ("#fff9db", "#5c5f66")  # paper and ink of things nobody drew


def draw_frame(canvas: Canvas, scene: FrameScene) -> None:
    unit = (scene.size[0] * scene.size[1]) ** 0.5 / 30
    canvas.drawPicture(_room(scene.size, scene.place))
    who = figure(scene.person, scene.who) if scene.person else None
    before = [thing for thing in scene.things if who and _is_before(thing, who)]
    for thing in sorted(scene.things, key=_area, reverse=True):
        if thing not in before:
            draw_thing(canvas, thing.word, thing.box, thing.states)
    if who:
        _draw_person(canvas, who, scene, sorted(before, key=_area, reverse=True))
    layout = Layout(scene.size, unit)
    clock(canvas, layout, scene.when)
    strip(canvas, layout, scene.doing)
    if who:
        eyes = who.at(who.posture.eyes)
        _sights(canvas, scene, eyes, unit)
        layout.taken.append((eyes[0] - 1.2 * unit, eyes[1] - 1.2 * unit, eyes[0] + 1.2 * unit, eyes[1] + 1.2 * unit))
    for thing in sorted(scene.things, key=_area):
        tag(canvas, layout, thing.box, [thing_glyph(thing.word, thing.states), *_told(thing.relations)])


def draw_thing(canvas: Canvas, word: str, box: Box, states: frozenset[str] = frozenset(), paint: Any = None) -> None:
    """A thing that fills its box; a box with its name, if nobody drew it."""
    source = source_of(word, states)
    if source is not None:
        stretch(canvas, picture(source), box, paint)
    else:
        _label(canvas, word, box)


def _label(canvas: Canvas, word: str, box: Box) -> None:
    canvas.drawRect(skia.Rect(*box), fill(UNKNOWN[0]))
    width = min(box[2] - box[0], box[3] - box[1]) * 0.04
    edge = skia.Rect(box[0] + width / 2, box[1] + width / 2, box[2] - width / 2, box[3] - width / 2)
    canvas.drawRect(edge, stroke(UNKNOWN[1], width))
    size = min(0.5 * (box[3] - box[1]), (box[2] - box[0]) * 0.9 / (STEP * len(word)))
    written(canvas, word, (box[0] + box[2] - STEP * size * len(word)) / 2, (box[1] + box[3] - size) / 2, size, INK)


INK = UNKNOWN[1]


@lru_cache(64)
def _room(size: tuple[int, int], place: str) -> Any:
    width, height = size
    seed = int(seed_of(0, f"room {place}"))
    recorder = skia.PictureRecorder()
    canvas = recorder.beginRecording(skia.Rect(width, height))
    canvas.drawRect(skia.Rect(width, height), fill(WALLS[seed % len(WALLS)]))
    edge = height * HORIZON
    canvas.drawRect(skia.Rect(0, edge, width, height), fill(FLOORS[seed // 8 % len(FLOORS)]))
    canvas.drawRect(skia.Rect(0, edge - height * 0.02, width, edge), fill("#f8f6f1"))
    return recorder.finishRecordingAsPicture()


def _area(thing: SeenThing) -> float:
    x1, y1, x2, y2 = thing.box
    return (x2 - x1) * (y2 - y1)


def _is_before(thing: SeenThing, who: Figure) -> bool:
    """Nearer than the person: what they hold or wear, and small things, unless these are behind them."""
    share = _area(thing) / ((who.box[2] - who.box[0]) * (who.box[3] - who.box[1]))
    if marks().are("near", thing.relations):
        return share < 1 or marks().are("around", thing.relations)
    return share < NEAR and not marks().are("back", thing.relations)


def _draw_person(canvas: Canvas, who: Figure, scene: FrameScene, before: list[SeenThing]) -> None:
    known = marks()
    handled = [
        thing
        for thing in scene.things
        if known.are("reached", thing.relations) and thing.word not in known.lists["underfoot"]
    ]
    targets = [thing for thing in scene.things if known.are("looks", thing.relations)]
    hands = [(_side(who, thing), _grip(who, thing.box)) for thing in handled]
    who.draw(canvas)
    for side in {0, 1} - {side for side, _ in hands}:
        who.arm(canvas, side, who.at(who.posture.rest[side]))
    for thing in before:
        draw_thing(canvas, thing.word, thing.box, thing.states)
    mouth = next((known.faces[each.verb] for each in scene.doing if each.verb in known.faces), "")
    who.face(canvas, mouth, _middle(targets[0].box) if targets else None)
    for side, hand in hands:
        who.arm(canvas, side, hand)


def _middle(box: Box) -> Point:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def _side(who: Figure, thing: SeenThing) -> int:
    return int(_middle(thing.box)[0] > _middle(who.box)[0])


def _grip(who: Figure, box: Box) -> Point:
    """Where the hand is: the place in the inner part of the thing that is nearest to the shoulder."""
    x, y = who.at(who.posture.shoulders[int(_middle(box)[0] > _middle(who.box)[0])])
    dx, dy = 0.25 * (box[2] - box[0]), 0.25 * (box[3] - box[1])
    return min(max(x, box[0] + dx), box[2] - dx), min(max(y, box[1] + dy), box[3] - dy)


def _sights(canvas: Canvas, scene: FrameScene, eyes: Point, unit: float) -> None:
    for thing in scene.things:
        for kind in ("perhaps", "looks"):
            if marks().are(kind, thing.relations):
                sight(canvas, eyes, _middle(thing.box), unit, kind == "looks")


def _told(relations: frozenset[str]) -> list[Glyph]:
    """Where the thing is, then how it is touched; names of relations that have no mark."""
    known = marks()
    seen = {name for kind in ("looks", "perhaps", "idle") for name in known.lists[kind]}
    where = [where_glyph(known.where[name]) for name in known.where if name in relations]
    contacts = [glyph(source) for name, source in known.contacts.items() if name in relations]
    strange = relations - known.where.keys() - known.contacts.keys() - seen
    return [*where, *contacts, *(glyph(name) for name in sorted(strange))]
