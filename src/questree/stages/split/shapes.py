"""Questions about videos as predicates see them: the form of their program, and its words as columns."""

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from questree.program import Node, Slot, Term
from questree.stages.question_forms import QuestionForm
from questree.stages.questions import Shard
from questree.stages.split.rows import Argument, Piece, QuestionRows, Truth


@dataclass(frozen=True)
class VideoRows(QuestionRows):
    shard: Shard = field(repr=False)
    called = "videos"
    _pieces: dict[int, tuple[Piece, ...]] = field(default_factory=dict, repr=False)

    def pieces(self, code: int) -> tuple[Piece, ...]:
        if code not in self._pieces:
            self._pieces[code] = pieces(self.shard.form(code))
        return self._pieces[code]

    def places(self, at: Truth) -> set[int]:
        return set(np.unique(self.questions["video"].to_numpy()[at]).tolist())

    def named(self, at: list[int]) -> list[str]:
        return self.shard.where(self.questions[at]).named_ids.to_list()


def rows_of(shard: Shard) -> VideoRows:
    return VideoRows(shard.questions, shard.forms, shard.words, shard)


@cache
def pieces(form: QuestionForm) -> tuple[Piece, ...]:
    """The operators of a form, outer ones first."""

    def argument(term: Term) -> Argument:
        if isinstance(term, Slot):
            return Argument(term.kind.name, term.name)
        assert isinstance(term, Node), "the words of a form are slots"
        return Argument(term.kind.name, form.stands.get(term, ""), piece(term))

    def piece(node: Node) -> Piece:
        return Piece(node.op.name, tuple(map(argument, node.args)))

    return inside(piece(form.node))


@cache
def inside(piece: Piece) -> tuple[Piece, ...]:
    """The piece and all pieces in it."""
    return (piece, *(deep for argument in piece.args if argument.piece for deep in inside(argument.piece)))
