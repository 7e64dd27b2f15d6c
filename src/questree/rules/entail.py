"""What a rule lets one conclude: contrapositives fall out of trying all completions of what is known."""

from functools import cache
from itertools import product

import numpy as np

from questree.rules.rule import NO, YES, Bools, Ints, Members, NodeColumns, Rule, WordNumbers
from questree.tables.hierarchies import NOTHING

OPEN = 2  # the state of a member whose answer is not known
OTHER, NAMED = 2, 3  # words that a worded member is answered with for no and for yes


def allowed(rule: Rule, members: int) -> Bools:
    """[parent, part, ...] may these answers stand together? Each axis is no, yes; `members` counts the parent."""
    states = np.array(list(product((NO, YES), repeat=members)))  # [row, member]
    about = np.full(states.shape, NOTHING)
    if rule.worded is not None:
        states[:, rule.worded] += OTHER
        about[:, 1:3] = NAMED, OTHER
    nodes = np.arange(states.size).reshape(states.shape)
    every, none = np.ones(states.size, bool), np.zeros(states.size, bool)
    words = WordNumbers({"no": NO, "yes": YES})
    columns = NodeColumns(words, states.ravel(), about.ravel(), every, every, none, lambda: about.ravel())
    return rule.allows(Members(columns, tuple(nodes.T))).reshape((2,) * members)


@cache
def conclusions(rule: Rule, members: int) -> tuple[Ints, Bools]:
    """[code, member] the answer each member must have, NOTHING if it may have either; [code] is there none at all?

    The code of a row is its members' states (no, yes, OPEN) as digits to the base 3, the parent's first.
    """
    fine = allowed(rule, members)
    found = np.full((3**members, members), NOTHING, np.int16)
    clash = np.zeros(3**members, bool)
    for code, states in enumerate(product((NO, YES, OPEN), repeat=members)):
        ways = [row for row in product(*((state,) if state != OPEN else (NO, YES) for state in states)) if fine[row]]
        clash[code] = not ways
        for member, values in enumerate(zip(*ways, strict=True)):
            if len(set(values)) == 1:
                found[code, member] = values[0]
    return found, clash


def coded(states: Ints) -> Ints:
    """[row] the code of states [row, member]."""
    weights = 3 ** np.arange(states.shape[1])[::-1]
    return np.asarray(np.where(states == NOTHING, OPEN, states) @ weights)
