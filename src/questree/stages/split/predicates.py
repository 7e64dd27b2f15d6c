"""Predicates over questions: what a program has, what columns say, and, or, not; each says where it holds."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from questree.columns.joins import Ints
from questree.stages.split.rows import OperatorPiece, QuestionRows, Truth


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
    words: tuple[PredicateWord, ...] = ()
    where: str = "has"  # anywhere; row, over, last: not in a quantifier's sub-program; last: it gives the answer
    on: tuple[str, ...] = ()  # it depends on these; ~op: on one that is not op

    def __str__(self) -> str:
        inner = ", ".join([*([self.op] if self.op else []), *map(str, self.words), *self.on])
        return f"{self.where if self.op else 'uses'}({inner})"

    def looks_at(self, piece: OperatorPiece) -> bool:
        fits = self.op in ("", piece.op) and not (piece.inner and self.where != "has")
        return fits and (piece.last or self.where != "last") and self._depends(list(piece.over))

    def _depends(self, over: list[str]) -> bool:
        """Does each of `on` find an operator of its own?"""
        for wanted in self.on:
            found = next((op for op in over if (op != wanted[1:] if wanted[0] == "~" else op == wanted)), None)
            if found is None:
                return False
            over.remove(found)
        return True

    def holds(self, rows: QuestionRows) -> Truth:
        found = np.zeros(len(rows), bool)
        for code, at in rows.by_shape:
            for piece in filter(self.looks_at, rows.shape(code).pieces):
                columns = [[a.column for a in piece.args if a.kind == word.kind and a.column] for word in self.words]
                if all(columns):
                    found[at] |= self._stands_for(columns, rows, at)
        return found

    def _stands_for(self, columns: list[list[str]], rows: QuestionRows, at: Ints) -> Truth:
        """[row of `at`] for each word, does one of its columns hold it?"""
        held = np.ones(len(at), bool)
        for word, own in zip(self.words, columns, strict=True):
            held &= np.logical_or.reduce([rows.words[column][at] == word.position for column in own])
        return held


@dataclass(frozen=True)
class OfColumns:
    """What is known from columns alone; `about` tells those apart that are written alike."""

    text: str
    look: Callable[[QuestionRows], Truth] = field(compare=False, repr=False)
    about: Hashable = ()

    def __str__(self) -> str:
        return self.text

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray(self.look(rows))


@dataclass(frozen=True)
class Not:
    of: Predicate

    def __str__(self) -> str:
        return f"~{self.of}"

    def holds(self, rows: QuestionRows) -> Truth:
        return ~self.of.holds(rows)


@dataclass(frozen=True)
class Joined:
    left: Predicate
    right: Predicate
    sign: ClassVar[str]
    join: ClassVar[np.ufunc]

    def __str__(self) -> str:
        return f"({self.left} {self.sign} {self.right})"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray(self.join(self.left.holds(rows), self.right.holds(rows)))


class Both(Joined):
    sign, join = "&", np.logical_and


class Either(Joined):
    sign, join = "|", np.logical_or


@dataclass(frozen=True)
class NamedPredicate:
    """A predicate that has a name of its own: splits and proofs ask for it again and again."""

    name: str
    of: Predicate

    def __str__(self) -> str:
        return self.name

    def holds(self, rows: QuestionRows) -> Truth:
        return rows.once(self, self.of.holds)


def parts(of: Predicate) -> list[Predicate]:
    """What a held-out composition is made of: its operators, and its words, each on its own."""
    match of:
        case Joined(left, right):
            return list(dict.fromkeys(parts(left) + parts(right)))
        case Has(op, words) if op and words:
            return [Has(op), *(Has("", (word,)) for word in words)]
        case Has() | NamedPredicate():
            return [of]
        case _:
            return []  # what is denied is no part, and columns have none
