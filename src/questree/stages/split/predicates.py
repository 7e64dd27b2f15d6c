"""Predicates over questions: each says for every row of a table whether it holds."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.stages.split.shapes import Piece, Rows, shape

Truth = NDArray[np.bool_]  # [question]


@dataclass(frozen=True)
class Word:
    kind: str  # action, object or relation
    position: int
    name: str

    def __str__(self) -> str:
        return f'{self.kind}="{self.name}"'


@dataclass(frozen=True)
class Has:
    """The program has this operator (any, if it is ""), and its arguments stand for these words."""

    op: str
    words: tuple[Word, ...]

    def __str__(self) -> str:
        inner = ", ".join([*([self.op] if self.op else []), *map(str, self.words)])
        return f"{'has' if self.op else 'uses'}({inner})"

    def holds(self, rows: Rows) -> Truth:
        found = np.zeros(len(rows), bool)
        for code, at in rows.by_shape:
            for piece in inside(shape(code)):
                columns = [word_columns(piece, word.kind) for word in self.words]
                if self.op in ("", piece.op) and all(columns):
                    found[at] |= self._stands_for(columns, rows, at)
        return found

    def _stands_for(self, columns: list[list[str]], rows: Rows, at: NDArray[Any]) -> Truth:
        """[row of `at`] for each word, does one of its columns hold it?"""
        held = np.ones(len(at), bool)
        for word, own in zip(self.words, columns, strict=True):
            held &= np.logical_or.reduce([rows.words[column][at] == word.position for column in own])
        return held


@cache
def inside(piece: Piece) -> tuple[Piece, ...]:
    """The piece and all pieces in it."""
    return (piece, *(deep for argument in piece.args if argument.piece for deep in inside(argument.piece)))


@cache
def word_columns(piece: Piece, kind: str) -> list[str]:
    """Columns of what its arguments of this kind stand for."""
    return [argument.column for argument in piece.args if argument.kind == kind and argument.column]


@dataclass(frozen=True)
class OfTemplate:
    """What is known from the template alone."""

    name: str
    values: tuple[str, ...]
    holds_for: tuple[bool, ...]  # [template]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.values)})"

    def holds(self, rows: Rows) -> Truth:
        return np.asarray(np.array(self.holds_for)[rows.questions["template"].to_numpy()])


@dataclass(frozen=True)
class Answer:
    """The answer is one of these words."""

    values: tuple[str, ...]
    codes: tuple[frozenset[int], ...]  # [template] the answers these words are

    def __str__(self) -> str:
        return "answer(" + ", ".join(f'"{value}"' for value in self.values) + ")"

    def holds(self, rows: Rows) -> Truth:
        table = np.zeros((len(self.codes), 256), bool)  # [template, answer]
        for template, codes in enumerate(self.codes):
            table[template, list(codes)] = True
        return np.asarray(table[rows.questions["template"].to_numpy(), rows.questions["answer"].to_numpy()])


@dataclass(frozen=True)
class Flags:
    """At least one of these flags is set."""

    name: str
    bits: int

    def __str__(self) -> str:
        return self.name

    def holds(self, rows: Rows) -> Truth:
        return np.asarray((rows.questions["flags"].to_numpy() & np.uint8(self.bits)) > 0)


@dataclass(frozen=True)
class Time:
    """The time phrase is of one of these kinds."""

    kinds: tuple[str, ...]
    codes: tuple[int, ...]

    def __str__(self) -> str:
        return f"time({', '.join(self.kinds)})"

    def holds(self, rows: Rows) -> Truth:
        return np.isin(rows.questions["time"].to_numpy() & 255, self.codes)


@dataclass(frozen=True)
class Steps:
    """Reasoning steps compared with a number."""

    relation: str
    number: int

    def __str__(self) -> str:
        return f"(steps {self.relation} {self.number})"

    def holds(self, rows: Rows) -> Truth:
        steps = rows.questions["steps"].to_numpy().astype(np.int64)
        return np.asarray(COMPARE[self.relation](steps, self.number))


COMPARE = {
    ">": np.greater,
    "<": np.less,
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "==": np.equal,
    "!=": np.not_equal,
}


@dataclass(frozen=True)
class MoreSteps:
    """More steps than the template's threshold."""

    most: tuple[int, ...]  # [template]

    def __str__(self) -> str:
        return "more_steps"

    def holds(self, rows: Rows) -> Truth:
        steps, template = (rows.questions[name].to_numpy() for name in ("steps", "template"))
        return np.asarray(steps > np.array(self.most)[template])


@dataclass(frozen=True)
class Not:
    of: "Predicate"

    def __str__(self) -> str:
        return f"~{self.of}"

    def holds(self, rows: Rows) -> Truth:
        return ~self.of.holds(rows)


@dataclass(frozen=True)
class Both:
    left: "Predicate"
    right: "Predicate"

    def __str__(self) -> str:
        return f"({self.left} & {self.right})"

    def holds(self, rows: Rows) -> Truth:
        return self.left.holds(rows) & self.right.holds(rows)


@dataclass(frozen=True)
class Either:
    left: "Predicate"
    right: "Predicate"

    def __str__(self) -> str:
        return f"({self.left} | {self.right})"

    def holds(self, rows: Rows) -> Truth:
        return self.left.holds(rows) | self.right.holds(rows)


Predicate = Has | OfTemplate | Answer | Flags | Time | Steps | MoreSteps | Not | Both | Either


def parts(of: Predicate) -> list[Has]:
    """What a held-out composition is made of: its operators, and its words, each on its own."""
    match of:
        case Both(left, right) | Either(left, right):
            return list(dict.fromkeys(parts(left) + parts(right)))
        case Has(op, words) if op and words:
            return [Has(op, ()), *(Has("", (word,)) for word in words)]
        case Has():
            return [of]
        case _:
            return []  # what is denied is no part, and flags and columns have none
