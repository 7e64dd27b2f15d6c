"""Where the person and the things are: a room with a few places, and things that stay where they are left."""

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.contacts import Contacts, Props, during
from questree.synth.habits import Habits
from questree.synth.scripts import Script

REACH, ARM, THROW = 0.6, 0.35, 1.5  # metres: to a thing at rest, to a thing in hand, to where a thrown thing lands
ROOM = ((-2.1, 2.1), (-1.0, 1.8))  # metres: left to right, towards and away from the camera
HAND = {"standing on": 1.05, "sitting on": 0.85, "lying on": 0.75}  # height of the hands


@dataclass(frozen=True)
class Stage:
    person: NDArray[Any]  # [frame, 2] on the floor
    facing: NDArray[Any]  # [frame] angle
    posture: list[str]  # [frame]
    things: NDArray[Any]  # [frame, object, 3] middle of each thing
    place: NDArray[Any]  # [frame] where the person is


def set_stage(
    script: Script, props: Props, touched: Contacts, seconds: NDArray[Any], habits: Habits, rng: np.random.Generator
) -> Stage:
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


def _places(anchors: list[tuple[float, float, int]], seconds: NDArray[Any]) -> NDArray[Any]:
    """The person is where the last thing that wanted them there was; at first, where the first one is."""
    if not anchors:
        return np.zeros(len(seconds), int)
    ordered = sorted(anchors)
    starts = np.array([a[0] for a in ordered])
    latest = np.searchsorted(starts, seconds, side="right") - 1
    return np.array([a[2] for a in ordered])[np.maximum(latest, 0)]


def _spots(count: int, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places in the room, [place, 2], and which way the person faces there, [place]."""
    spots, facing = np.zeros((count, 2)), rng.uniform(-pi, pi, count)
    side = rng.choice((-1.0, 1.0))
    for place in range(1, count):
        spots[place] = side * rng.uniform(1.0, 1.4), rng.uniform(-0.4, 0.9)
        facing[place] = np.arctan2(spots[place, 1], spots[place, 0]) + rng.normal(0, 0.4)
        side = -side
    return spots, facing


def _postures(script: Script, seconds: NDArray[Any]) -> list[str]:
    posture = ["standing on"] * len(seconds)
    for rest in script.rests:
        for frame in np.flatnonzero(during(seconds, rest.start, rest.end)):
            posture[frame] = rest.posture
    return posture


Where = tuple[int, float, float]  # place, bearing seen by the person there, distance


def _rest_places(
    column: int,
    o: int,
    props: Props,
    touched: Contacts,
    place: NDArray[Any],
    home: dict[int, int],
    rng: np.random.Generator,
    habits: Habits,
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


def _around(spot: NDArray[Any], facing: float, bearing: float, distance: float, o: int, habits: Habits) -> NDArray[Any]:
    x, y = spot[0] + distance * np.cos(facing + bearing), spot[1] + distance * np.sin(facing + bearing)
    return np.array([np.clip(x, *ROOM[0]), np.clip(y, *ROOM[1]), habits.rest[o] if distance != THROW else 0.1])


def _in_hand(person: NDArray[Any], angle: NDArray[Any], posture: list[str]) -> NDArray[Any]:
    height = np.array([HAND[name] for name in posture])
    step = ARM * np.stack([np.cos(angle), np.sin(angle)], 1)
    return np.column_stack([person + step, height])
