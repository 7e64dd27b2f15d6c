"""Many AGQA release strings at once: their words become columns, and what stands between them is read once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from questree.columns.compiled import njit
from questree.notation.agqa import AgqaShape, AgqaShapes, keywords
from questree.tables.nodes import SLOTS
from questree.terms import ACTION, OBJECT, RELATION, Array
from questree.vocabulary.words import Vocabulary

KINDS = (OBJECT, RELATION, ACTION)
UNREAD = -1
MOST = 16  # different words of a string; one with more is read by itself, and refused
ENDS, OPENING, SPACES, SLOT = tuple(b"(),[]"), tuple(b"([,"), tuple(b" \t\n\r\v\f"), ord("$")
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class AgqaColumns:
    """Programs by columns."""

    forms: list[str]  # in our notation, slots $0, $1, ... for words
    form: Array  # [program] position in forms; UNREAD if it cannot be read
    words: Array  # [program, slot] position among the words of the slot's kind
    faults: dict[int, str]  # program -> why it cannot be read


@dataclass
class AgqaReader:
    """Gives what `AgqaShapes.program` gives for each string. Strings that differ in their words alone are looked at
    once; words of no known spelling are left to it, which also says what is wrong."""

    vocabulary: Vocabulary
    _patterns: dict[int, tuple[int, tuple[int, ...], tuple[int, ...]] | None] = field(default_factory=dict)
    _forms: dict[str, int] = field(default_factory=dict)

    @cached_property
    def shapes(self) -> AgqaShapes:
        return AgqaShapes(self.vocabulary)

    @cached_property
    def spellings(self) -> list[str]:
        """What AGQA's notation says itself first, then the words of all kinds."""
        words = dict.fromkeys(name for kind in KINDS for name in self.shapes.words[kind.words])
        return [*sorted(keywords() - {""}), *(word for word in words if word not in keywords())]

    @cached_property
    def positions(self) -> Array:
        """[kind, spelling] position among the words of the kind, UNREAD if it is none of them."""
        tables = [self.shapes.words[kind.words] for kind in KINDS]
        return np.array([[table.get(word, UNREAD) for word in self.spellings] for table in tables], np.int16)

    @cached_property
    def tokens(self) -> tuple[Array, Array, Array, int]:
        """(bytes of the spellings, where each begins, hash table, how many are the notation's own)"""
        text, start = joined(self.spellings)
        slots = 1 << (4 * len(self.spellings)).bit_length()
        return text, start, hash_table(text, start, slots), len(keywords() - {""})

    def read(self, texts: Sequence[str]) -> AgqaColumns:
        pattern, words, sure = cut(*joined(texts), *self.tokens)
        different, first, which = np.unique(pattern, return_index=True, return_inverse=True)
        shapes = [self._shape(key, texts[at]) for key, at in zip(different.tolist(), first.tolist(), strict=True)]
        form, place, kind = (np.full((len(shapes), *more), UNREAD, np.int64) for more in ((), (SLOTS,), (SLOTS,)))
        for row, shape in enumerate(shapes):
            if shape:
                form[row], size = shape[0], len(shape[1])
                place[row, :size], kind[row, :size] = shape[1:]
        used = place[which] != UNREAD
        filled = np.take_along_axis(words, np.maximum(place, 0)[which], 1)
        found = np.where(used, self.positions[np.maximum(kind, 0)[which], filled], 0)
        sure &= (form[which] != UNREAD) & ~(used & (found == UNREAD)).any(1)
        form = np.where(sure, form[which], UNREAD)
        faults = {row: self._alone(texts[row], form, found, row) for row in np.flatnonzero(~sure).tolist()}
        return AgqaColumns(list(self._forms), form, found, {row: fault for row, fault in faults.items() if fault})

    def _alone(self, text: str, form: Array, words: Array, row: int) -> str:
        """Read one string by itself into a row; what is wrong with it, "" if nothing is."""
        shape, spelled = self.shapes.shape(text)
        fault = self.shapes.program(text).fault
        if fault or not isinstance(shape, AgqaShape):
            return str(fault)
        if len(shape.order) > SLOTS:
            return f"program: expected at most {SLOTS} words, got {len(shape.order)}"
        form[row] = self._forms.setdefault(shape.text, len(self._forms))
        for slot, (at, kind) in enumerate(zip(shape.order, shape.kinds, strict=True)):
            words[row, slot] = self.shapes.words[kind.words][spelled[at]]
        return ""

    def _shape(self, pattern: int, text: str) -> tuple[int, tuple[int, ...], tuple[int, ...]] | None:
        """(form, [slot] which word of the string, [slot] its kind)"""
        if pattern not in self._patterns:
            shape, _ = self.shapes.shape(text)
            self._patterns[pattern] = None
            if isinstance(shape, AgqaShape) and len(shape.order) <= SLOTS:
                form = self._forms.setdefault(shape.text, len(self._forms))
                self._patterns[pattern] = form, shape.order, tuple(map(KINDS.index, shape.kinds))
        return self._patterns[pattern]


def joined(texts: Sequence[str]) -> tuple[Array, Array]:
    """The bytes of texts one after the other, and [text + 1] where each begins."""
    raw = [text.encode() for text in texts]
    start = np.zeros(len(raw) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, raw), np.int64, len(raw)), out=start[1:])
    return np.frombuffer(b"".join(raw) or b"\0", np.uint8), start


@njit(cache=True)
def _mixed(key, byte):  # type: ignore[no-untyped-def]
    key = (key ^ np.uint64(byte)) * MULTIPLIER
    return key ^ (key >> np.uint64(29))


@njit(cache=True)
def hash_table(text, start, slots):  # type: ignore[no-untyped-def]
    """[slot] a spelling whose hash leads there, or UNREAD."""
    table = np.full(slots, UNREAD, np.int64)
    for word in range(len(start) - 1):
        key = np.uint64(0)
        for at in range(start[word], start[word + 1]):
            key = _mixed(key, text[at])
        slot = np.int64(key & np.uint64(slots - 1))
        while table[slot] != UNREAD:
            slot = (slot + 1) % slots
        table[slot] = word
    return table


@njit(cache=True)
def _spelling(text, begin, end, names, name_start, table):  # type: ignore[no-untyped-def]
    """Which spelling stands from `begin` to `end`, or UNREAD."""
    key = np.uint64(0)
    for at in range(begin, end):
        key = _mixed(key, text[at])
    slot = np.int64(key & np.uint64(len(table) - 1))
    while table[slot] != UNREAD:
        word = table[slot]
        if name_start[word + 1] - name_start[word] == end - begin:
            same = True
            for at in range(end - begin):
                if names[name_start[word] + at] != text[begin + at]:
                    same = False
                    break
            if same:
                return word
        slot = (slot + 1) % len(table)
    return UNREAD


@njit(cache=True)
def cut(text, start, names, name_start, table, own):  # type: ignore[no-untyped-def]
    """[string] a hash of it with its words numbered, [string, number] those words, [string] are all of them known?

    A word stands at the beginning or behind an opening bracket or a comma; spaces around it do not count.
    """
    rows = len(start) - 1
    pattern, words, sure = np.zeros(rows, np.uint64), np.zeros((rows, MOST), np.int16), np.ones(rows, np.bool_)
    for row in range(rows):
        key, count, at, last, opened = np.uint64(1), 0, start[row], start[row + 1], True
        while at < last:
            byte = text[at]
            space = byte in SPACES
            if not opened or space or byte in ENDS:
                if not space:
                    key, opened = _mixed(key, byte), byte in OPENING
                at += 1
                continue
            begin = at
            while at < last and text[at] not in ENDS:
                at += 1
            end = at
            while text[end - 1] in SPACES:
                end -= 1
            opened = False
            word = _spelling(text, begin, end, names, name_start, table)
            if word == UNREAD:
                sure[row] = False
                break
            if word < own:
                for place in range(begin, end):
                    key = _mixed(key, text[place])
                continue
            number = 0
            while number < count and words[row, number] != word:
                number += 1
            if number == count:
                if count == MOST:
                    sure[row] = False
                    break
                words[row, count] = word
                count += 1
            key = _mixed(_mixed(key, SLOT), number)
        pattern[row] = key if sure[row] else np.uint64(0)
    return pattern, words, sure
