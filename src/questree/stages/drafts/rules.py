"""What speaks against a question although its program has a value: it would not be true, or fair, in plain English."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from questree.domains.images import answers
from questree.domains.images.corpus import Bools, ImageSets, Ints
from questree.domains.images.kinds import ABSENT
from questree.domains.images.loops import attributed, has_attribute, number_of
from questree.program import Array, Node, Op, Slot, Term
from questree.readings.answer import Outcome

LARGEST = 5  # nobody is asked to count further


@dataclass(frozen=True)
class Candidates:
    """Questions of one form while rules look at them."""

    world: ImageSets
    columns: Mapping[str, Ints]
    outcome: Outcome
    values_of_group: Ints  # [group, place] words

    def value(self, term: Term) -> Array:
        return self.columns[term.name] if isinstance(term, Slot) else self.outcome.values[term]

    def number(self, term: Term) -> Ints:
        """[row] how many things."""
        return np.asarray(number_of(self.value(term)))


Rule = Callable[[Candidates, Node], Bools]  # [row] does it speak against asking?


def _large(asked: Candidates, node: Node) -> Bools:
    return np.asarray(asked.value(node) > LARGEST)


def _absent(asked: Candidates, node: Node) -> Bools:
    return np.asarray(asked.value(node) == ABSENT)


def _few(asked: Candidates, node: Node) -> Bools:
    return np.asarray(asked.number(node.args[0]) < 2)


def _untold(asked: Candidates, node: Node) -> Bools:
    """Some of the things have no value of the group."""
    things, group = map(asked.value, node.args)
    told = attributed(asked.world.facts, asked.world.page, things, asked.values_of_group[group])
    return np.asarray(number_of(told) < number_of(things))


def _both(asked: Candidates, node: Node) -> Bools:
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


def against(asked: Candidates) -> Iterator[tuple[str, Bools]]:
    """(reason, [row] does it apply?) in the order the parts of the program are computed."""
    for term in asked.outcome.values:
        if isinstance(term, Node):
            for reason, speaks_against in RULES.get(term.op, ()):
                yield reason, speaks_against(asked, term)
