"""Consistency rules: what a parent's answer says about its sub-questions' answers, each with its contrapositive."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from questree.program import UNKNOWN, Array

NO, YES = 0, 1


@dataclass(frozen=True)
class Rule:
    """A composition's rule, stated once: `holds` says what the sub-questions must read like when the parent is yes.

    The "yes" rule: a parent answered yes has sub-questions that fulfil it. The "no" rule, its contrapositive:
    sub-questions that break it make the parent no. An equivalence adds the converse of both.
    """

    composition: str
    holds: Callable[[Array], Array]  # [row, part] -> [row]
    equivalence: bool = False

    def check(self, parent: Array, parts: Array) -> dict[str, tuple[Array, Array]]:
        """Per direction, [row] whether the rule applies and whether it is kept; unknown answers are left alone."""
        known = (parent != UNKNOWN) & (parts != UNKNOWN).all(1)
        held = self.holds(parts)
        yes, no = parent == YES, parent == NO
        if self.equivalence:
            return {"yes": (known & (yes | held), yes & held), "no": (known & (no | ~held), no & ~held)}
        return {"yes": (known & yes, held), "no": (known & ~held, no)}


def all_yes(parts: Array) -> Array:
    return np.asarray((parts == YES).all(1))


def yes_then_no(parts: Array) -> Array:
    return np.asarray((parts[:, 0] == YES) & (parts[:, 1] == NO))


RULES: dict[str, Rule] = {
    rule.composition: rule
    for rule in (
        Rule("Interaction", all_yes),
        Rule("After", all_yes),
        Rule("Before", all_yes),
        Rule("While", all_yes),
        Rule("And", all_yes, equivalence=True),
        Rule("Between", all_yes, equivalence=True),
        Rule("Xor", yes_then_no, equivalence=True),
    )
}


def check_equals(parent: Array, object: Array, exists: Array, found: Array) -> dict[str, tuple[Array, Array]]:
    """Equals: yes iff the open sub-question gives the object, which then exists (UNKNOWN: not asked).

    An object that is given but does not exist contradicts a yes and a no alike.
    """
    known = (parent != UNKNOWN) & (found != UNKNOWN) & (object != UNKNOWN)
    given = found == object
    fits = given & (exists != NO)
    yes, no = parent == YES, parent == NO
    return {"yes": (known & (yes | given), yes & fits), "no": (known & (no | ~fits), no & ~given)}


def check_choose(parent: Array, options: tuple[Array, Array], parts: Array) -> tuple[Array, Array]:
    """Choose: the option that was chosen is confirmed by its own sub-question and denied by the other's."""
    first, second = parent == options[0], parent == options[1]
    known = (parent != UNKNOWN) & (parts != UNKNOWN).all(1)
    return known & (first | second), np.where(first, yes_then_no(parts), yes_then_no(parts[:, ::-1]))
