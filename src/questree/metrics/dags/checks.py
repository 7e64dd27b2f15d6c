"""What the children of every composition say, and from it which consistency rules apply to a parent and pass.

AGQA-Decomp, section 4 "Internal Consistency" and supplement, Table 5, with the contrapositives. Ground truth is not
used. a is the parent's prediction; s1, s2 its two children's; v the predictions of its yes/no children.
"""

from collections.abc import Iterator

import numpy as np

from questree.metrics.dags.answered import Answered
from questree.metrics.dags.composition import span_sums
from questree.metrics.dags.families import Bools, Family, Ints
from questree.metrics.dags.image_checks import ImageFamilies
from questree.metrics.dags.names import IMAGE_SETS
from questree.tables.hierarchies import NOTHING


def families(model: Answered, chosen: Bools) -> Iterator[Family]:
    """Every kind of composition whose parents are chosen ([node]) and to which some rule could apply."""
    found = model.hierarchies
    composition = found.composed["composition"].to_numpy()
    wanted = chosen[found.composed["parent"].to_numpy()]
    number = {name: at for at, name in enumerate(found.compositions)}
    of = {name: np.flatnonzero(wanted & (composition == at)) for name, at in number.items()}
    yield from _ways(model, {name: of[name] for name in (*model.scheme.one_way, *model.scheme.both_ways) if name in of})
    if model.scheme is IMAGE_SETS:
        yield from ImageFamilies(model).families(of)
        return
    pairs = Pairs(model)
    if "Xor" in of:
        yield pairs.xor(of["Xor"])
    if "Equals" in of:
        yield pairs.equals(of["Equals"])
    if "Choose" in of:
        yield pairs.choose(of["Choose"])


def _ways(model: Answered, of: dict[str, Ints]) -> Iterator[Family]:
    found, child = model.hierarchies, model.hierarchies.edges["child"].to_numpy()
    told, counted = model.prediction[child], model.yes_no[child]
    start, length = (found.composed[name].to_numpy().astype(np.int64) for name in ("first", "edges"))
    flags = (counted, counted & (told == model.words["yes"]), counted & (told == model.words["no"]))
    children, yes, no = (span_sums(flag, start, length) for flag in flags)
    for name, every in of.items():
        rows = every[children[every] > 0]
        a = model.prediction[found.composed["parent"].to_numpy()[rows]]
        kind = "one way" if name in model.scheme.one_way else "both ways"
        says_yes, says_no = a == model.words["yes"], a == model.words["no"]
        yield Family(name, kind, rows, says_yes, says_no, yes[rows] == children[rows], no[rows] == 0)


class Pairs:
    """Compositions of exactly two scored children."""

    def __init__(self, model: Answered):
        found = self.found = model.hierarchies
        self.model = model
        self.child = found.edges["child"].to_numpy()
        self.parent = found.composed["parent"].to_numpy()
        self.start = found.composed["first"].to_numpy()
        self.edges = found.composed["edges"].to_numpy()

    def _two(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """The rows with two scored children, and these children (nodes)."""
        rows = rows[self.edges[rows] == 2]
        one, two = self.child[self.start[rows]], self.child[self.start[rows] + 1]
        scored = self.model.scored
        kept = scored[one] & scored[two]
        return rows[kept], one[kept], two[kept]

    def _family(self, name: str, rows: Ints, holds: Bools, near: Bools) -> Family:
        a = self.model.prediction[self.parent[rows]]
        return Family(name, "match", rows, a == self.model.words["yes"], a == self.model.words["no"], holds, near)

    def xor(self, rows: Ints) -> Family:
        """M = (s1 = yes and s2 = no)."""
        rows, one, two = self._two(rows)
        said, word = self.model.prediction, self.model.words
        match = (said[one] == word["yes"]) & (said[two] == word["no"])
        return self._family("Xor", rows, match, match)

    def equals(self, rows: Ints) -> Family:
        """Child 1 has parts: M = (s1 = s2). It asks whether o exists: E = (s2 = o), OK = E and s1 = yes."""
        object_equals = [at for at, name in enumerate(self.found.types) if name == "Object Equals"]
        rows = rows[np.isin(self.model.column("type")[self.parent[rows]], object_equals)]
        rows, one, two = self._two(rows)
        said, thing = self.model.prediction, self.model.column("object")
        inner = self.model.column("parent")[one]
        exists = ~inner & (thing[one] != NOTHING)
        same = inner & (said[one] == said[two]) & (said[one] != NOTHING)
        named = exists & (said[two] == thing[one])
        known = inner | exists
        holds = same | (named & (said[one] == self.model.words["yes"]))
        return self._family("Equals", rows[known], holds[known], (same | named)[known])

    def choose(self, rows: Ints) -> Family:
        """before/after: children (yes, no) / (no, yes); an option's object: that option's child yes, the other no."""
        rows, one, two = self._two(rows)
        said, word = self.model.prediction, self.model.words
        a, s1, s2 = said[self.parent[rows]], said[one], said[two]
        option, has_equals = self._options()
        both = has_equals[one] & has_equals[two] & (a != NOTHING)
        before, after = a == word["before"], a == word["after"]
        temporal = before | after
        is_one = both & ~temporal & (option[one] == a)
        is_two = both & ~temporal & ~is_one & (option[two] == a)
        expects_one = before | is_one
        passes = np.where(
            expects_one, (s1 == word["yes"]) & (s2 == word["no"]), (s1 == word["no"]) & (s2 == word["yes"])
        )
        kept = temporal | is_one | is_two
        rule = np.where(temporal, 0, 1)[kept]
        none = np.zeros(int(kept.sum()), bool)
        return Family("Choose", "choose", rows[kept], none, none, passes[kept], none, rule)

    def _options(self) -> tuple[Ints, Bools]:
        """[node] the object asked about by the first child of its Equals composition; [node] whether it has one."""
        number = [at for at, name in enumerate(self.found.compositions) if name == "Equals"]
        rows = np.flatnonzero(np.isin(self.found.composed["composition"].to_numpy(), number))
        has = np.zeros(len(self.model.scored), bool)
        has[self.parent[rows]] = True
        rows = rows[self.edges[rows] > 0]
        option = np.full(len(has), NOTHING, np.int32)
        option[self.parent[rows]] = self.model.column("object")[self.child[self.start[rows]]]
        return option, has
