"""The algebra of predicates: what a program has, and, or, not; each says for every row whether it holds."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from questree.stages.split.rows import Piece, QuestionRows, Truth


class Predicate(Protocol):
    """Written as in the language of predicates, by str; frozen, so that equal ones are one."""

    def holds(self, rows: QuestionRows) -> Truth: ...


@dataclass(frozen=True)
class PredicateWord:
    kind: str  # action, object, relation; noun, attribute, ...
    position: int
    name: str

    def __str__(self) -> str:
        return f'{self.kind}="{self.name}"'


@dataclass(frozen=True)
class Has:
    """The program has this operator (any, if it is ""), and its arguments stand for these words."""

    op: str
    words: tuple[PredicateWord, ...]

    def __str__(self) -> str:
        inner = ", ".join([*([self.op] if self.op else []), *map(str, self.words)])
        return f"{'has' if self.op else 'uses'}({inner})"

    def looks_at(self, piece: Piece) -> bool:
        return self.op in ("", piece.op)

    def holds(self, rows: QuestionRows) -> Truth:
        found = np.zeros(len(rows), bool)
        for code, at in rows.by_shape:
            for piece in rows.pieces(code):
                if self.looks_at(piece):
                    columns = [word_columns(piece, word.kind) for word in self.words]
                    if all(columns):
                        found[at] |= self._stands_for(columns, rows, at)
        return found

    def _stands_for(self, columns: list[list[str]], rows: QuestionRows, at: NDArray[Any]) -> Truth:
        """[row of `at`] for each word, does one of its columns hold it?"""
        held = np.ones(len(at), bool)
        for word, own in zip(self.words, columns, strict=True):
            held &= np.logical_or.reduce([rows.words[column][at] == word.position for column in own])
        return held


def word_columns(piece: Piece, kind: str) -> list[str]:
    """Columns of what its arguments of this kind stand for."""
    return [argument.column for argument in piece.args if argument.kind == kind and argument.column]


@dataclass(frozen=True)
class Not:
    of: "Predicate"

    def __str__(self) -> str:
        return f"~{self.of}"

    def holds(self, rows: QuestionRows) -> Truth:
        return ~self.of.holds(rows)


@dataclass(frozen=True)
class Both:
    left: "Predicate"
    right: "Predicate"

    def __str__(self) -> str:
        return f"({self.left} & {self.right})"

    def holds(self, rows: QuestionRows) -> Truth:
        return self.left.holds(rows) & self.right.holds(rows)


@dataclass(frozen=True)
class Either:
    left: "Predicate"
    right: "Predicate"

    def __str__(self) -> str:
        return f"({self.left} | {self.right})"

    def holds(self, rows: QuestionRows) -> Truth:
        return self.left.holds(rows) | self.right.holds(rows)


@dataclass(frozen=True)
class NamedPredicate:
    """A predicate that has a name of its own."""

    name: str
    of: "Predicate"

    def __str__(self) -> str:
        return self.name

    def holds(self, rows: QuestionRows) -> Truth:
        return self.of.holds(rows)


def parts(of: Predicate) -> list[Predicate]:
    """What a held-out composition is made of: its operators, and its words, each on its own."""
    match of:
        case Both(left, right) | Either(left, right):
            return list(dict.fromkeys(parts(left) + parts(right)))
        case Has(op, words) if op and words:
            return [Has(op, ()), *(Has("", (word,)) for word in words)]
        case Has() | NamedPredicate():
            return [of]
        case _:
            return []  # what is denied is no part, and flags and columns have none
