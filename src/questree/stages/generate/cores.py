"""Cores: direct arguments in a span, with every column the rules may look at, computed when it is looked at."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from questree.benchmarks.agqa.templates import Template
from questree.columns.joins import Ints
from questree.readings.answer import answer
from questree.stages.generate.arguments import Arguments
from questree.stages.generate.chunk import Chunk
from questree.stages.generate.laws import known, lawful
from questree.stages.generate.words import Words
from questree.tables.questions import NOTHING8


@dataclass(frozen=True)
class Core:
    template: Template
    chunk: Chunk
    args: Arguments
    row: Ints  # [core] of args, ascending
    span: Ints

    def take(self, kept: Ints) -> "Core":
        """Only these cores, with what is known about them already."""
        few = Core(self.template, self.chunk, self.args, self.row[kept], self.span[kept])
        few.__dict__.update({name: self.__dict__[name][kept] for name in ("answer", "x", "y") if name in self.__dict__})
        return few

    def asked_by(self, template: Template) -> "Core":
        """The same cores under another template: other answers."""
        other = Core(template, self.chunk, self.args, self.row, self.span)
        other.__dict__.update({name: self.__dict__[name] for name in ("x", "y", "local") if name in self.__dict__})
        if template is self.template and "answer" in self.__dict__:
            other.__dict__["answer"] = self.answer
        return other

    @property
    def words(self) -> Words:
        return self.chunk.words

    @property
    def touching(self) -> int:
        return self.words.vocabulary.relation_at.get("touching", -1)

    @cached_property
    def relation(self) -> Ints:
        return self.args.relation[self.row]

    @cached_property
    def x(self) -> Ints:
        return self.args.x[self.row]

    @cached_property
    def y(self) -> Ints:
        return self.args.y[self.row]

    @property
    def done_to(self) -> Ints:
        return self.args.done_to[self.row]

    def done_to_column(self, row: Ints) -> Ints:
        """[question] of these arguments; where an edition has no such names the column takes no room."""
        if self.words.edition.relation_references:
            return self.args.done_to.astype(np.uint8)[row]
        return np.broadcast_to(np.uint8(NOTHING8), len(row))

    @property
    def direct(self) -> Ints:
        """[core] a number for its direct arguments."""
        return self.args.direct[self.row] if self.words.edition.relation_references else self.row

    @cached_property
    def local(self) -> "Local":
        return Local(self)

    @cached_property
    def answer(self) -> Ints:
        """The template's program, by the laws of localised relations where they hold."""
        slots = {"relation": self.relation, "object": self.x, "first": self.x, "second": self.y}
        world = self.chunk.world.ask(self.args.video[self.row])
        if not lawful(self.template):
            return answer(self.template.node, world, slots | {"time": self.window})
        return answer(self.template.node, world, slots, known(self.template.node, self.local))

    @property
    def window(self) -> Ints:
        """[core, 2]"""
        return np.stack([self.chunk.spans.lo[self.span], self.chunk.spans.hi[self.span]], axis=1)

    @property
    def time_objects(self) -> Ints:
        return self.chunk.spans.objects[self.span]

    @property
    def time_verbs(self) -> Ints:
        return self.chunk.spans.verbs[self.span]

    @property
    def present(self) -> Ints:
        return self.chunk.present[self.args.video[self.row]]

    @property
    def decisive(self) -> Ints:
        return self.local.first if self.template.group == "first" else self.local.last

    @property
    def contacts(self) -> Ints:
        vocabulary = self.chunk.words.vocabulary
        return self.objects_of(vocabulary.relation_at[vocabulary.interacting])

    def objects_of(self, relation: Any) -> Ints:
        """Set of the objects of another relation in the same span."""
        at = self.chunk.localised.at[self.args.video, relation]
        return self.chunk.localised.objects[self.chunk.place(self.args.video, at, self.row, self.span)]


class Local:
    """Localised columns of the cores, gathered when they are wanted, and their direct objects."""

    def __init__(self, core: Core):
        self.core = core

    @cached_property
    def place(self) -> Ints:
        core = self.core
        return core.chunk.place(core.args.video, core.args.at, core.row, core.span)

    @property
    def x(self) -> Ints:
        return self.core.x

    @property
    def y(self) -> Ints:
        return self.core.y

    @cached_property
    def objects(self) -> Ints:
        return self.core.chunk.localised.objects[self.place]

    @cached_property
    def first(self) -> Ints:
        return self.core.chunk.localised.first[self.place]

    @cached_property
    def last(self) -> Ints:
        return self.core.chunk.localised.last[self.place]

    @cached_property
    def closing(self) -> Ints:
        return self.core.chunk.localised.closing[self.place]
