"""Answers as numbers, given to rules: no and yes are 0 and 1, words are positions; unknown ones are left alone."""

from collections.abc import Sequence

import numpy as np

from questree.rules import NEVER, NO, YES, Members, NodeColumns, Rule, WordNumbers
from questree.tables.hierarchies import NOTHING
from questree.terms import UNKNOWN, Array

Checks = dict[str, tuple[Array, Array]]


def checked(
    rule: Rule,
    own: Array,
    parts: Array,
    about: Sequence[Array] | None = None,
    inner: Array | None = None,
    times: bool = False,
) -> Checks:
    """The checks of questions [row] and their parts [row, part] of scored types, all answered yes or no unless worded.

    `about`: per part [row] the word it is about; `inner`: [row] has the first part parts of its own?
    `times`: the answers 0 and 1 to the questions are before and after.
    """
    said = np.column_stack([own, parts]).astype(np.int64)  # [row, member]
    words = np.full(said.shape, NOTHING)
    for at, column in enumerate(about or ()):
        words[:, at + 1] = column
    nested = np.zeros(said.shape, bool)
    if inner is not None:
        nested[:, 1] = inner
    every = np.ones(said.size, bool)
    number = {"no": NO, "yes": YES} | ({"before": 0, "after": 1} if times else {})
    option = words.ravel() if about else np.full(said.size, NEVER)
    columns = NodeColumns(
        WordNumbers(number), said.ravel(), words.ravel(), every, every, nested.ravel(), lambda: option
    )
    nodes = np.arange(said.size).reshape(said.shape)
    known = (said != UNKNOWN).all(1)
    found = rule.checks(rule.reads(Members(columns, tuple(nodes.T))))
    return {name: (applies & known, passes) for name, (applies, passes) in found.items()}
