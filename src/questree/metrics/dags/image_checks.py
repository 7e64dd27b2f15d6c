"""What the sub-questions of questions about image sets say: the families of their consistency rules.

p is the parent's prediction, s1, s2 its children's; a number is what a prediction spells. Ground truth is not used.
A child without the kind of answer its rule needs (a number, yes or no) leaves the rule out.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.metrics.dags.answered import Answered
from questree.metrics.dags.families import Bools, Family, Ints
from questree.tables.hierarchies import NOTHING

Floats = NDArray[np.float64]
COMPARE: dict[str, Callable[[Floats, Floats], Any]] = {
    "Equal": np.equal,
    "More": np.greater,
    "Less": np.less,
    "At Least": np.greater_equal,
    "At Most": np.less_equal,
}


class ImageFamilies:
    """Compositions with their children side by side; `rows` are rows in `composed`."""

    def __init__(self, model: Answered):
        found = model.hierarchies
        self.model, self.word = model, model.words
        self.child = found.edges["child"].to_numpy()
        self.parent = found.composed["parent"].to_numpy()
        self.first = found.composed["first"].to_numpy()
        self.edges = found.composed["edges"].to_numpy()

    @cached_property
    def spelled(self) -> Floats:
        """[word] the number it spells; NaN for others and, as the last, for no prediction."""
        return np.array([float(word) if word.isdecimal() else np.nan for word in [*self.model.number, ""]])

    def said(self, rows: Ints, at: int) -> Ints:
        """[row] prediction of the parent (at 0) or of its first or second child."""
        node = self.parent[rows] if at == 0 else self.child[self.first[rows] + at - 1]
        return np.asarray(self.model.prediction[node])

    def number(self, rows: Ints, at: int) -> Floats:
        return self.spelled[self.said(rows, at)]

    def either_way(self, name: str, rows: Ints, known: Bools, holds: Bools, yes: Bools, no: Bools) -> Family:
        """Yes exactly when the condition holds."""
        return Family(name, "match", rows[known], yes[known], no[known], holds[known], holds[known])

    def yes_if(self, name: str, rows: Ints, known: Bools, holds: Bools) -> Family:
        p = self.said(rows, 0)
        return self.either_way(name, rows, known, holds, p == self.word["yes"], p == self.word["no"])

    def implied(self, name: str, rows: Ints, known: Bools, passes: Bools) -> Family:
        """A single rule."""
        none = np.zeros(int(known.sum()), bool)
        return Family(name, "choose", rows[known], none, none, passes[known], none, np.zeros(len(none), np.int64))

    def is_yes_no(self, said: Ints) -> Bools:
        return np.asarray((said == self.word["yes"]) | (said == self.word["no"]))

    def families(self, of: dict[str, Ints]) -> Iterator[Family]:
        """Name of a composition -> its rows."""
        for name, make in (("Positive", self.positive), ("Subset", self.subset), ("Unique", self.unique)):
            if name in of:
                yield make(of[name])
        for name in (name for name in COMPARE if name in of):
            yield self.compared(name, of[name])
        for name in ("Some", "Verify", "No"):
            if name in of:
                s1 = self.said(of[name], 1)
                wanted = self.word["no" if name == "No" else "yes"]
                yield self.yes_if(name, of[name], self.is_yes_no(s1), s1 == wanted)
        for name, pair in (("Or", self.either), ("All", self.all), ("Same Attribute", self.same)):
            if name in of:
                yield pair(of[name])
        if "Choose" in of:
            yield self.choose(of["Choose"])

    def positive(self, rows: Ints) -> Family:
        """p > 0 exactly when s1 = yes."""
        p, s1 = self.number(rows, 0), self.said(rows, 1)
        known = ~np.isnan(p) & self.is_yes_no(s1)
        return self.either_way("Positive", rows, known, s1 == self.word["yes"], p > 0, p == 0)

    def subset(self, rows: Ints) -> Family:
        """p <= s1."""
        p, s1 = self.number(rows, 0), self.number(rows, 1)
        return self.implied("Subset", rows, ~np.isnan(p) & ~np.isnan(s1), p <= s1)

    def unique(self, rows: Ints) -> Family:
        """Whatever is said of the one thing, s1 = 1."""
        s1 = self.number(rows, 1)
        return self.implied("Unique", rows, (self.said(rows, 0) != NOTHING) & ~np.isnan(s1), s1 == 1)

    def compared(self, name: str, rows: Ints) -> Family:
        """Yes exactly when s1 compares so with s2, or with the number the question names."""
        first = self.number(rows, 1)
        named = self.spelled[self.model.column("object")[self.parent[rows]]]
        two = self.edges[rows] > 1
        second = np.where(two, self.spelled[self._second(rows)], named)
        known = ~np.isnan(first) & ~np.isnan(second)
        return self.yes_if(name, rows, known, COMPARE[name](first, second))

    def _second(self, rows: Ints) -> Ints:
        """[row] prediction of the second child, NOTHING where there is only one."""
        two = self.edges[rows] > 1
        return np.where(two, self.model.prediction[self.child[self.first[rows] + two]], NOTHING)

    def either(self, rows: Ints) -> Family:
        """Yes exactly when s1 or s2 is yes."""
        s1, s2 = self.said(rows, 1), self.said(rows, 2)
        holds = (s1 == self.word["yes"]) | (s2 == self.word["yes"])
        return self.yes_if("Or", rows, self.is_yes_no(s1) & self.is_yes_no(s2), holds)

    def all(self, rows: Ints) -> Family:
        """Yes exactly when there are as many things that fulfil the condition (s2) as things (s1)."""
        s1, s2 = self.number(rows, 1), self.number(rows, 2)
        return self.yes_if("All", rows, ~np.isnan(s1) & ~np.isnan(s2), s1 == s2)

    def same(self, rows: Ints) -> Family:
        """Yes exactly when s1 = s2."""
        s1, s2 = self.said(rows, 1), self.said(rows, 2)
        return self.yes_if("Same Attribute", rows, (s1 != NOTHING) & (s2 != NOTHING), s1 == s2)

    def choose(self, rows: Ints) -> Family:
        """The first option: s1 = yes. The second: s1 = no and s2 = yes."""
        p, s1, s2 = (self.said(rows, at) for at in range(3))
        options = self.model.column("object")
        one, two = (options[self.child[self.first[rows] + at]] for at in range(2))
        first, second = p == one, (p == two) & (p != one)
        yes, no = self.word["yes"], self.word["no"]
        known = (first | second) & (p != NOTHING) & self.is_yes_no(s1) & self.is_yes_no(s2)
        return self.implied("Choose", rows, known, np.where(first, s1 == yes, (s1 == no) & (s2 == yes)))
