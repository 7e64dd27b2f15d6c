"""Columns of sets of words, and tables of pairs of words: masks and arrays where words are few, else sorted rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.joins import Ints, ranges, starts

Flags = NDArray[np.bool_]
FEW = 64  # words: a set of them is the bits of one number
SMALL = 1 << 16  # pairs: a table of them is an array
RADIX = 1 << 16  # of a pair as one number; more than there are words of a kind


@dataclass(frozen=True)
class MemberLists:
    """[row] sets of many words, as lists of their members; several rows may be the same set."""

    member: Ints  # set by set, ascending; this and the others of 32 bits, as there are many of them
    start: Ints  # [set + 1]
    set: Ints  # [row]
    dtype = np.dtype(np.uint64)  # as the masks have: nobody takes it for numbers that may be undefined

    def __len__(self) -> int:
        return len(self.set)

    def __getitem__(self, rows: Any) -> "MemberLists":
        return MemberLists(self.member, self.start, self.set[rows])

    @property
    def begin(self) -> Ints:
        return np.asarray(self.start[self.set])

    @property
    def end(self) -> Ints:
        return np.asarray(self.start[self.set + 1])

    def members(self) -> tuple[Ints, Ints]:
        """(row, member) of every set."""
        row, at = ranges(self.begin, self.end)
        return row, self.member[at]


Sets = NDArray[Any] | MemberLists  # [row] masks of few words, or lists


def sets_of(row: Ints, word: Ints, rows: int, words: int) -> Sets:
    """[row] the words given with it, out of so many; a negative one is none."""
    if words <= FEW:
        found = np.zeros(rows, np.uint64)
        np.bitwise_or.at(found, row, one(word))
        return found
    there = word >= 0
    key = np.unique(row[there].astype(np.int64) * RADIX + word[there])
    start = starts(key // RADIX, rows).astype(np.int32)
    return MemberLists((key % RADIX).astype(np.int32), start, np.arange(rows, dtype=np.int32))


def one(at: Ints) -> Ints:
    """The mask of one position; of none if it is negative."""
    return np.where(at >= 0, np.uint64(1) << np.maximum(at, 0).astype(np.uint64), np.uint64(0))


def has(sets: Sets, word: Ints) -> Flags:
    """Is the word in the set? Words are not negative."""
    if isinstance(sets, MemberLists):
        return np.asarray(_listed(sets.member, sets.begin, sets.end, word))
    return ((sets >> word.astype(np.uint64)) & np.uint64(1)).astype(bool)


@njit(cache=True)
def _listed(member, begin, end, word):  # type: ignore[no-untyped-def]
    found = np.zeros(len(begin), np.bool_)
    for row in range(len(begin)):
        low, high = begin[row], end[row]
        while low < high:
            middle = (low + high) // 2
            if member[middle] < word[row]:
                low = middle + 1
            else:
                high = middle
        found[row] = low < end[row] and member[low] == word[row]
    return found


def size(sets: Sets) -> Ints:
    """[row] how many words it has."""
    return sets.end - sets.begin if isinstance(sets, MemberLists) else np.bitwise_count(sets)


def some(sets: Sets) -> Flags:
    """[row] is there any?"""
    return np.asarray(sets.end > sets.begin if isinstance(sets, MemberLists) else sets != 0)


def the_one(sets: Sets) -> Ints:
    """[row] the only member, -1 if there is none or several."""
    single = size(sets) == 1
    if isinstance(sets, MemberLists):
        return np.where(single, np.append(sets.member, 0)[sets.begin], -1)
    return np.where(single, np.bitwise_count(sets - np.uint64(1)).astype(np.int64), -1)


def meet(one: Sets, other: Sets) -> Flags:
    """[row] have they a word in common? Quickest if the first are small."""
    if not isinstance(one, MemberLists):
        return np.asarray((one & other) != 0)
    row, word = one.members()
    return np.bincount(row[has(other[row], word)], minlength=len(one)) > 0


def joined(sets: Sets, word: Ints, words: int) -> Sets:
    """[row] the set with one word more, unless it is negative."""
    if not isinstance(sets, MemberLists):
        return np.asarray(sets | one(word))
    row, member = sets.members()
    every = np.concatenate([row, np.arange(len(sets))]), np.concatenate([member, word])
    return sets_of(*every, len(sets), words)


def stacked(parts: Sequence[Sets]) -> Sets:
    """[row] the sets of all parts, one below the other."""
    lists = [part for part in parts if isinstance(part, MemberLists)]
    if not lists:
        return np.concatenate([np.asarray(part) for part in parts])
    members = np.cumsum([0, *(len(part.member) for part in lists)], dtype=np.int32)
    sets = np.cumsum([0, *(len(part.start) - 1 for part in lists)], dtype=np.int32)
    return MemberLists(
        np.concatenate([part.member for part in lists]),
        np.concatenate([part.start[:-1] + begin for part, begin in zip(lists, members, strict=False)] + [members[-1:]]),
        np.concatenate([part.set + begin for part, begin in zip(lists, sets, strict=False)]),
    )


def with_none(sets: Sets) -> Sets:
    """One row more: the empty set."""
    if not isinstance(sets, MemberLists):
        return np.append(sets, np.uint64(0))
    start = np.append(sets.start, np.int32(len(sets.member)))
    return MemberLists(sets.member, start, np.append(sets.set, np.int32(len(start) - 2)))


@dataclass(frozen=True)
class PairList:
    """[first, second] a value for few of many pairs of words, and another one for the rest."""

    key: Ints  # first * RADIX + second, ascending
    value: Ints
    other: Any

    def __getitem__(self, pair: tuple[Any, Any]) -> NDArray[Any]:
        wanted = np.asarray(pair[0], np.int64) * RADIX + pair[1]
        at = np.minimum(np.searchsorted(self.key, wanted), len(self.key) - 1)
        return np.where(self.key[at] == wanted, self.value[at], self.other) if len(self.key) else self._none(wanted)

    def _none(self, wanted: Ints) -> NDArray[Any]:
        return np.full(wanted.shape, self.other)

    def __lt__(self, most: int) -> "PairList":
        return PairList(self.key, self.value < most, self.other < most)


Pairs = NDArray[Any] | PairList


def occurring(pairs: Pairs, side: int, words: int) -> Flags:
    """[word] has it, as first (0) or second (1), a pair with a value?"""
    if not isinstance(pairs, PairList):
        return np.asarray(pairs.any(axis=1 - side))
    found = np.zeros(words, bool)
    key = pairs.key[pairs.value != 0]
    found[key % RADIX if side else key // RADIX] = True
    return found


def pairs_of(first: Ints, second: Ints, value: Any, shape: tuple[int, int]) -> Pairs:
    """[first, second] the sum of the values given for a pair, nothing for the rest; flags stay flags."""
    value = np.broadcast_to(value, len(first))
    if shape[0] * shape[1] <= SMALL:
        found = np.zeros(shape, value.dtype)
        np.add.at(found, (first, second), value)
        return found
    key, at = np.unique(np.asarray(first, np.int64) * RADIX + second, return_inverse=True)
    total = np.zeros(len(key), value.dtype)
    np.add.at(total, at, value)
    return PairList(key, total, value.dtype.type(0))
