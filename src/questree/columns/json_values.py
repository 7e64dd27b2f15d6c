"""Values of a JSON text by their paths, as columns: one walk over the bytes, and no object per value.

Only plain values are understood: of the kind that is wanted, without escapes, in ASCII. Any other text is
`NotPlain`, and a careful reader has the word. What no path leads to is skipped by its brackets and strings.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.compiled import njit

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]
Kind = Literal["string", "number", "refused"]  # a text with a refused value is not understood
KINDS: tuple[Kind, ...] = get_args(Kind)
STRING, NUMBER, REFUSED = range(3)
ANY, KEY = "*", "@"  # every member or item; the keys of members instead of what stands under them
DEEPEST = 64
PER_VALUE = 8  # bytes of text per value, at least
AT_ONCE = 1 << 30  # bytes that are cut into texts at once
SURE = 15  # digits of which a floating-point number keeps every one
QUOTE, SLASH, OPEN, CLOSE, LIST, LIST_END, COLON, COMMA = (ord(sign) for sign in '"\\{}[]:,')
MINUS, POINT, ZERO, NINE, LINE = (ord(sign) for sign in "-.09\n")
START, FACTOR = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # of the hashes of keys (FNV-1a)
VALUE, VALUE_OR_END, MEMBER, MEMBER_OR_END, NEXT = range(5)  # what may come
ROOT, SKIPPED = 0, -1
ONE, TWO = np.uint64(1), np.uint64(2)


@dataclass(frozen=True)
class JsonValues:
    """In the order of the text."""

    text: Bytes
    records: int
    path: NDArray[np.uint8]
    record: Ints  # the member or item of the outermost value that it stands in
    begin: Ints
    end: Ints

    def under(self, *paths: int) -> tuple[Ints, Ints, pl.Series]:
        """(record, place in the text, value as it is written) of some paths; strings are without their quotes."""
        here = np.flatnonzero(np.isin(self.path, paths))
        begin, end = self.begin[here], self.end[here]
        piece = np.cumsum(end - begin) // AT_ONCE
        cuts = np.append(np.flatnonzero(np.diff(piece, prepend=-1)), len(here))
        found = [_texts(self.text, begin[a:b], end[a:b]) for a, b in pairwise(cuts.tolist())]
        return self.record[here], begin, pl.concat([pl.Series([], dtype=pl.String), *found])

    def numbers(self, path: int) -> tuple[Ints, Floats]:
        """(place in the text, value) of a path; NaN of what is no number."""
        here = np.flatnonzero(self.path == path)
        begin = self.begin[here]
        found = _decimals(self.text, begin, self.end[here])
        if (rest := np.flatnonzero(np.isnan(found))).size:
            found[rest] = _texts(self.text, begin[rest], self.end[here][rest]).cast(pl.Float64, strict=False).to_numpy()
        return begin, found

    def each(self, path: int) -> pl.Series:
        """[record] the value of a path that every record has once."""
        record, _, values = self.under(path)
        if not np.array_equal(record, np.arange(self.records)):
            raise NotPlain
        return values


class NotPlain(Exception):
    """Something else than plain values where paths lead to."""


def json_values(text: bytes, paths: Mapping[tuple[str, ...], Kind]) -> JsonValues:
    """A path is the keys that lead to a value; the outermost value has records, as members or items."""
    nodes: dict[tuple[str, ...], int] = {(): ROOT}
    for path in paths:
        for size in range(1, len(path) + 1):
            nodes.setdefault(path[:size], len(nodes))
    names, order = list(nodes)[1:], list(paths)
    parent = np.array([SKIPPED, *(nodes[name[:-1]] for name in names)])
    key = np.array([0, *(_hash(_bytes(name[-1])) for name in names)], np.uint64)
    leaf = np.array([order.index(name) if name in paths else SKIPPED for name in nodes])
    kind = np.array([KINDS.index(paths.get(name, "refused")) for name in nodes])
    bytes, most = np.frombuffer(text, np.uint8), len(text) // PER_VALUE + 2
    path_of, (record, begin, end) = np.empty(most, np.uint8), np.empty((3, most), np.int64)
    signs = _hash(_bytes(ANY)), _hash(_bytes(KEY))
    count, records = _walk(bytes, parent, key, leaf, kind, *signs, path_of, record, begin, end)
    if count < 0:
        raise NotPlain
    return JsonValues(bytes, records, path_of[:count], record[:count], begin[:count], end[:count])


def _texts(text: Bytes, begin: Ints, end: Ints) -> pl.Series:
    """The texts of spans, none with a line break in it."""
    lines = _joined(text, begin, end).tobytes().decode()
    return pl.Series([lines], dtype=pl.String).str.split("\n").explode()[:-1]


def _bytes(text: str) -> Bytes:
    return np.frombuffer(text.encode(), np.uint8)


@njit(cache=True)
def _hash(text):  # type: ignore[no-untyped-def]
    found = START
    for char in text:
        found = (found ^ np.uint64(char)) * FACTOR
    return found


@njit(cache=True)
def _joined(text, begin, end):  # type: ignore[no-untyped-def]
    """The bytes of all spans, a line each."""
    found, to = np.empty((end - begin).sum() + len(begin), np.uint8), 0
    for span in range(len(begin)):
        for at in range(begin[span], end[span]):
            found[to] = text[at]
            to += 1
        found[to] = LINE
        to += 1
    return found


@njit(cache=True)
def _decimals(text, begin, end):  # type: ignore[no-untyped-def]
    """The numbers of spans, NaN of those whose digits alone do not tell the nearest floating-point number."""
    found = np.empty(len(begin), np.float64)
    for span in range(len(begin)):
        at, last, value, digits, scale, after = begin[span], end[span], np.int64(0), 0, 1.0, False
        negative = at < last and text[at] == MINUS
        at += negative
        first = at
        while at < last and (ZERO <= text[at] <= NINE or (text[at] == POINT and not after and at > first)):
            if text[at] == POINT:
                after = True
            else:
                value, digits = 10 * value + np.int64(text[at]) - ZERO, digits + 1
                scale *= 10.0 if after else 1.0
            at += 1
            if digits > SURE:
                break
        whole = at == last and 0 < digits <= SURE and text[last - 1] != POINT
        if last > first + 1 and text[first] == ZERO and text[first + 1] != POINT:
            whole = False
        found[span] = (-value if negative else value) / scale if whole else np.nan
        if whole and negative and value == 0:
            found[span] = -0.0
    return found


@njit(cache=True)
def _child(node, key, parent, keys, any):  # type: ignore[no-untyped-def]
    """Where a key leads to from a node."""
    if node != SKIPPED:
        for child in range(len(parent)):
            if parent[child] == node and (keys[child] == key or keys[child] == any):
                return child
    return SKIPPED


@njit(cache=True)
def _string(text, at):  # type: ignore[no-untyped-def]
    """The closing quote of the string whose first character stands here; beyond the text if there is none."""
    place, size = np.uint64(at), np.uint64(len(text))  # unsigned: nobody looks whether they count from the end
    while place < size and text[place] != QUOTE:
        place += TWO if text[place] == SLASH else ONE
    return np.int64(place)


@njit(cache=True)
def _plain(text, begin, end):  # type: ignore[no-untyped-def]
    for at in range(begin, end):
        if text[at] == SLASH or not 32 <= text[at] < 128:
            return False
    return end <= len(text)


@njit(cache=True)
def _blank(sign):  # type: ignore[no-untyped-def]
    return sign == 32 or sign == 10 or sign == 9 or sign == 13


@njit(cache=True)
def _skipped(text, at):  # type: ignore[no-untyped-def]
    """The place after the object or list that begins here; beyond the text if it does not end."""
    depth, place, size = 0, np.uint64(at), np.uint64(len(text))
    while place < size:
        sign = text[place]
        place += ONE
        if sign == QUOTE:
            place = np.uint64(_string(text, np.int64(place))) + ONE
        elif sign in (OPEN, LIST):
            depth += 1
        elif sign in (CLOSE, LIST_END):
            depth -= 1
            if depth == 0:
                return np.int64(place)
    return len(text) + 1


@njit(cache=True)
def _walk(text, parent, keys, leaf, kind, any, of_keys, path, record, begin, end):  # type: ignore[no-untyped-def]
    """How many values and records there are; -1 if the text is not understood."""
    stack, objects = np.zeros(DEEPEST, np.int64), np.zeros(DEEPEST, np.bool_)
    node, depth, due, count, number, at = ROOT, 0, VALUE, 0, -1, 0
    while at < len(text):
        sign = text[at]
        if _blank(sign):
            at += 1
            continue
        if count + 2 > len(path) or depth + 1 == DEEPEST or (depth == 0 and due == NEXT):
            return -1, 0
        if sign in (CLOSE, LIST_END):
            closes = due == NEXT or due == (MEMBER_OR_END if sign == CLOSE else VALUE_OR_END)
            if not closes or depth == 0 or objects[depth] != (sign == CLOSE):
                return -1, 0
            depth, due, at = depth - 1, NEXT, at + 1
            continue
        if due == NEXT:
            if sign != COMMA:
                return -1, 0
            due, at = MEMBER if objects[depth] else VALUE, at + 1
            continue
        if due in (MEMBER, MEMBER_OR_END):
            if sign != QUOTE:
                return -1, 0
            first = at + 1
            at = _string(text, first)
            number += depth == 1
            held = _child(stack[depth], of_keys, parent, keys, of_keys)
            if held != SKIPPED:
                if not _plain(text, first, at):
                    return -1, 0
                path[count], record[count], begin[count], end[count] = leaf[held], number, first, at
                count += 1
            node = _child(stack[depth], _hash(text[first:at]), parent, keys, any)
            at += 1
            while at < len(text) and _blank(text[at]):
                at += 1
            if at >= len(text) or text[at] != COLON:
                return -1, 0
            due, at = VALUE, at + 1
            continue
        if depth and not objects[depth]:  # an item
            node = _child(ROOT, any, parent, keys, any) if depth == 1 else SKIPPED
            number += depth == 1
        if node != SKIPPED and leaf[node] != SKIPPED and kind[node] != (STRING if sign == QUOTE else NUMBER):
            return -1, 0
        due = NEXT
        if sign in (OPEN, LIST):
            if node == SKIPPED:
                at = _skipped(text, at)
                continue
            depth += 1
            stack[depth], objects[depth] = node, sign == OPEN
            due, at = MEMBER_OR_END if sign == OPEN else VALUE_OR_END, at + 1
            continue
        first = at
        if sign == QUOTE:
            first, at = at + 1, _string(text, at + 1)
        else:
            while (
                at < len(text)
                and text[at] != COMMA
                and text[at] != CLOSE
                and text[at] != LIST_END
                and not _blank(text[at])
            ):
                at += 1
        if node != SKIPPED and leaf[node] != SKIPPED:
            if not _plain(text, first, at) or (sign != QUOTE and sign != MINUS and not ZERO <= sign <= NINE):
                return -1, 0
            path[count], record[count], begin[count], end[count] = leaf[node], number, first, at
            count += 1
        at += sign == QUOTE
    whole = at == len(text) and depth == 0 and due == NEXT
    return (count, number + 1) if whole else (-1, 0)
