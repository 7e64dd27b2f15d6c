"""The value of an image program on every row, and why some rows have none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from questree.domains.images.kinds import (
    ABSENT,
    ATTRIBUTE,
    COUNT,
    GROUP,
    GROUPS,
    LINK,
    LINK_NAME,
    LINKS,
    NOT_THERE,
    NOUN,
    REASONS,
    SCENES,
    THING,
    THINGS,
)
from questree.domains.images.sets import ImageSets, Ints
from questree.program import BOOL, Array, Node, Slot, Term, Word, fold


@dataclass(frozen=True)
class Outcome:
    values: dict[Term, Array]  # of every sub-program; meaningless on undefined rows
    reason: Ints  # [row] position in REASONS of what went wrong first, ABSENT where all is well

    @property
    def defined(self) -> Array:  # [row]
        return np.asarray(self.reason == ABSENT)


def evaluate(term: Node, world: ImageSets, rows: Mapping[str, Array] | None = None) -> Outcome:
    """One question is a batch of one; slots take their columns from `rows`."""
    values: dict[Term, Array] = {}
    reason = np.full(len(world), ABSENT, np.int64)

    def leaf(term: Slot | Word) -> Array:
        if isinstance(term, Slot):
            return np.asarray((rows or {})[term.name])
        return np.full(len(world), world.position(term), np.int64)

    def run(node: Node, kids: dict[str, Array]) -> Array:
        value = node.op.run(world, **kids)
        code = value.reshape(len(world), value[:1].size).min(1, initial=0)  # [row]
        wrong = code <= NOT_THERE
        new = wrong & (reason == ABSENT)  # a row's first reason stays; its later values do not matter
        reason[new] = NOT_THERE - code[new]
        value = np.where(wrong.reshape(-1, *[1] * (value.ndim - 1)), value.dtype.type(0), value)
        values[node] = value.astype(bool) if node.kind == THINGS else value
        return values[node]

    fold(term, leaf, run)
    return Outcome(values, reason)


def spelled(node: Node, outcome: Outcome, world: ImageSets) -> list[Any]:
    """[row] the value as people write it: yes/no, a number, a word, ids of things; None if absent or undefined."""
    value = outcome.values[node]
    return [_spell(node, value[i], world, i) if ok else None for i, ok in enumerate(outcome.defined)]


def reasons(outcome: Outcome) -> list[str | None]:
    """[row] why there is no answer."""
    return [None if code == ABSENT else REASONS[code] for code in outcome.reason]


def _spell(node: Node, value: Any, world: ImageSets, row: int) -> Any:
    things, images = world.thing[world.row[row]], world.image[world.row[row]]
    if node.kind == BOOL:
        return bool(value)
    if node.kind == COUNT:
        return int(value)
    if node.kind in (NOUN, ATTRIBUTE, LINK_NAME):
        return None if value == ABSENT else world.words[value]
    if node.kind == GROUP:
        return world.groups[value]
    if node.kind == THING:
        return world.thing_ids[things[value]]
    if node.kind in (THINGS, GROUPS):
        return [world.thing_ids[thing] for thing in things[value]]
    if node.kind == SCENES:
        return [world.image_ids[image] for image in images[value]]
    if node.kind == LINK:
        return _spell_link(world, world.row[row], value)
    if node.kind == LINKS:
        return [_spell_link(world, world.row[row], edge) for edge in np.flatnonzero(value).tolist()]
    return None


def _spell_link(world: ImageSets, at: int, edge: int) -> list[str]:
    return [world.words[world.link[at, edge]], world.thing_ids[world.thing[at, world.object[at, edge]]]]
