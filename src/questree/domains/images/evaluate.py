"""The value of an image program on every row, and why some rows have none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from questree.domains.images.facts import Ints
from questree.domains.images.kinds import ABSENT, NOT_THERE, REASONS
from questree.domains.images.sets import ImageSets
from questree.program import Array, Node, Slot, Term, Word, fold


@dataclass(frozen=True)
class Outcome:
    reason: Ints  # [row] position in REASONS of what went wrong first, ABSENT where all is well
    values: dict[Term, Array] = field(default_factory=dict)  # of every sub-program; meaningless on undefined rows

    @property
    def defined(self) -> Array:  # [row]
        return np.asarray(self.reason == ABSENT)


def evaluate(program: Node | Sequence[Node], world: ImageSets, rows: Mapping[str, Array] | None = None) -> Outcome:
    """A program, or its parts in the order they are to be run; slots take their columns from `rows`."""
    outcome = Outcome(np.full(len(world), ABSENT, np.int64))

    def leaf(term: Slot | Word) -> Array:
        if isinstance(term, Slot):
            return np.ascontiguousarray((rows or {})[term.name], np.int64)
        return np.full(len(world), world.corpus.position(term), np.int64)

    def run(node: Node, kids: dict[str, Array]) -> Array:
        outcome.values[node] = _noted(node.op.run(world, **kids), outcome.reason)
        return outcome.values[node]

    for part in (program,) if isinstance(program, Node) else program:
        fold(part, leaf, run, outcome.values)
    return outcome


def _noted(value: Array, reason: Ints) -> Array:
    """The value; where it says why there is none, that is noted, and something harmless takes its place."""
    code = value if value.ndim == 1 or not value.shape[1] else value[:, 0]  # [row]
    if value.dtype == bool or not (wrong := code <= NOT_THERE).any():
        return value
    new = wrong & (reason == ABSENT)
    reason[new] = NOT_THERE - code[new]
    return np.where(wrong if value.ndim == 1 else wrong[:, None], value.dtype.type(0), value)


def reasons(outcome: Outcome) -> list[str | None]:
    """[row] why there is no answer."""
    return [None if code == ABSENT else REASONS[code] for code in outcome.reason]
