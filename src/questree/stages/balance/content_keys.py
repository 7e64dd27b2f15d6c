"""Content keys of binary questions, sorted once; then both rounds are arithmetic on run lengths."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import groups
from questree.stages.balance.binary import ANSWER, BITS, CELL, KEY, Places, cell_of, stirred
from questree.stages.balance.levelling import kept

DIGIT = 11  # bits sorted by at once
GROUPS = 8  # of a content key: two answers, four temporal effects


@dataclass(frozen=True)
class Keys:
    """The content keys with both answers, and their questions sorted by key, answer and effect."""

    packed: Hashes
    place: Places
    begin: NDArray[np.int64]  # [key + 1] where its questions begin
    size: NDArray[np.int64]  # [key] questions after the first round: twice those of its rarer answer
    cell: NDArray[np.uint16]  # [key] split, template and time kind
    words: Hashes | None = None  # of many words: [number in `packed`] hashes of the content keys

    @property
    def content(self) -> Hashes:
        """[key] what it asks, as a number."""
        own = self.packed[self.begin[:-1]] >> np.uint64(KEY)
        return own if self.words is None else self.words[(own & np.uint64((1 << CELL - KEY) - 1)).astype(np.int64)]


def keys(columns: Hashes) -> Keys:
    """First round: a key with one answer goes whole, of two answers the rarer one decides; columns: as dealt."""
    (packed, place, *words), hashes = columns, None
    if words:
        number, hashes = numbered(words[0], words[1])
        packed = packed | number << np.uint64(KEY)
    packed, place = _sort(packed, place)
    rows, begin, size, cell = _two_answers(packed, place)
    return Keys(packed[:rows].copy(), place[:rows].copy(), begin, size, cell, hashes)


def numbered(high: Hashes, low: Hashes) -> tuple[Hashes, Hashes]:
    """[row] the number of its content key, which sorts like it, and [number] a hash of the key."""
    order = np.lexsort((low, high))
    begin, group = groups(high[order], low[order])
    number = np.empty(len(order), np.uint64)
    number[order] = group
    return number, mix(np.uint64(0), high[order[begin]], low[order[begin]])


def chosen(keys: Keys, keep: NDArray[np.int64], seeds: Hashes) -> Places:
    """The questions that stay when `keep` of each key do (an even number, at most its size)."""
    return np.asarray(_choose(keys.packed, keys.place, keys.begin, keys.size, keep, seeds))


@njit(cache=True, nogil=True)
def _sort(packed, place):  # type: ignore[no-untyped-def]
    """Radix sort, the lowest digit first."""
    other, other_place = np.empty_like(packed), np.empty_like(place)
    mask = np.uint64((1 << DIGIT) - 1)
    for shift in range(0, BITS, DIGIT):
        by = np.uint64(shift)
        free = np.zeros((1 << DIGIT) + 1, np.int64)
        for value in packed:
            free[(value >> by & mask) + np.uint64(1)] += 1
        if free.max() == len(packed):  # the same digit everywhere
            continue
        free = np.cumsum(free)
        for row in range(len(packed)):
            digit = packed[row] >> by & mask
            at = free[digit]
            other[at], other_place[at] = packed[row], place[row]
            free[digit] = at + 1
        packed, other, place, other_place = other, packed, other_place, place
    return packed, place


@njit(cache=True, nogil=True)
def _two_answers(packed, place):  # type: ignore[no-untyped-def]
    """Move the rows of keys with both answers together; returns how many rows, and the keys."""
    found = 1
    for row in range(1, len(packed)):
        found += packed[row] >> np.uint64(KEY) != packed[row - 1] >> np.uint64(KEY)
    begin, size, cell = np.zeros(found + 1, np.int64), np.empty(found, np.int64), np.empty(found, np.uint16)
    row, end, key = 0, 0, 0
    while row < len(packed):
        own, first, yes = packed[row] >> np.uint64(KEY), row, np.int64(0)
        while row < len(packed) and packed[row] >> np.uint64(KEY) == own:
            yes += np.int64(packed[row] >> np.uint64(ANSWER) & np.uint64(1))
            row += 1
        fewer = min(yes, row - first - yes)
        if fewer > 0:
            for at in range(first, row):
                packed[end], place[end] = packed[at], place[at]
                end += 1
            size[key], cell[key], begin[key + 1] = 2 * fewer, cell_of(packed[first]), end
            key += 1
    return end, begin[: key + 1].copy(), size[:key].copy(), cell[:key].copy()


@njit(cache=True, nogil=True)
def quotas(counts, size, keep):  # type: ignore[no-untyped-def]
    """[answer * 4 + effect] how many stay: the surplus of the larger answer goes, then the second round's cut."""
    quota = np.zeros(GROUPS, np.int64)
    for answer in range(2):
        own = counts[4 * answer : 4 * answer + 4]
        a, b, c, d = kept(own[0], own[1], own[2], own[3], own.sum() - size // 2)
        a, b, c, d = kept(a, b, c, d, (size - keep) // 2)
        quota[4 * answer], quota[4 * answer + 1], quota[4 * answer + 2], quota[4 * answer + 3] = a, b, c, d
    return quota


@njit(cache=True, nogil=True)
def _choose(packed, place, begin, size, keep, seeds):  # type: ignore[no-untyped-def]
    found, free = np.empty(keep.sum(), np.uint64), np.int64(0)
    counts = np.empty(GROUPS, np.int64)
    for key in range(len(size)):
        if keep[key] == 0:
            continue
        counts[:] = 0
        for row in range(begin[key], begin[key + 1]):
            counts[packed[row] & np.uint64(GROUPS - 1)] += 1
        quota, row = quotas(counts, size[key], keep[key]), begin[key]
        for group in range(GROUPS):
            rows = place[row : row + counts[group]]
            row += counts[group]
            for one in lowest(rows, quota[group], seeds):  # numba takes seconds to compile the assignment of a slice
                found[free] = one
                free += 1
    return found


@njit(cache=True, nogil=True)
def lowest(place, quota, seeds):  # type: ignore[no-untyped-def]
    """The questions with the lowest hashes of (seed, video, number)."""
    if quota == len(place) or quota == 0:
        return place[:quota]
    hashes = np.empty(len(place), np.uint64)
    for row in range(len(place)):
        hashes[row] = stirred(seeds[place[row] >> np.uint64(32)] ^ (place[row] & np.uint64(0xFFFFFFFF)))
    return place[np.argsort(hashes)[:quota]]
