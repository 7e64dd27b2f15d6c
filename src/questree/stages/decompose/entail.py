"""What a composition's rule lets one conclude: contrapositives fall out of trying all completions of what is known."""

from functools import cache
from itertools import product

import numpy as np

from questree.program import UNKNOWN, Array
from questree.rules import NO, RULES, YES, Rule, all_yes, check_choose, check_equals

OPEN = 2  # the state of a member whose answer is not known
# Scored like And, but no children make it one (13.6): only what follows from a yes, or from a no below, may be used.
ONE_WAY = {"Between": Rule("Between", all_yes)}


def allowed(label: str, members: int) -> Array:
    """[parent, part, ...] may these answers stand together? Each axis is no, yes; `members` counts the parent."""
    rows = np.array(list(product((NO, YES), repeat=members)))  # [row, member]
    parent, parts = rows[:, 0], rows[:, 1:]
    if label == "Choose":  # the parent's yes stands for its first option
        applies, kept = check_choose(parent, (np.full(len(rows), YES), np.full(len(rows), NO)), parts)
        checks = {"": (applies, kept)}
    elif label == "Equals":  # members: the question, does the object exist, is it the one that is given
        checks = check_equals(parent, np.full(len(rows), YES), parts[:, 0], parts[:, 1])
    elif label == "Same":  # equals of two open questions: are their answers the same?
        checks = check_equals(parent, np.full(len(rows), YES), np.full(len(rows), UNKNOWN), parts[:, 0])
    else:
        checks = (RULES | ONE_WAY)[label].check(parent, parts)
    fine = np.logical_and.reduce([~applies | kept for applies, kept in checks.values()])
    return np.asarray(fine).reshape((2,) * members)


@cache
def conclusions(label: str, members: int) -> tuple[Array, Array]:
    """[code, member] the answer each member must have, UNKNOWN if it may have either; [code] is there none at all?

    The code of a row is its members' states (no, yes, OPEN) as digits to the base 3, the parent's first.
    """
    fine = allowed(label, members)
    found = np.full((3**members, members), UNKNOWN, np.int16)
    clash = np.zeros(3**members, bool)
    for code, states in enumerate(product((NO, YES, OPEN), repeat=members)):
        ways = [row for row in product(*((state,) if state != OPEN else (NO, YES) for state in states)) if fine[row]]
        clash[code] = not ways
        for member, values in enumerate(zip(*ways, strict=True)):
            if len(set(values)) == 1:
                found[code, member] = values[0]
    return found, clash


def coded(states: Array) -> Array:
    """[row] the code of states [row, member]."""
    weights = 3 ** np.arange(states.shape[1])[::-1]
    return np.asarray(np.where(states == UNKNOWN, OPEN, states) @ weights)
