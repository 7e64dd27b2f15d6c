"""Spatial relations, read off the stage and the boxes."""

from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.contacts import Contacts
from questree.synth.habits import Habits
from questree.synth.props import Props
from questree.synth.stage import Stage

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
