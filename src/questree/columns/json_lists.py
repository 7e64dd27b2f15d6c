"""Lists in the records of a JSON text, their items by number: equal texts have one, and no object is made of any.

Understood are lists of flat records: a value, and lists of strings or of objects, each named once and nothing else.
Any other text is `NotPlain`, and a careful reader has the word. What stands inside items and values is not looked at.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from msgspec import Raw
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.json_values import (
    CLOSE,
    COLON,
    COMMA,
    FACTOR,
    LIST,
    LIST_END,
    OPEN,
    QUOTE,
    START,
    Ints,
    NotPlain,
    _blank,
    _hash,
    _skipped,
    _string,
)
from questree.faults import UNREADABLE

SMALLEST = 16  # bytes of a record, at least
FEW = 1024  # different items there is room for at first
ITEM = 3  # bytes of an item and its comma, at least
WRONG = -1
EIGHT, HALF = np.uint64(8), np.uint64(32)
HEAD, GUESSES = 72, 1 << 16  # bytes by which an object is guessed, which saves looking for its end; guesses kept


@dataclass(frozen=True)
class JsonLists:
    """Records in the order of the text."""

    values: list[Any]  # [record] None where there is none
    counts: Ints  # [list, record]
    items: tuple[NDArray[Any], NDArray[Any]]  # [item] of all records one after the other, the number of its text
    strings: list[str]  # [number]
    objects: list[Raw]  # [number]


def json_lists(text: bytes, value: str, strings: str, objects: str) -> JsonLists:
    """Records with a value, a list of strings and a list of objects under these keys."""
    bytes, most = np.frombuffer(text, np.uint8), len(text) // SMALLEST + 2
    spans, counts = np.empty((2, most), np.int64), np.empty((2, most), np.int64)
    items = np.empty((2, len(text) // ITEM + 2), np.int32)
    keys = np.array([_hash(np.frombuffer(key.encode(), np.uint8)) for key in (value, strings, objects)], np.uint64)
    records, totals, begin, end = _scan(bytes, keys, spans, counts, items)
    if records == WRONG or (counts[:, :records] == WRONG).any():
        raise NotPlain
    is_object = bytes[begin] == OPEN
    return JsonLists(
        _decoded(text, spans[0, :records], spans[1, :records], list[Any]),
        counts[:, :records],
        (items[0, : totals[0]], items[1, : totals[1]]),
        _decoded(text, begin[~is_object], end[~is_object], list[str]),
        _decoded(text, begin[is_object], end[is_object], list[Raw]),
    )


def _decoded(text: bytes, begin: Ints, end: Ints, kind: type[list[Any]]) -> list[Any]:
    """The values of spans; refuses what is no JSON."""
    try:
        found: list[Any] = msgspec.json.decode(_listed(text, begin, end), type=kind)
    except UNREADABLE:
        raise NotPlain from None
    if len(found) != len(begin):
        raise NotPlain
    return found


def _listed(text: bytes, begin: Ints, end: Ints) -> bytes:
    """The spans as a list; behind each stands at least one more byte."""
    if not len(begin) or begin.min() == WRONG:
        spans = zip(begin.tolist(), end.tolist(), strict=True)
        return b"[%s]" % b",".join([b"null" if a == WRONG else text[a:b] for a, b in spans])
    last = np.cumsum(end + 1 - begin) - 1  # [span] where its comma stands
    at = np.ones(last[-1] + 1, np.int64)  # of every byte, how far it is from the one before
    at[0], at[last[:-1] + 1] = begin[0], begin[1:] - end[:-1]
    found = np.frombuffer(text, np.uint8)[np.cumsum(at)]
    found[last] = COMMA
    found[-1] = LIST_END
    return b"".join((b"[", found.tobytes()))


@njit(cache=True)
def _scan(text, keys, spans, counts, items):  # type: ignore[no-untyped-def]
    """How many records and items there are, and the spans of different items; WRONG if the text is not understood."""
    table, hashes = np.full(4 * FEW, WRONG, np.int32), np.empty(FEW, np.uint64)
    begin, end, different = np.empty(FEW, np.int64), np.empty(FEW, np.int64), 0
    place = np.empty(FEW, np.int32)  # [different] its number among those of its kind
    totals, known = np.zeros(2, np.int64), np.zeros(2, np.int64)
    guesses = np.full(GUESSES, WRONG, np.int32)  # by what stands at the beginning, the last item that began so
    wrong = WRONG, totals, begin[:0], end[:0]
    record, at = 0, _past_blanks(text, 0)
    if at >= len(text) or text[at] != LIST:
        return wrong
    at = _past_blanks(text, at + 1)
    while at < len(text) and text[at] != LIST_END:
        if record:
            if text[at] != COMMA:
                return wrong
            at = _past_blanks(text, at + 1)
        if at >= len(text) or text[at] != OPEN or record == spans.shape[1]:
            return wrong
        members, at = 0, _past_blanks(text, at + 1)
        spans[:, record] = WRONG
        counts[:, record] = WRONG
        while at < len(text) and text[at] != CLOSE:
            if members:
                if text[at] != COMMA:
                    return wrong
                at = _past_blanks(text, at + 1)
            if at >= len(text) or text[at] != QUOTE:
                return wrong
            close = _string(text, at + 1)
            if close >= len(text):
                return wrong
            key, at, members = _hash(text[at + 1 : close]), _past_blanks(text, close + 1), members + 1
            if at >= len(text) or text[at] != COLON:
                return wrong
            at = _past_blanks(text, at + 1)
            if at >= len(text):
                return wrong
            if key == keys[0] and spans[0, record] == WRONG:
                spans[0, record], at = at, _value_end(text, at)
                spans[1, record] = at
            elif (key == keys[1] and counts[0, record] == WRONG) or (key == keys[2] and counts[1, record] == WRONG):
                which = np.int64(key == keys[2])
                if text[at] != LIST:
                    return wrong
                count, at = 0, _past_blanks(text, at + 1)
                while at < len(text) and text[at] != LIST_END:
                    if count:
                        if text[at] != COMMA:
                            return wrong
                        at = _past_blanks(text, at + 1)
                    if at >= len(text) or text[at] != (OPEN if which else QUOTE):
                        return wrong
                    first, number, slot = at, np.int64(WRONG), np.int64(0)
                    if which and first + HEAD <= len(text):
                        slot = np.int64(_mixed(text, first, first + HEAD) & np.uint64(GUESSES - 1))
                        number = np.int64(guesses[slot])
                        size = end[number] - begin[number] if number != WRONG else 0
                        if first + size > len(text) or not _equal(text, first, begin[number], size):
                            number = np.int64(WRONG)
                        at = first + size
                    if number == WRONG:
                        at = _skipped(text, first) if which else _string(text, first + 1) + 1
                        if at > len(text):
                            return wrong
                        mark = _mixed(text, first, at)
                        number = _numbered(text, first, at, mark, table, hashes, begin, end, different)
                        if which:
                            guesses[slot] = number
                    if number == different:
                        place[number] = known[which]
                        known[which] += 1
                        different += 1
                    items[which, totals[which]], count = place[number], count + 1
                    totals[which] += 1
                    if different == len(begin):
                        table, hashes, begin, end = _grown(hashes, begin, end)
                        place = np.append(place, place)
                    at = _past_blanks(text, at)
                counts[which, record], at = count, at + 1
            else:
                return wrong
            at = _past_blanks(text, at)
        record, at = record + 1, _past_blanks(text, at + 1)
    if at >= len(text) or _past_blanks(text, at + 1) < len(text):
        return wrong
    return record, totals, begin[:different], end[:different]


@njit(cache=True)
def _past_blanks(text, at):  # type: ignore[no-untyped-def]
    while at < len(text) and _blank(text[at]):
        at += 1
    return at


@njit(cache=True)
def _value_end(text, at):  # type: ignore[no-untyped-def]
    """The place after the value that begins here."""
    if text[at] == QUOTE:
        return _string(text, at + 1) + 1
    if text[at] == OPEN or text[at] == LIST:
        return _skipped(text, at)
    while at < len(text) and text[at] != COMMA and text[at] != CLOSE and not _blank(text[at]):
        at += 1
    return at


@njit(cache=True)
def _eight(text, at):  # type: ignore[no-untyped-def]
    """Eight bytes as a number: one load."""
    found = np.uint64(0)
    for byte in range(8):
        found |= np.uint64(text[at + np.uint64(byte)]) << np.uint64(8 * byte)
    return found


@njit(cache=True)
def _mixed(text, first, last):  # type: ignore[no-untyped-def]
    """The hash of a span, eight bytes at a time."""
    mark, at, end = START, np.uint64(first), np.uint64(last)
    while at + EIGHT <= end:
        mark = (mark ^ _eight(text, at)) * FACTOR
        mark ^= mark >> HALF
        at += EIGHT
    while at < end:
        mark = (mark ^ np.uint64(text[at])) * FACTOR
        at += np.uint64(1)
    return mark ^ (mark >> HALF)


@njit(cache=True)
def _equal(text, one, other, size):  # type: ignore[no-untyped-def]
    one, other, size, at = np.uint64(one), np.uint64(other), np.uint64(size), np.uint64(0)
    while at + EIGHT <= size:
        if _eight(text, one + at) != _eight(text, other + at):
            return False
        at += EIGHT
    while at < size:
        if text[one + at] != text[other + at]:
            return False
        at += np.uint64(1)
    return True


@njit(cache=True)
def _numbered(text, first, last, mark, table, hashes, begin, end, different):  # type: ignore[no-untyped-def]
    """The number of a span: that of an equal one, or the next."""
    slot, mask = np.int64(mark & np.uint64(len(table) - 1)), len(table) - 1
    while table[slot] != WRONG:
        known = table[slot]
        size = end[known] - begin[known]
        if hashes[known] == mark and size == last - first and _equal(text, first, begin[known], size):
            return np.int64(known)
        slot = (slot + 1) & mask
    table[slot], hashes[different], begin[different], end[different] = different, mark, first, last
    return np.int64(different)


@njit(cache=True)
def _grown(hashes, begin, end):  # type: ignore[no-untyped-def]
    """Twice the room."""
    size = len(begin)
    table, mask = np.full(8 * size, WRONG, np.int32), 8 * size - 1
    for number in range(size):
        slot = np.int64(hashes[number] & np.uint64(mask))
        while table[slot] != WRONG:
            slot = (slot + 1) & mask
        table[slot] = number
    more = np.empty(2 * size, np.uint64), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    more[0][:size], more[1][:size], more[2][:size] = hashes, begin, end
    return table, more[0], more[1], more[2]
