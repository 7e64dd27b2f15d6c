"""Generated questions as forms: grouped by how their slots are worded, with columns for the words."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.benchmarks.agqa.templates import ACTION_REFERENCES, REFERENCES, TEMPLATES, TIMES, WHOLE
from questree.domains.video import VIDEO
from questree.program import ACTION, OBJECT, RELATION, Array, Node, Slot, Term, fill, slots
from questree.stages.decompose.expand import Batch
from questree.stages.decompose.forms import Forms
from questree.stages.generate.spans import DIRECT, INDIRECT, NOTHING
from questree.stages.questions import Shard, canonical
from questree.vocabulary.words import NONE

OP = VIDEO.ops
# how an action is worded: directly, without an object, as an extreme, or with the object as one of REFERENCES
ALONE, LONGEST, SHORTEST, TO = 1, 2, 3, 4
ACTION_SHAPES = TO + len(REFERENCES)


@dataclass(frozen=True)
class Shaped:
    """What fills a slot: the number of its shape, and the words that shape takes."""

    shape: Array  # [row]
    words: tuple[Array, ...]  # as many as the shape that takes most

    def gather(self, row: Array) -> "Shaped":
        return Shaped(self.shape[row], tuple(word[row] for word in self.words))


@dataclass(frozen=True)
class Tops:
    """The questions of a shard, all or some of them."""

    shard: Shard
    forms: Forms

    def begin(self, side: str, table: pl.DataFrame) -> Array:
        """[row] where the rows of its video begin in a side table; anything for a video without questions."""
        start = self.shard.start[side]
        return np.asarray(
            start[np.clip(table["video"].to_numpy().astype(np.int64) - self.shard.first, 0, len(start) - 1)]
        )

    @cached_property
    def references(self) -> Shaped:
        table = self.shard.sides["references"]
        kind, object, relation = (table[name].to_numpy().astype(np.int64) for name in ("kind", "object", "relation"))
        return Shaped(kind, (np.where(kind == DIRECT, object, relation),))

    @cached_property
    def actions(self) -> Shaped:
        table, words = self.shard.sides["action_references"], self.shard.vocabulary
        kind, action, row = (table[name].to_numpy().astype(np.int64) for name in ("kind", "action", "reference"))
        start = self.begin("references", table)
        inner = self.references.gather(
            np.where(kind == INDIRECT, start + row, 0) if len(self.references.shape) else row
        )
        shape = np.where(kind == DIRECT, words.noun_of[action] == NONE, kind + 1)
        shape = np.where(kind == INDIRECT, TO + inner.shape, shape)
        return Shaped(shape, (np.where(kind == INDIRECT, words.verb_of[action], action), inner.words[0]))

    @cached_property
    def times(self) -> Shaped:
        table = self.shard.sides["phrases"]
        start = self.begin("action_references", table)
        shape, words = table["kind"].to_numpy().astype(np.int64), list[Array]()
        for side in "ab":
            row = table[side].to_numpy().astype(np.int64)
            none = row == NOTHING
            own = (
                self.actions.gather(np.where(none, 0, start + row))
                if len(self.actions.shape)
                else Shaped(row, (row, row))
            )
            shape = shape * ACTION_SHAPES + np.where(none, 0, own.shape)
            words += own.words
        return Shaped(shape, tuple(words))

    def batches(self, rows: Array) -> Iterator[Batch]:
        """The questions at these rows."""
        table = self.shard.questions[rows]
        template = table["template"].to_numpy()
        for number in np.unique(template).tolist():
            yield from self.of_template(number, rows, np.flatnonzero(template == number))

    def of_template(self, number: int, rows: Array, question: Array) -> Iterator[Batch]:
        columns = self.shard.questions[rows[question]]
        video = columns["video"].to_numpy().astype(np.int64) - self.shard.first
        node = TEMPLATES[number].node
        filled = {name: self.slot(name, number, columns, video) for name in slots(node)}
        shape = np.zeros(len(question), np.int64)
        for own in filled.values():
            shape = shape * (len(TIMES) * ACTION_SHAPES**2) + own.shape
        for code in np.unique(shape):
            at = np.flatnonzero(shape == code)
            words = {name: term(name, slot, int(filled[name].shape[at[0]])) for name, slot in slots(node).items()}
            program = fill(node, words)
            assert isinstance(program, Node)
            form, origins = self.forms.canonical(canonical(program))
            values = [filled[name].words[place][at] for name, place in (origin_of(origin) for origin in origins)]
            yield Batch(form, video[at], tuple(values), question[at])

    def slot(self, name: str, number: int, columns: pl.DataFrame, video: Array) -> Shaped:
        """[question] what fills one slot of a template."""

        def column(name: str) -> Array:
            return columns[name].to_numpy().astype(np.int64)

        template = TEMPLATES[number]
        zero = np.zeros(len(video), np.int64)
        if name == "relation":
            return Shaped(zero, (column("relation"),))
        if name == "time":
            return self.times.gather(self.shard.start["phrases"][video] + column("phrase"))
        if template.every_object:
            return Shaped(zero, (column("x"),))
        row = column("second" if name in ("second", "b") else "first")
        if slots(template.node)[name].kind == OBJECT:
            return self.references.gather(self.shard.start["references"][video] + row)
        return self.actions.gather(self.shard.start["action_references"][video] + row)


def term(name: str, slot: Slot, shape: int) -> Term:
    """The shape of what fills a slot as a program; its slots are named by the slot and the place of the word."""
    if slot.kind == RELATION:
        return Slot(f"{name} 0", RELATION)
    if slot.kind == OBJECT:
        return reference(f"{name} 0", shape)
    if slot.kind == ACTION:
        return action(name, 0, shape)
    kind, a, b = shape // ACTION_SHAPES**2, shape // ACTION_SHAPES % ACTION_SHAPES, shape % ACTION_SHAPES
    if TIMES[kind] == "all":
        return OP["whole"]()
    first, second = action(name, 0, a), action(name, 2, b)
    return OP["between"](first, second) if TIMES[kind] == "between" else OP[TIMES[kind]](first)


def reference(name: str, kind: int) -> Term:
    if kind == DIRECT:
        return Slot(name, OBJECT)
    relation, whole = Slot(name, RELATION), OP["whole"]()
    if REFERENCES[kind] == WHOLE:
        return OP["only"](OP["objects"](relation, whole))
    return OP[REFERENCES[kind]](relation, whole)


def action(name: str, place: int, shape: int) -> Term:
    if shape in (DIRECT, ALONE):
        return Slot(f"{name} {place}", ACTION, alone=shape == ALONE)
    if shape < TO:
        return OP[ACTION_REFERENCES[shape - 1]]()
    return OP["to_action"](Slot(f"{name} {place}", RELATION), reference(f"{name} {place + 1}", shape - TO))


def origin_of(origin: Term) -> tuple[str, int]:
    assert isinstance(origin, Slot), "a template's words are slots"
    name, _, place = origin.name.rpartition(" ")
    return name, int(place)
