"""Binary questions: their content keys packed into numbers and dealt into buckets, each sorted once; then both rounds
are arithmetic on run lengths."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TIMES
from questree.columns.compiled import njit
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import groups
from questree.stages.balance.levelling import kept
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import QUESTIONS, time_kind, time_without_kind

NEEDED = ("video", "number", "template", "relation", "x", "y", "time", "answer", "effect")
COLUMNS = QUESTIONS.only(*NEEDED)
# from the lowest bit: effect 2, answer 1, actions of the time 16, y 8, x 8, relation 8, time kind 3, template 5,
# split 1, template again 3: those beyond 31 are rare, and the others' keys stay as they were
ANSWER, KEY, CELL, BITS = 2, 3, 43, 55
KINDS, CELLS = 8, 1 << (BITS - CELL)  # a cell is a split, template and time kind
MOST_TEMPLATES = 256
BUCKET_BITS = 6
BUCKETS = 1 << BUCKET_BITS
assert len(TIMES) <= KINDS
kind_of, actions_of = njit(time_kind), njit(time_without_kind)
Places = NDArray[np.uint64]  # [row] video * 2^32 + number


@dataclass(frozen=True)
class Dealt:
    """Rows of one bucket: all questions of a content key are in the same one."""

    packed: Hashes
    place: Places
    words: tuple[Hashes, Hashes] | None = None  # of many words, which have no room in `packed`: the content keys


def template_of(cell: Any) -> Any:
    return cell // KINDS % MOST_TEMPLATES


def deal(questions: pl.DataFrame, test: NDArray[np.bool_], known: TemplateColumns) -> list[Dealt]:
    """The binary questions, per bucket; test: per video."""
    video, number, template, relation, x, y, time, answer, effect = (questions[name].to_numpy() for name in NEEDED)
    assert len(known) <= MOST_TEMPLATES, "a content key has no room for more templates"
    columns = (video, number, template, relation, x, y, time, answer, effect)
    if questions["x"].dtype == pl.UInt16:
        return dealt_wide(questions.filter(pl.Series(~known.open[template])), test, known)
    packed, place, start = _deal(*columns, test, known.open, known.asked_two)
    # copies: a bucket's memory is given back when it has been worked on
    return [Dealt(packed[a:b].copy(), place[a:b].copy()) for a, b in pairwise(start)]


def dealt_wide(questions: pl.DataFrame, test: NDArray[np.bool_], known: TemplateColumns) -> list[Dealt]:
    """The same for binary questions of many words."""
    video, number, template, relation, x, y, time, answer, effect = (
        questions[name].to_numpy().astype(np.int64) for name in NEEDED
    )
    cell = ((template >> 5 << 1 | test[video]) << 5 | template & 31) << 3 | time_kind(time)
    yes = np.where(known.asked_two[template], answer == y, answer)
    packed = (cell << CELL | yes << ANSWER | effect).astype(np.uint64)
    words = ((cell << 16 | relation) << 32 | x << 16 | y).astype(np.uint64), time_without_kind(time).astype(np.uint64)
    bucket = (mix(np.uint64(0), *words) >> np.uint64(64 - BUCKET_BITS)).astype(np.int64)
    order = np.argsort(bucket, kind="stable")
    start = np.searchsorted(bucket[order], np.arange(BUCKETS + 1))
    place = (video << 32 | number).astype(np.uint64)
    parts = (order[a:b] for a, b in pairwise(start))
    return [Dealt(packed[at], place[at], (words[0][at], words[1][at])) for at in parts]


@njit(cache=True, nogil=True)
def cell_of(packed):  # type: ignore[no-untyped-def]
    """The number of its split, template and time kind."""
    found = np.int64(packed >> np.uint64(CELL))
    kind, low, split, high = found & 7, found >> 3 & 31, found >> 8 & 1, found >> 9
    return (split * MOST_TEMPLATES + high * 32 + low) * KINDS + kind


@njit(cache=True, nogil=True)
def stirred(number):  # type: ignore[no-untyped-def]
    """One step of hashing.mix from a state of 0."""
    state = number + np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


@njit(cache=True, nogil=True)
def _deal(  # type: ignore[no-untyped-def]
    video, number, template, relation, x, y, time, answer, effect, test, is_open, asked_two
):
    rows = len(video)
    found, bucket = np.empty(rows, np.uint64), np.empty(rows, np.uint8)
    start = np.zeros(BUCKETS + 1, np.int64)
    for row in range(rows):
        t = template[row]
        if is_open[t]:
            continue
        low, high = np.uint64(t & 31), np.uint64(t >> 5)
        cell = (high << np.uint64(1) | np.uint64(test[video[row]])) << np.uint64(5) | low
        cell = cell << np.uint64(3) | np.uint64(kind_of(time[row]))
        key = cell << np.uint64(8) | np.uint64(relation[row])
        key = (key << np.uint64(8) | np.uint64(x[row])) << np.uint64(8) | np.uint64(y[row])
        key = key << np.uint64(16) | np.uint64(actions_of(time[row]))
        yes = np.uint64(answer[row] == y[row] if asked_two[t] else answer[row])
        found[row] = key << np.uint64(3) | yes << np.uint64(2) | np.uint64(effect[row])
        bucket[row] = stirred(key) >> np.uint64(64 - BUCKET_BITS)
        start[bucket[row] + 1] += 1
    start = np.cumsum(start)
    packed, place = np.empty(start[-1], np.uint64), np.empty(start[-1], np.uint64)
    free = start.copy()
    for row in range(rows):
        if not is_open[template[row]]:
            at = free[bucket[row]]
            packed[at] = found[row]
            place[at] = np.uint64(video[row]) << np.uint64(32) | np.uint64(number[row])
            free[bucket[row]] += 1
    return packed, place, start


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


def keys(parts: list[Dealt]) -> Keys:
    """First round: a key with one answer goes whole, of two answers the rarer one decides."""
    packed = np.concatenate([part.packed for part in parts])
    place = np.concatenate([part.place for part in parts])
    words, hashes = [part.words for part in parts if part.words], None
    if words:
        number, hashes = numbered(words)
        packed |= number << np.uint64(KEY)
    packed, place = _sort(packed, place)
    rows, begin, size, cell = _two_answers(packed, place)
    return Keys(packed[:rows].copy(), place[:rows].copy(), begin, size, cell, hashes)


def numbered(parts: list[tuple[Hashes, Hashes]]) -> tuple[Hashes, Hashes]:
    """[row] the number of its content key, which sorts like it, and [number] a hash of the key."""
    high, low = (np.concatenate(column) for column in zip(*parts, strict=True))
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


def sizes(keys: list[Keys], cells: int) -> NDArray[Any]:
    """[cell] questions after the first round."""
    return sum((np.bincount(k.cell, k.size, cells) for k in keys), np.zeros(cells)).astype(np.int64)
