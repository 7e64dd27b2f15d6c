"""Answers by execution, programs of one pattern together; what has no good answer is dropped for a named reason."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

import numpy as np

from questree.benchmarks.covr.programs import Program, shape
from questree.domains.images import Corpus, Outcome, answers, evaluate, spelled
from questree.domains.images.described import has_attribute
from questree.domains.images.facts import Bools, Ints
from questree.domains.images.kinds import ABSENT, REASONS
from questree.domains.images.pages import attributed, number_of
from questree.domains.images.sets import ImageSets, padded
from questree.program import Array, Node, Op, Slot, Term, slots

LARGEST = 5  # nobody is asked to count further
SPELLED = {True: "yes", False: "no"}


@dataclass(frozen=True)
class Answer:
    value: str = ""
    reason: str = ""  # why there is none


@dataclass(frozen=True)
class Asked:
    """Programs of one pattern while rules look at them."""

    corpus: Corpus
    world: ImageSets
    columns: Mapping[str, Ints]
    outcome: Outcome
    values_of_group: Ints  # [group, place] words

    def value(self, term: Term) -> Array:
        return self.columns[term.name] if isinstance(term, Slot) else self.outcome.values[term]

    def number(self, term: Term) -> Ints:
        """[row] how many things."""
        return np.asarray(number_of(self.value(term)))


Rule = Callable[[Asked, Node], Bools]  # [row] does it speak against asking?


def _large(asked: Asked, node: Node) -> Bools:
    return np.asarray(asked.value(node) > LARGEST)


def _absent(asked: Asked, node: Node) -> Bools:
    return np.asarray(asked.value(node) == ABSENT)


def _few(asked: Asked, node: Node) -> Bools:
    return np.asarray(asked.number(node.args[0]) < 2)


def _untold(asked: Asked, node: Node) -> Bools:
    """Some of the things have no value of the group."""
    things, group = map(asked.value, node.args)
    told = attributed(asked.world.facts, asked.world.page, things, asked.values_of_group[group])
    return np.asarray(number_of(told) < number_of(things))


def _both(asked: Asked, node: Node) -> Bools:
    thing, x, y = map(asked.value, node.args)
    return has_attribute(asked.world.facts, thing, x) & has_attribute(asked.world.facts, thing, y)


TOO_MANY, TOO_FEW, UNTOLD, BOTH = "a count above 5", "fewer than two things", "attribute not told", "both options"
RULES: dict[Op, tuple[tuple[str, Rule], ...]] = {
    answers.count: ((TOO_MANY, _large),),
    answers.query_attr: ((UNTOLD, _absent),),  # two absent ones would be the same
    answers.choose_attr: ((BOTH, _both),),
    answers.every: ((TOO_FEW, _few),),
    answers.some: ((TOO_FEW, _few),),
    answers.none: ((TOO_FEW, _few),),
    answers.all_same: ((TOO_FEW, _few), (UNTOLD, _untold)),
}


def is_node(term: Term) -> TypeGuard[Node]:
    return isinstance(term, Node)


@dataclass
class Answerer:
    corpus: Corpus

    def answer(self, programs: Sequence[Program], images: Sequence[list[int]]) -> list[Answer]:
        """[question] of each program about its images."""
        members: dict[str, list[int]] = defaultdict(list)
        for row, program in enumerate(programs):
            members[program.pattern].append(row)
        found = [Answer()] * len(programs)
        for pattern, rows in members.items():
            made = self._answers(pattern, [programs[row].words for row in rows], [images[row] for row in rows])
            for row, one in zip(rows, made, strict=True):
                found[row] = one
        return found

    def _answers(self, pattern: str, words: list[tuple[str, ...]], images: list[list[int]]) -> list[Answer]:
        node, said = shape(pattern), list(zip(*words, strict=True))
        columns = {name: self.corpus.positions(said[int(name)], slot.kind) for name, slot in slots(node).items()}
        world = ImageSets(self.corpus, padded(images))
        outcome = evaluate(node, world, columns)
        reasons = self._reasons(Asked(self.corpus, world, columns, outcome, self._values_of_group))
        values = spelled(node, outcome, world)
        return [
            Answer(reason=reason) if reason else Answer(SPELLED[value] if isinstance(value, bool) else str(value))
            for value, reason in zip(values, reasons, strict=True)
        ]

    def _reasons(self, asked: Asked) -> list[str]:
        """[row] what an execution error says, else the first rule that speaks against asking, else nothing."""
        found = np.array([*REASONS, ""], object)[asked.outcome.reason]  # ABSENT is the last
        for node in filter(is_node, asked.outcome.values):
            for reason, speaks_against in RULES.get(node.op, ()):
                found[(found == "") & speaks_against(asked, node)] = reason
        return list(found)

    @cached_property
    def _values_of_group(self) -> Ints:
        group_of, groups = self.corpus.facts.group_of, range(len(self.corpus.groups))
        return padded([np.flatnonzero(group_of == group).tolist() for group in groups])
