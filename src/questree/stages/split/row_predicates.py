"""Predicates over questions about image sets: rows of the program, what they range over, template, answer, terms."""

from dataclasses import dataclass

import numpy as np

from questree.stages.split.algebra import Has
from questree.stages.split.program_rows import NUMBER, ImageRows, ProgramRow
from questree.stages.split.rows import Piece, QuestionRows, Truth


@dataclass(frozen=True)
class HasRow(Has):
    """A row of the program itself, not of a quantifier's sub-program."""

    def __str__(self) -> str:
        return f"row({', '.join([self.op, *map(str, self.words)])})"

    def looks_at(self, piece: Piece) -> bool:
        return super().looks_at(piece) and isinstance(piece, ProgramRow) and not piece.inner


@dataclass(frozen=True)
class Over(HasRow):
    """A row of the program itself that depends directly on rows of these operations; ~op: on one that is not."""

    on: tuple[str, ...]

    def __str__(self) -> str:
        return f"over({', '.join([self.op, *self.on])})"

    def looks_at(self, piece: Piece) -> bool:
        return super().looks_at(piece) and isinstance(piece, ProgramRow) and self._depends(list(piece.over))

    def _depends(self, over: list[str]) -> bool:
        for wanted in self.on:
            found = next((op for op in over if (op != wanted[1:] if wanted[0] == "~" else op == wanted)), None)
            if found is None:
                return False
            over.remove(found)
        return True


@dataclass(frozen=True)
class Last(HasRow):
    """The answer comes from this operation."""

    def __str__(self) -> str:
        return f"last({self.op})"

    def looks_at(self, piece: Piece) -> bool:
        return super().looks_at(piece) and isinstance(piece, ProgramRow) and piece.last


@dataclass(frozen=True)
class HasNumber(Has):
    """Some number is given."""

    def __str__(self) -> str:
        return "number"

    def looks_at(self, piece: Piece) -> bool:
        return any(argument.kind == NUMBER for argument in piece.args)


@dataclass(frozen=True)
class OneOf:
    """The template, or the answer, is one of these."""

    column: str
    values: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.column}({', '.join(self.values)})"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray(rows.questions[self.column].is_in(self.values).to_numpy())


@dataclass(frozen=True)
class Numeric:
    """The answer is a number."""

    def __str__(self) -> str:
        return "numeric"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray(rows.questions["answer"].str.contains(r"^-?[0-9]+(\.[0-9]+)?$").to_numpy())


@dataclass(frozen=True)
class OfShape:
    """The program has one of these shapes."""

    codes: frozenset[int]

    def __str__(self) -> str:
        return f"one of {len(self.codes):,} drawn shapes"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.isin(rows.code, list(self.codes))


@dataclass(frozen=True)
class Together:
    """The question has both terms of one of these pairs."""

    pairs: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"one of {len(self.pairs):,} drawn pairs"

    def holds(self, rows: QuestionRows) -> Truth:
        assert isinstance(rows, ImageRows)
        found = np.zeros(len(rows), bool)
        for pair in self.pairs:
            found |= np.logical_and.reduce([term.holds(rows) for term in map(Term, pair)])
        return found


@dataclass(frozen=True)
class Term:
    """The question has this term of the lexical split."""

    name: str

    def __str__(self) -> str:
        return f'term("{self.name}")'

    def holds(self, rows: QuestionRows) -> Truth:
        assert isinstance(rows, ImageRows)
        return rows.has_term(self.name)


@dataclass(frozen=True)
class Among:
    """The question is one of those drawn to stay."""

    ids: frozenset[str]

    def __str__(self) -> str:
        return f"{len(self.ids):,} drawn questions"

    def holds(self, rows: QuestionRows) -> Truth:
        return np.asarray(rows.questions["id"].is_in(list(self.ids)).to_numpy())
