"""Programs of many shapes run row by row: rows that do the same with the same kinds are one batch, whatever is around.

Understood are well-formed programs; of any other there is no answer here, and `CovrShapes` reads it with care.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Raw

from questree.domains.images.batches import SEVERAL, SINGLE
from questree.domains.images.corpus import Corpus, ImageSets, Ints
from questree.domains.images.kinds import LINKS, PADDING
from questree.notation.covr import Blank, read_row
from questree.readings.answer import WELL, evaluate, noted
from questree.tables.hierarchies import Numbers
from questree.terms import Array, Kind, Node, ProgramError, Slot, slots

CHUNK = 32_768  # programs that are run together
DEEPEST = 20  # sub-programs inside each other; others are read with care
Argument = type | int | None  # of a row: the type of a word, how many words a list has, None for a sub-program


class Odd(Exception):
    """A program that is malformed, or so odd that it is read by itself."""


class GivenRow(NamedTuple):
    """A row as it is written."""

    how: int  # its operation and the types of its arguments, numbered
    needs: tuple[int, ...]  # rows of its program
    words: tuple[int, ...]
    inner: "tuple[list[GivenRow], ...]"  # sub-programs


class Operation(NamedTuple):
    """A row as it is run: its slots "d0", "d1", ... are dependencies, then sub-programs; "0", "1", ... words."""

    node: Node
    kind: int
    needs: int  # rows it depends on
    words: int


@dataclass
class Operations:
    """Rows by how they are written and by what they do, each read once."""

    kinds: list[Kind] = field(default_factory=list)
    words: Numbers[str | int] = field(default_factory=Numbers)
    given: dict[bytes, GivenRow] = field(default_factory=dict)
    ways: Numbers[tuple[str, tuple[Argument, ...]]] = field(default_factory=Numbers)
    known: dict[tuple[int, ...], int] = field(default_factory=dict)  # a way, kinds of what it needs -> number
    read: list[Operation] = field(default_factory=list)

    def row(self, row: Any) -> GivenRow:
        """A row, or the JSON of one; Odd, or any error of looking for something, if it is malformed."""
        if type(row) is not Raw:
            return self._given(row, 0)
        text = bytes(row)
        found = self.given.get(text)
        if found is None:
            found = self.given[text] = self._given(msgspec.json.decode(text), 0)
        return found

    def _given(self, row: Any, depth: int) -> GivenRow:
        if len(row) != 1 + ("dependencies" in row) + ("arguments" in row) or type(row["operation"]) is not str:
            raise Odd
        needs, values = (_items(row.get(name)) for name in ("dependencies", "arguments"))
        if any(type(at) is not int or at < 0 for at in needs):
            raise Odd
        words, types, inner = list[str | int](), list[Argument](), list[list[GivenRow]]()
        for value in values:
            kind = type(value)
            if kind is str or kind is int:
                words.append(value)
                types.append(kind)
            elif value is None:
                types.append(kind)
            elif kind is not list or depth == DEEPEST:
                raise Odd
            elif value and type(value[0]) is dict:
                inner.append([self._given(each, depth + 1) for each in value])
                types.append(None)
            elif all(type(word) is str for word in value):
                words += value
                types.append(len(value))
            else:
                raise Odd
        said = tuple(self.words[word] for word in words)
        return GivenRow(self.ways[row["operation"], tuple(types)], tuple(needs), said, tuple(inner))

    def of(self, key: tuple[int, ...], given: GivenRow) -> int:
        """The number of what a row does that is written so and needs these kinds; Odd if it is malformed."""
        operation, types = list(self.ways)[key[0]]
        before = [Slot(f"d{at}", self.kinds[kind]) for at, kind in enumerate(key[1:])]
        inner, names, arguments = iter(before[len(given.needs) :]), iter(map(str, range(len(given.words)))), list[Any]()
        for one in types:
            if one is None:
                arguments.append(next(inner))
            elif isinstance(one, int):
                arguments.append([Blank(next(names), "text") for _ in range(one)])
            else:
                word = {str: "text", int: "number"}.get(one)
                arguments.append(word and Blank(next(names), word))
        row = {"operation": operation, "arguments": arguments, "dependencies": list(range(len(given.needs)))}
        try:
            node = read_row(row, before)
        except ProgramError:
            raise Odd from None
        if node.kind not in self.kinds:
            self.kinds.append(node.kind)
        self.known[key] = len(self.read)
        self.read.append(Operation(node, self.kinds.index(node.kind), len(before), len(given.words)))
        return self.known[key]


def _items(value: Any) -> list[Any]:
    if value is not None and type(value) is not list:
        raise Odd
    return value or []


@dataclass
class Rows:
    """Rows of programs one after the other, sub-programs before the row they belong to."""

    operations: Operations
    program: list[int] = field(default_factory=list)  # [row]
    does: list[int] = field(default_factory=list)  # [row] the number of its operation
    needs: list[int] = field(default_factory=list)  # rows it depends on, of all rows one after the other
    said: list[int] = field(default_factory=list)  # words, likewise

    def add(self, number: int, program: Any) -> bool:
        """Take a program; nothing of it if it is not understood."""
        rows, needs, said = len(self.does), len(self.needs), len(self.said)
        try:
            if type(program) is list and program:
                self._rows([self.operations.row(row) for row in program])
                self.program += [number] * (len(self.does) - rows)
                return True
        except (Odd, AttributeError, LookupError, TypeError, RecursionError, msgspec.MsgspecError, UnicodeError):
            pass
        del self.does[rows:], self.needs[needs:], self.said[said:]
        return False

    def _rows(self, program: Iterable[GivenRow]) -> int:
        """The kind of the last row; Odd, or an IndexError, if one is malformed."""
        does, needs, said, read, known = self.does, self.needs, self.said, self.operations.read, self.operations.known
        kinds: list[int] = []
        place: list[int] = []
        for row in program:
            how, own, words, inner = row
            key: tuple[int, ...]
            needs_own: tuple[int, ...]
            if not own:
                key, needs_own = (how,), ()
            elif len(own) == 1:  # most rows: a list in between takes its time
                key, needs_own = (how, kinds[own[0]]), (place[own[0]],)
            else:
                key, needs_own = (how, *[kinds[at] for at in own]), tuple([place[at] for at in own])
            for each in inner:
                key += (self._rows(each),)
                needs_own += (len(does) - 1,)
            number = known.get(key)
            if number is None:
                number = self.operations.of(key, row)
            needs += needs_own
            said += words
            kinds.append(read[number].kind)
            place.append(len(does))
            does.append(number)
        return kinds[-1]


def _levels(needs: Ints, first: Ints, many: Ints) -> Ints:
    """[row] how many rows stand one behind the other up to it: it needs only rows of lower levels."""
    level, some = np.zeros(len(first), np.int64), many > 0
    while some.any():
        new = level.copy()
        new[some] = np.maximum.reduceat(level[needs], first[some]) + 1
        if np.array_equal(new, level):
            break
        level = new
    return level


@dataclass
class RowsRun:
    """Values of rows by their kinds, and why programs have no answer."""

    corpus: Corpus
    rows: Rows
    images: Ints  # [program, image]
    values: dict[Kind, Array] = field(default_factory=dict)  # [row, ...] of the rows of a kind

    def run(self) -> tuple[list[Any], list[int]]:
        """[program] its value, None without one; [program] position in REASONS of why, WELL with one."""
        rows, program = self.rows, np.array(self.rows.program, np.int64)
        does, needs, said = (np.array(own, np.int64) for own in (rows.does, rows.needs, rows.said))
        begin = np.searchsorted(program, np.arange(len(self.images) + 1))
        step = np.arange(len(program)) - begin[program]
        sizes = np.array([(each.needs, each.words) for each in rows.operations.read], np.int64).reshape(-1, 2)
        first_need, first_word = (np.cumsum(own) - own for own in sizes[does].T)
        page = ImageSets(self.corpus, self.images).page
        reason, words = np.full(len(self.images), WELL, np.int64), list(rows.operations.words)
        where = np.full(len(self.images), len(program))  # [program] the first step that went wrong
        key = _levels(needs, first_need, sizes[does, 0]) * len(sizes) + does
        order = np.argsort(key, kind="stable")
        key = key[order]
        for own in np.split(order, np.flatnonzero(np.diff(key)) + 1) if len(order) else ():
            node, of = rows.operations.read[does[own[0]]].node, program[own]
            world = ImageSets(self.corpus, self.images[of])
            world.__dict__["page"] = page[of]  # as it would find it
            given = dict[str, Array]()

            def column(slot: Slot, own: Ints = own) -> Array:
                if slot.name[0] == "d":
                    return np.asarray(self.values[slot.kind][needs[first_need[own] + int(slot.name[1:])]])
                different, at = np.unique(said[first_word[own] + int(slot.name)], return_inverse=True)
                return np.asarray(self.corpus.positions([words[word] for word in different.tolist()], slot.kind)[at])

            for param, arg in node.named():
                if isinstance(arg, Slot):
                    given[param] = column(arg)
                else:  # what a row leaves out, or a list of words
                    inner = {name: column(slot) for name, slot in slots(arg).items()}
                    given[param] = evaluate(arg, world, inner).values[arg]
            why = np.full(len(own), WELL, np.int64)
            self._keep(node.kind, own, noted(node.kind, node.op.run(world, **given), why), len(program))
            wrong = np.flatnonzero(why != WELL)[::-1]  # of several rows of a program the first stays
            wrong = wrong[step[own[wrong]] < where[of[wrong]]]
            where[of[wrong]], reason[of[wrong]] = step[own[wrong]], why[wrong]
        return self._spelled(begin, page, reason), reason.tolist()

    def _keep(self, kind: Kind, rows: Ints, value: Array, size: int) -> None:
        there = self.values.get(kind)
        if there is None:
            there = self.values[kind] = np.zeros((size, *value.shape[1:]), value.dtype)
        if kind == LINKS:  # as many places as one has at most
            wide = max(there.shape[1], value.shape[1])
            there, value = (
                np.pad(own, ((0, 0), (0, wide - own.shape[1])), constant_values=PADDING) for own in (there, value)
            )
            self.values[kind] = there
        there[rows] = value

    def _spelled(self, begin: Ints, page: Ints, reason: Ints) -> list[Any]:
        found: list[Any] = [None] * len(self.images)
        last, read = begin[1:] - 1, self.rows.operations.read
        run = np.flatnonzero((np.diff(begin) > 0) & (reason == WELL))
        kinds = np.array([each.kind for each in read], np.int64)
        of = kinds[np.array(self.rows.does, np.int64)[last[run]]] if len(run) else run
        for number in np.unique(of).tolist():
            kind, own = self.rows.operations.kinds[number], run[of == number]
            value = self.values[kind][last[own]]
            if kind in SINGLE:
                there = SINGLE[kind](self.corpus, value)
            else:
                there = [SEVERAL[kind](self.corpus, *row) for row in zip(page[own], value, strict=True)]
            for row, one in zip(own.tolist(), there, strict=True):
                found[row] = one
        return found
