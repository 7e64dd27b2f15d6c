"""Held-out compositions as questions about videos say them: read off programs, referents and answers, not off flags."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from questree.benchmarks.agqa.held_out import DURATION, PAIR, SAID_BY, SEQUENCING, SUPERLATIVE, HeldOut
from questree.columns.joins import Ints
from questree.columns.sets import has
from questree.stages.split.rows import PieceArgument, ProgramShape, QuestionRows, Truth

LISTS = {"nc_seq": SEQUENCING, "nc_sup": SUPERLATIVE, "nc_dur": DURATION, "nc_objrel": PAIR}  # flag -> its list


@dataclass(frozen=True)
class Says:
    """The question says something that a list holds out: in its time, its references, what it asks, or by its answer.

    "Between A and B" says "before" of both; a relation and an object are a pair if the one is said of the other, and so
    are the verb and the object of an action."""

    list: str
    held: HeldOut = field(compare=False, repr=False)

    def __str__(self) -> str:
        return f"says({self.list})"

    def holds(self, rows: QuestionRows) -> Truth:
        return rows.once(self, self._look)

    def _look(self, rows: QuestionRows) -> Truth:
        found = np.zeros(len(rows), bool)
        for code, at in rows.by_shape:
            for columns in dict.fromkeys(self._places(rows.shape(code))):
                found[at] |= self._held_out(*(rows.words[column][at] for column in columns))
        return found

    def _places(self, shape: ProgramShape) -> Iterator[tuple[str, ...]]:
        """Columns of a word, or of a relation and its object."""
        if self.list == PAIR:
            yield from shape.pairs
        ops, kind = SAID_BY.get(self.list, ((), "action"))
        for piece in shape.pieces:
            said = (*piece.args, piece.stands or PieceArgument("", ""))
            if piece.op in ops or not ops:
                yield from ((arg.column,) for arg in said if arg.kind == kind and arg.column)

    def _held_out(self, word: Ints, *object: Ints) -> Truth:
        if object:
            return has(self.held.paired[word], *object)
        known = {SUPERLATIVE: self.held.first, PAIR: self.held.pair_done}
        return np.asarray(known.get(self.list, self.held.action)[word])
