"""What a camera sees of the stage: boxes in pixels, and the spatial relations read off them."""

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.contacts import Contacts, Props
from questree.synth.habits import Habits
from questree.synth.stage import Stage

SIZES = ((480, 270), (480, 270), (640, 360), (640, 480), (270, 480), (360, 480))  # width and height of the pictures
DISTANCE, HEIGHT = 4.2, 1.3  # metres from the middle of the room, above the floor
FIELD = (5.4, 2.9)  # metres of the room that fit into the picture
PERSON = {"standing on": (0.60, 1.70, 0.85), "sitting on": (0.70, 1.30, 0.68), "lying on": (1.60, 0.55, 0.75)}
SHAKE = 0.015  # how much boxes wander, in parts of their size
ASIDE = (0.7, -0.7, 1.4, -1.4, 2.1, -2.1)  # places tried next to a thing that hides it, in widths
SAME = 0.4  # in the truth, boxes of different things never share more than this (intersection over union)


def person_boxes(stage: Stage, size: tuple[int, int], rng: np.random.Generator) -> NDArray[Any]:
    """[frame, 4] x1, y1, x2, y2"""
    body = np.array([PERSON[name] for name in stage.posture]).reshape(-1, 3)  # [frame, 3] width, height, middle
    middles = np.column_stack([stage.person, body[:, 2]])
    return _project(middles, body[:, :2], size, rng)


def thing_boxes(
    stage: Stage, props: Props, size: tuple[int, int], habits: Habits, rng: np.random.Generator
) -> NDArray[Any]:
    """[frame, object, 4]"""
    extent = np.broadcast_to(habits.size[props.objects], (*stage.things.shape[:2], 2))
    return _separate(_project(stage.things, extent, size, rng), size)


def _project(
    middles: NDArray[Any], extent: NDArray[Any], size: tuple[int, int], rng: np.random.Generator
) -> NDArray[Any]:
    """A pinhole camera; boxes that stick out are pushed into the picture."""
    scale = min(size[0] / FIELD[0], size[1] / FIELD[1]) * DISTANCE  # pixels times metres
    zoom = scale / (DISTANCE + middles[..., 1])
    half = np.minimum(extent * zoom[..., None] / 2, np.array(size) / 2)
    seen = np.stack([size[0] / 2 + middles[..., 0] * zoom, size[1] / 2 - (middles[..., 2] - HEIGHT) * zoom], -1)
    seen += rng.normal(0, SHAKE, seen.shape) * 2 * half
    seen = np.clip(seen, half, np.array(size) - half)
    return np.concatenate([seen - half, seen + half], -1)


def shared(boxes: NDArray[Any]) -> NDArray[Any]:
    """Intersection over union of all pairs, [frame, object, object]."""
    return _over_union(boxes[:, :, None], boxes[:, None])


def _over_union(one: NDArray[Any], other: NDArray[Any]) -> NDArray[Any]:
    sides = np.minimum(one[..., 2:], other[..., 2:]) - np.maximum(one[..., :2], other[..., :2])
    common = np.maximum(sides, 0).prod(-1)
    areas = ((box[..., 2:] - box[..., :2]).prod(-1) for box in (one, other))
    return np.asarray(common / (sum(areas) - common))


def _separate(boxes: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Move things apart that would hide each other: an annotator must be able to tell them."""
    for column in range(1, boxes.shape[1]):
        first, widths = boxes[:, column].copy(), boxes[:, column, 2] - boxes[:, column, 0]
        for step in ASIDE:
            close = np.any(_over_union(boxes[:, column, None], boxes[:, :column]) > SAME, axis=1)[:, None]
            if not close.any():
                break
            aside = np.clip(step * widths, -first[:, 0], size[0] - first[:, 2])[:, None] * (1, 0, 1, 0)
            boxes[:, column] = np.where(close, first + aside, boxes[:, column])
    return boxes


FRONT, BACK = pi / 3, 2 * pi / 3  # bearings up to the first are in front of, beyond the second behind the person
HEAD = 0.25  # the head is the upper quarter of the person's box
SPOKEN = 0.6  # chance that of a thing high up the height is annotated


def locate(
    stage: Stage,
    touched: Contacts,
    props: Props,
    boxes: NDArray[Any],
    person: NDArray[Any],
    habits: Habits,
    rng: np.random.Generator,
) -> NDArray[Any]:
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


def at_head(boxes: NDArray[Any], person: NDArray[Any]) -> NDArray[Any]:
    """Whether the middle of a box is at the person's head or higher: the person is beneath the thing, else above."""
    line = person[..., 1] + HEAD * (person[..., 3] - person[..., 1])
    return np.asarray((boxes[..., 1] + boxes[..., 3]) / 2 <= line)


def _directions(stage: Stage, habits: Habits) -> NDArray[Any]:
    away = stage.things[..., :2] - stage.person[:, None]
    turned = np.arctan2(away[..., 1], away[..., 0]) - stage.facing[:, None]
    bearing = np.abs((turned + pi) % (2 * pi) - pi)
    names = ("in front of", "on the side of", "behind")
    return np.select(
        [bearing < FRONT, bearing < BACK], [habits.bit(names[0]), habits.bit(names[1])], habits.bit(names[2])
    )
