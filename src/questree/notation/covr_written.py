"""Rows of COVR's programs as they are written -> columns: each different row is read once, what follows is numbers.

Understood are well-formed programs; of any other there is no answer here, and `CovrShapes` reads it with care.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Raw

from questree.columns.compiled import njit
from questree.columns.joins import Ints, ranges
from questree.notation.covr import Blank, read_row
from questree.tables.hierarchies import Numbers
from questree.terms import Kind, Node, ProgramError, Slot

DEEPEST = 20  # sub-programs inside each other; others are read with care
NEEDS, KINDS = 8, 64  # rows that one needs, and kinds there are, at most: together with its way they fit a number
ODD, UNSURE = -1, -2
MANY = 4096  # rows of unknown operations that are noted at once
Argument = type | int | None  # of a row: the type of a word, how many words a list has, None for a sub-program


class Odd(Exception):
    """A row that is malformed, or so odd that its program is read by itself."""


class Operation(NamedTuple):
    """A row as it is run: its slots "d0", "d1", ... are dependencies, then sub-programs; "0", "1", ... words."""

    node: Node
    kind: int
    needs: int  # rows it depends on
    words: int


@dataclass
class Operations:
    """Rows by what they do with what kinds, each read once."""

    kinds: list[Kind] = field(default_factory=list)
    ways: Numbers[tuple[str, tuple[Argument, ...]]] = field(default_factory=Numbers)  # operation, its arguments
    known: dict[int, int] = field(default_factory=dict)  # a way and kinds of what it needs -> number, ODD if malformed
    read: list[Operation] = field(default_factory=list)

    def settled(self, way: Ints, needs: Ints, counts: Ints) -> tuple[Ints, Ints]:
        """[row] the number of what it does, as it takes the kinds of its needs, ODD if it is malformed; its level."""
        does, level, unknown = np.zeros(len(way), np.int64), np.zeros(len(way), np.int64), np.zeros(MANY, np.int64)
        while True:
            keys = np.array(sorted(self.known), np.int64)
            numbers = np.array([self.known[key] for key in keys.tolist()], np.int64)
            kinds = np.array([*(each.kind for each in self.read), 0])
            missing = _settled(way, needs, counts, keys, numbers, kinds, does, level, unknown)
            if not missing:
                return does, level
            for key in np.unique(unknown[:missing]).tolist():
                self._learn(key)

    def _learn(self, key: int) -> None:
        number, kinds = key, list[int]()
        for _ in range(NEEDS):
            number, kind = divmod(number, KINDS)
            kinds.append(kind)
        try:
            self.known[key] = self._read(number, [kind - 1 for kind in reversed(kinds) if kind])
        except (ProgramError, IndexError):  # malformed, or needs what is
            self.known[key] = ODD

    def _read(self, way: int, kinds: list[int]) -> int:
        operation, types = list(self.ways)[way]
        before = [Slot(f"d{at}", self.kinds[kind]) for at, kind in enumerate(kinds)]
        needs, words = len(before) - types.count(None), iter(range(sum(map(_words, types))))
        inner, arguments = iter(before[needs:]), list[Any]()
        for one in types:
            if one is None:
                arguments.append(next(inner))
            elif isinstance(one, int):
                arguments.append([Blank(str(next(words)), "text") for _ in range(one)])
            else:
                kind = {str: "text", int: "number"}.get(one)
                arguments.append(kind and Blank(str(next(words)), kind))
        row = {"operation": operation, "arguments": arguments, "dependencies": list(range(needs))}
        node = read_row(row, before)
        if node.kind not in self.kinds:
            self.kinds.append(node.kind)
        self.read.append(Operation(node, self.kinds.index(node.kind), len(before), sum(map(_words, types))))
        return len(self.read) - 1


def _words(one: Argument) -> int:
    return one if isinstance(one, int) else int(one in (str, int))


class WrittenRows(dict[bytes, int]):
    """Different rows by their JSON, numbered, ODD if malformed.

    A row with sub-programs is several, those of the sub-programs first, and its own the last.
    """

    def __init__(self) -> None:
        self.operations, self.words = Operations(), Numbers[str | int]()
        self.begin = [0]  # [different row + 1] where its rows are
        self.reach = list[int]()  # [different row] how many rows there must be before it
        self.way = list[int]()  # [row]
        self.needs = list[int]()  # of all rows one after the other: rows of the program, or counted from `begin`
        self.outer = list[bool]()  # whether they are rows of the program
        self.needs_end, self.said_end = [0], [0]  # [row + 1]
        self.said = list[int]()  # words of all rows one after the other

    def numbered(self, rows: Iterable[Any]) -> Ints:
        """[row] its number."""
        return np.fromiter(map(self.__getitem__, map(as_text, rows)), np.int64)

    def __missing__(self, text: bytes) -> int:
        rows, needs, said = len(self.way), len(self.needs), len(self.said)
        try:
            reach = self._add(msgspec.json.decode(text), [])
        except (Odd, AttributeError, LookupError, TypeError, RecursionError, msgspec.MsgspecError, UnicodeError):
            del self.way[rows:], self.needs_end[rows + 1 :], self.said_end[rows + 1 :]
            del self.needs[needs:], self.outer[needs:], self.said[said:]
            self[text] = ODD
            return ODD
        self.begin.append(len(self.way))
        self.reach.append(reach)
        self[text] = number = len(self.reach) - 1
        return number

    def _add(self, row: Any, around: list[list[int]]) -> int:
        """Put down a row, its sub-programs first; how many rows of its program it takes.

        `around`: of each sub-program it is in, the places of the rows before, counted from `begin`.
        """
        if len(row) != 1 + ("dependencies" in row) + ("arguments" in row) or type(row["operation"]) is not str:
            raise Odd
        needs, values = (_items(row.get(name)) for name in ("dependencies", "arguments"))
        words: list[str | int] = []
        types: list[Argument] = []
        inner: list[int] = []  # annotated, not called: this is done for every different row
        for value in values:
            kind = type(value)
            if kind is str or kind is int:
                words.append(value)
                types.append(kind)
            elif value is None:
                types.append(kind)
            elif kind is not list or len(around) == DEEPEST:
                raise Odd
            elif value and type(value[0]) is dict:
                inner.append(self._sub_program(value, around))
                types.append(None)
            elif all(type(word) is str for word in value):
                words += value
                types.append(len(value))
            else:
                raise Odd
        if any(type(at) is not int or at < 0 for at in needs) or len(needs) + len(inner) > NEEDS:
            raise Odd
        self.way.append(self.operations.ways[row["operation"], tuple(types)])
        self.needs += [*([around[-1][at] for at in needs] if around else needs), *inner]
        self.outer += [*[not around] * len(needs), *[False] * len(inner)]
        self.said += [self.words[word] for word in words]
        self.needs_end.append(len(self.needs))
        self.said_end.append(len(self.said))
        return max(needs, default=-1) + 1

    def _sub_program(self, program: list[Any], around: list[list[int]]) -> int:
        """The place of its last row."""
        places: list[int] = []
        for each in program:
            self._add(each, [*around, places])
            places.append(len(self.way) - 1 - self.begin[-1])
        return places[-1]


def _items(value: Any) -> list[Any]:
    if value is not None and type(value) is not list:
        raise Odd
    return value or []


def as_text(row: Any) -> bytes:
    """The JSON of a row; of what has none, one that is malformed."""
    try:
        return bytes(row) if type(row) is Raw else msgspec.json.encode(row)
    except (msgspec.MsgspecError, TypeError, ValueError, RecursionError):
        return b""


@dataclass(frozen=True)
class Rows:
    """Rows of programs one after the other, sub-programs before the row they belong to."""

    written: WrittenRows
    program: Ints  # [row]
    does: Ints  # [row] the number of its operation
    level: Ints  # [row] how many rows stand one behind the other up to it: it needs only rows of lower levels
    needs: Ints  # rows it depends on, of all rows one after the other
    said: Ints  # words, likewise

    @classmethod
    def of(cls, written: WrittenRows, row: Ints, many: Ints) -> tuple["Rows", Ints]:
        """Of programs of so many rows each, numbered one after the other: those that are understood, and which."""
        begin = np.cumsum(many) - many
        program = np.repeat(np.arange(len(many)), many)
        reach = np.array([*written.reach, 0])  # the last for ODD
        wrong = (row == ODD) | (reach[row] > np.arange(len(row)) - begin[program])
        good = many > 0
        good[program[wrong]] = False
        while True:
            found, faulty = cls._columns(written, row[good[program]], many[good])
            if not len(faulty):
                return found, np.flatnonzero(good)
            good[np.flatnonzero(good)[faulty]] = False

    @classmethod
    def _columns(cls, written: WrittenRows, row: Ints, many: Ints) -> tuple["Rows", Ints]:
        """Programs of so many rows each; and those of them that turn out to be malformed."""
        begin, needs_end, said_end = (np.array(own) for own in (written.begin, written.needs_end, written.said_end))
        of, entry = ranges(begin[row], begin[row + 1])  # a row with sub-programs is several
        last = np.cumsum(begin[row + 1] - begin[row]) - 1  # [row] its own
        program = np.repeat(np.arange(len(many)), many)
        first = (np.cumsum(many) - many)[program]  # [row] of its program
        who, need = ranges(needs_end[entry], needs_end[entry + 1])
        at, outer, own = np.array(written.needs, np.int64)[need], np.array(written.outer, bool)[need], of[who]
        above = np.minimum(first[own] + at, own)  # of others it is no row of the program
        needs = np.where(outer, last[above], last[own] + 1 - (begin[row + 1] - begin[row])[own] + at)
        _, word = ranges(said_end[entry], said_end[entry + 1])
        counts, way = np.diff(needs_end)[entry], np.array(written.way, np.int64)[entry]
        does, level = written.operations.settled(way, needs, counts)
        found = cls(written, program[of], does, level, needs, np.array(written.said, np.int64)[word])
        return found, np.unique(found.program[does == ODD])


@njit(cache=True)
def _settled(way, needs, counts, keys, numbers, kinds, does, level, unknown):  # type: ignore[no-untyped-def]
    """Fill in what rows do, UNSURE where that is not known yet, and their levels; how many keys are unknown, which are
    noted as far as there is room. Rows need only rows before them."""
    kind, place, missing = np.zeros(len(way), np.int64), 0, 0
    for row in range(len(way)):
        key, sure, height = way[row], True, 0
        for at in range(NEEDS):
            key *= KINDS
            if at < counts[row]:
                need = needs[place + at]
                sure &= does[need] != UNSURE
                key += kind[need] + 1
                height = max(height, level[need] + 1)
        place, level[row], does[row] = place + counts[row], height, UNSURE
        if not sure:
            continue
        known = np.searchsorted(keys, key)
        if known < len(keys) and keys[known] == key:
            does[row] = numbers[known]
            kind[row] = kinds[does[row]]  # the last for ODD
        elif missing < len(unknown):
            unknown[missing] = key
            missing += 1
    return missing
