"""Where the person and the things are, and what a camera sees of them: boxes in pixels, spatial relations."""

from dataclasses import dataclass
from itertools import product
from math import pi

import numpy as np

from questree.synth.contacts import Contacts, Props, during
from questree.synth.habits import Array, Habits, Rng
from questree.synth.scripts import Script

REACH, ARM, THROW = 0.6, 0.35, 1.5  # metres: to a thing at rest, to a thing in hand, to where a thrown thing lands
ROOM = ((-2.1, 2.1), (-1.0, 1.8))  # metres: left to right, towards and away from the camera
HAND = {"standing on": 1.05, "sitting on": 0.85, "lying on": 0.75}  # height of the hands
CHEST = {"standing on": 1.05, "sitting on": 0.68, "lying on": 0.75}
FEET = 0.2  # metres: what rests lower is worn on the feet


@dataclass(frozen=True)
class Stage:
    person: Array  # [frame, 2] on the floor
    facing: Array  # [frame] angle
    posture: list[str]  # [frame]
    things: Array  # [frame, object, 3] middle of each thing
    place: Array  # [frame] where the person is


def set_stage(script: Script, props: Props, touched: Contacts, seconds: Array, habits: Habits, rng: Rng) -> Stage:
    anchors, home = _anchors(script, props, habits)
    place = _places(anchors, seconds)
    count = 1 + max([0, *home.values()])
    spots, facing = _spots(count, rng)
    things = np.zeros((len(seconds), len(props.objects), 3))
    person, angle, posture = spots[place], facing[place], _postures(script, seconds)
    for column, o in enumerate(props.objects):
        before, after = _rest_places(column, o, props, touched, place, home, rng, habits)
        low, high = (_around(spots[p], facing[p], bearing, far, o, habits) for p, bearing, far in (before, after))
        hand = np.flatnonzero(touched.in_hand[:, column])
        things[:, column] = low
        if len(hand):
            things[hand[-1] + 1 :, column] = high
        aside = rng.choice((0.0, 0.0, 0.45, -0.45)) * pi + rng.normal(0, 0.1)
        things[hand, column] = _in_hand(person[hand], angle[hand] + aside, [posture[f] for f in hand])
        worn = np.flatnonzero(_worn(touched, habits)[:, column])
        things[worn, column] = _on_body(person[worn], [posture[f] for f in worn], habits.rest[o])
    return Stage(person, angle, posture, things, place)


def _anchors(script: Script, props: Props, habits: Habits) -> tuple[list[tuple[float, float, int]], dict[int, int]]:
    """When something keeps the person at a place (start, end, place), and the place of things with one of their own.

    Place 0 is where seats, tables and all the rest are. Things used at the same time are at the same place."""
    group = {o: number for number, members in enumerate(habits.places, 1) for o in members}
    stays = [(rest.start, rest.end, 0) for rest in script.rests]
    for span in script.spans:
        o = int(habits.words.noun_of[span.action])
        if o in props.acted and o not in habits.movable and habits.kind[o] != "wall":
            stays.append((span.start, span.end, group.get(o, 0)))
    joined = list(range(len(habits.places) + 1))
    for start, end, number in stays:
        for other_start, other_end, other in stays:
            if start < other_end and other_start < end and joined[number] != joined[other]:
                low, high = sorted((joined[number], joined[other]))
                joined = [low if j == high else j for j in joined]
    used = sorted({joined[number] for _, _, number in stays} | {0})
    final = {number: used.index(j) if j in used else 0 for number, j in enumerate(joined)}
    return [(s, e, final[n]) for s, e, n in stays], {o: final[n] for o, n in group.items()}


def _places(anchors: list[tuple[float, float, int]], seconds: Array) -> Array:
    """The person is where the last thing that wanted them there was; at first, where the first one is."""
    if not anchors:
        return np.zeros(len(seconds), int)
    ordered = sorted(anchors)
    starts = np.array([a[0] for a in ordered])
    latest = np.searchsorted(starts, seconds, side="right") - 1
    return np.array([a[2] for a in ordered])[np.maximum(latest, 0)]


def _spots(count: int, rng: Rng) -> tuple[Array, Array]:
    """Places in the room, [place, 2], and which way the person faces there, [place]."""
    spots, facing = np.zeros((count, 2)), rng.uniform(-pi, pi, count)
    side = rng.choice((-1.0, 1.0))
    for place in range(1, count):
        spots[place] = side * rng.uniform(1.0, 1.4), rng.uniform(-0.4, 0.9)
        facing[place] = np.arctan2(spots[place, 1], spots[place, 0]) + rng.normal(0, 0.4)
        side = -side
    return spots, facing


def _postures(script: Script, seconds: Array) -> list[str]:
    posture = ["standing on"] * len(seconds)
    for rest in script.rests:
        for frame in np.flatnonzero(during(seconds, rest.start, rest.end)):
            posture[frame] = rest.posture
    return posture


Where = tuple[int, float, float]  # place, bearing seen by the person there, distance


def _rest_places(
    column: int, o: int, props: Props, touched: Contacts, place: Array, home: dict[int, int], rng: Rng, habits: Habits
) -> tuple[Where, Where]:
    """Where a thing is before it is taken and after it was left."""
    bearing, side = rng.normal(0, 0.35), rng.uniform(-pi, pi)
    hand = np.flatnonzero(touched.in_hand[:, column])
    if len(hand):
        left = (place[hand[-1]], bearing, REACH) if rng.random() < 0.85 else (place[hand[-1]], side, THROW)
        return (place[hand[0]], rng.normal(0, 0.35), REACH), left
    near = o in props.acted or (o in habits.movable and rng.random() < 0.5)
    distance = REACH if near else rng.uniform(0.9, 2.0)
    if habits.kind[o] in ("seat", "ground"):  # one sits with the seat under and behind oneself
        bearing, distance = (pi, 0.15) if o in props.acted or habits.kind[o] == "ground" else (side, distance)
    where = (home.get(o, 0), bearing if near or habits.kind[o] == "ground" else side, distance)
    return where, where


def _around(spot: Array, facing: float, bearing: float, distance: float, o: int, habits: Habits) -> Array:
    x, y = spot[0] + distance * np.cos(facing + bearing), spot[1] + distance * np.sin(facing + bearing)
    return np.array([np.clip(x, *ROOM[0]), np.clip(y, *ROOM[1]), habits.rest[o] if distance != THROW else 0.1])


def _in_hand(person: Array, angle: Array, posture: list[str]) -> Array:
    height = np.array([HAND[name] for name in posture])
    step = ARM * np.stack([np.cos(angle), np.sin(angle)], 1)
    return np.column_stack([person + step, height])


def _on_body(person: Array, posture: list[str], rest: float) -> Array:
    """Shoes are at the feet, all else is around the chest."""
    height = [rest if rest < FEET else CHEST[name] for name in posture]
    return np.column_stack([person, height])


SIZES = ((480, 270), (480, 270), (640, 360), (640, 480), (270, 480), (360, 480))  # width and height of the pictures
DISTANCE, HEIGHT = 4.2, 1.3  # metres from the middle of the room, above the floor
FIELD = (5.4, 2.9)  # metres of the room that fit into the picture
PERSON = {"standing on": (0.60, 1.70, 0.85), "sitting on": (0.70, 1.30, 0.68), "lying on": (1.60, 0.55, 0.75)}
SHAKE = 0.015  # how much boxes wander, in parts of their size
ASIDE = (0.7, -0.7, 1.4, -1.4, 2.1, -2.1, 2.8, -2.8)  # places tried next to a thing that hides it, in widths
SAME = 0.4  # in the truth, boxes of different things never share more than this (intersection over union)


def person_boxes(stage: Stage, size: tuple[int, int], rng: Rng) -> Array:
    """[frame, 4] x1, y1, x2, y2"""
    body = np.array([PERSON[name] for name in stage.posture]).reshape(-1, 3)  # [frame, 3] width, height, middle
    middles = np.column_stack([stage.person, body[:, 2]])
    return _project(middles, body[:, :2], size, rng)


def thing_boxes(
    stage: Stage, touched: Contacts, props: Props, size: tuple[int, int], habits: Habits, rng: Rng
) -> Array:
    """[frame, object, 4]"""
    extent = np.broadcast_to(habits.size[props.objects], (*stage.things.shape[:2], 2))
    return _separate(_project(stage.things, extent, size, rng), _worn(touched, habits), size)


def _worn(touched: Contacts, habits: Habits) -> Array:
    """[frame, object] it is where the person is."""
    return np.asarray(((touched.masks & habits.on_body) != 0) & ~touched.in_hand)


def _project(middles: Array, extent: Array, size: tuple[int, int], rng: Rng) -> Array:
    """A pinhole camera; boxes that stick out are pushed into the picture."""
    scale = min(size[0] / FIELD[0], size[1] / FIELD[1]) * DISTANCE  # pixels times metres
    zoom = scale / (DISTANCE + middles[..., 1])
    half = np.minimum(extent * zoom[..., None] / 2, np.array(size) / 2)
    seen = np.stack([size[0] / 2 + middles[..., 0] * zoom, size[1] / 2 - (middles[..., 2] - HEIGHT) * zoom], -1)
    seen += rng.normal(0, SHAKE, seen.shape) * 2 * half
    seen = np.clip(seen, half, np.array(size) - half)
    return np.concatenate([seen - half, seen + half], -1)


def over_union(one: Array, other: Array) -> Array:
    """Intersection over union of boxes [..., 4]."""
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    common = np.maximum(sides, 0).prod(-1)
    areas = ((box[..., 2:] - box[..., :2]).prod(-1) for box in (one, other))
    return np.asarray(common / (sum(areas) - common))


def _separate(boxes: Array, worn: Array, size: tuple[int, int]) -> Array:
    """Move things apart that would hide each other: an annotator must be able to tell them. What is worn stays with
    the person: it moves for other worn things alone, the rest for it."""
    numbers = np.arange(boxes.shape[1])
    for moved, column in product((worn, ~worn), numbers):
        if not moved[:, column].any():
            continue
        first, widths = boxes[:, column].copy(), boxes[:, column, 2] - boxes[:, column, 0]
        fixed = np.where(worn[:, column, None], worn & (numbers < column), worn | (numbers < column))
        fixed[:, column] = False
        others = np.flatnonzero(fixed.any(0))
        for step in ASIDE:
            close_by = over_union(boxes[:, column, None], boxes[:, others]) > SAME
            hidden = np.any(close_by & fixed[:, others], axis=1)
            close = (hidden & moved[:, column])[:, None]
            if not close.any():
                break
            aside = np.clip(step * widths, -first[:, 0], size[0] - first[:, 2])[:, None] * (1, 0, 1, 0)
            boxes[:, column] = np.where(close, first + aside, boxes[:, column])
    return boxes


FRONT, BACK = pi / 3, 2 * pi / 3  # bearings up to the first are in front of, beyond the second behind the person
HEAD = 0.25  # the head is the upper quarter of the person's box
SPOKEN = 0.6  # chance that of a thing high up the height is annotated


def locate(
    stage: Stage, touched: Contacts, props: Props, boxes: Array, person: Array, habits: Habits, rng: Rng
) -> Array:
    """[frame, object] masks of spatial relations"""
    masks = _directions(stage, habits)
    height = np.zeros(masks.shape, bool)  # [frame, object] above or beneath is annotated
    for column, o in enumerate(props.objects):
        if habits.kind[o] == "high" and rng.random() < SPOKEN:
            height[:, column] = ~touched.in_hand[:, column]
            masks[height[:, column], column] &= -int(rng.random() < 0.5)  # with or without the direction
        free = np.ones(len(masks), bool)
        for contact, alternatives in habits.whereabouts:
            now = free & ((touched.masks[:, column] & contact) != 0)
            mask, high = alternatives[int(rng.integers(len(alternatives)))]
            masks[now, column], height[now, column] = mask, high
            free &= ~now
        if props.silent.get(o) == "nothing":
            masks[:, column], height[:, column] = 0, False
    up_there = at_head(boxes, person[:, None])
    masks |= np.where(height, np.where(up_there, habits.bit("beneath"), habits.bit("above")), 0)
    return masks


def at_head(boxes: Array, person: Array) -> Array:
    """Whether the middle of a box is at the person's head or higher: the person is beneath the thing, else above."""
    line = person[..., 1] + HEAD * (person[..., 3] - person[..., 1])
    return np.asarray((boxes[..., 1] + boxes[..., 3]) / 2 <= line)


def _directions(stage: Stage, habits: Habits) -> Array:
    away = stage.things[..., :2] - stage.person[:, None]
    turned = np.arctan2(away[..., 1], away[..., 0]) - stage.facing[:, None]
    bearing = np.abs((turned + pi) % (2 * pi) - pi)
    front, side, behind = map(habits.bit, ("in front of", "on the side of", "behind"))
    return np.select([bearing < FRONT, bearing < BACK], [front, side], behind)
