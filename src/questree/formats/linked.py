"""Pickles of dictionaries that point at each other, written piece by piece and without recursion."""

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

PROTOCOL = b"\x80\x03"
NONE, TRUE, FALSE, STOP, POP, MARK = b"N", b"\x88", b"\x89", b".", b"0", b"("
EMPTY_DICT, EMPTY_LIST, SET_ITEM, SET_ITEMS, APPENDS, TUPLE = b"}", b"]", b"s", b"u", b"e", b"t"


class Link(int):
    """Stands for another dictionary of the same group, by its number."""


class LinkedPickle:
    """One dictionary: key -> group, a group being dictionaries by name; only those of a group link to each other.

    Memory slots are used again for every group, so a reader needs no more memory than the dictionaries take.
    """

    def __init__(self, file: BinaryIO, words: Sequence[str]):
        """words: texts that occur often (at most 256), stored once."""
        self._file = file
        self._known = {word: b"h" + bytes([at]) for at, word in enumerate(words)}
        file.write(PROTOCOL + b"".join(_text(word) + b"q" + bytes([at]) + POP for at, word in enumerate(words)))
        file.write(EMPTY_DICT)

    def add(self, key: str, names: Sequence[str], group: Sequence[Mapping[str, Any]]) -> None:
        parts = [EMPTY_DICT + b"r" + self._slot(at) + POP for at in range(len(group))]  # all exist before any is filled
        for at, each in enumerate(group):
            parts += [b"j" + self._slot(at), MARK, *self._items(each.items()), SET_ITEMS, POP]
        parts += [_text(key), EMPTY_DICT, MARK]
        for at, name in enumerate(names):
            parts += [_text(name), b"j" + self._slot(at)]
        self._file.write(b"".join(parts) + SET_ITEMS + SET_ITEM)

    def finish(self) -> None:
        self._file.write(STOP)

    def _slot(self, at: int) -> bytes:
        return struct.pack("<I", len(self._known) + at)

    def _items(self, items: Iterable[tuple[str, Any]]) -> Iterable[bytes]:
        for key, value in items:
            yield self._value(key)
            yield self._value(value)

    def _value(self, value: Any) -> bytes:
        if isinstance(value, str):
            return self._known.get(value) or _text(value)
        if isinstance(value, Link):
            return b"j" + self._slot(value)
        if value is None or isinstance(value, bool):
            return NONE if value is None else TRUE if value else FALSE
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, list):
            return EMPTY_LIST + MARK + b"".join(map(self._value, value)) + APPENDS
        if isinstance(value, tuple):
            return MARK + b"".join(map(self._value, value)) + TUPLE
        assert isinstance(value, dict), f"{type(value).__name__} has no place in a graph"
        return EMPTY_DICT + MARK + b"".join(self._items(value.items())) + SET_ITEMS


def _text(value: str) -> bytes:
    raw = value.encode()
    return b"X" + struct.pack("<I", len(raw)) + raw
