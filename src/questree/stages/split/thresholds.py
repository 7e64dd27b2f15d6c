"""The hash of a rank among hashes that lie in many places: looked for where it must be, so that few come together."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from questree.columns.hashing import Hashes
from questree.columns.joins import Ints

WIDE = 8.0  # standard deviations on either side: hashes are uniform, so one in 10^15 lies outside
WIDER = 32  # times, if one does
LAST = 2.0**64 - 2**11  # the highest float below 2^64
END = np.uint64(0xFFFFFFFFFFFFFFFF)


class Windows(NamedTuple):
    """Per group of hashes, where that of the wanted rank is."""

    low: Hashes
    high: Hashes


class SeenHashes(NamedTuple):
    """What one place tells about its own."""

    below: Ints  # [group] hashes lower than the window
    group: Ints  # of those in the window
    inside: Hashes


def windows(rank: Ints, count: Ints, wide: float = WIDE) -> Windows:
    """rank: [group] from 0 on and less than the count; -1 where none is wanted, which has an empty window."""
    number = np.maximum(count, 1)
    share = (rank + 0.5) / number
    room = wide * (np.sqrt(np.clip(share * (1 - share), 0, 1) / number) + 1 / number)
    low, high = (np.clip(np.ldexp(side, 64), 0, LAST).astype(np.uint64) for side in (share - room, share + room))
    high[share + room >= 1] = END
    return Windows(np.where(rank < 0, END, low), np.where(rank < 0, np.uint64(0), high))


def seen(group: Ints, hashes: Hashes, within: Windows) -> SeenHashes:
    """group: [hash] the one it belongs to."""
    below = np.bincount(group, hashes < within.low[group], len(within.low)).astype(np.int64)
    inside = (hashes >= within.low[group]) & (hashes <= within.high[group])
    return SeenHashes(below, group[inside], hashes[inside])


def of_rank(rank: Ints, count: Ints, look: Callable[[Windows], Sequence[SeenHashes]], wide: float = WIDE) -> Hashes:
    """[group] the hash of its rank among `count`, by what all places see; 0 where none is wanted."""
    found, wanted = np.zeros(len(rank), np.uint64), np.flatnonzero(rank >= 0)
    if not len(wanted):
        return found
    parts = look(windows(rank, count, wide))
    below = np.sum([part.below for part in parts], axis=0)
    group, inside = (np.concatenate([part[at] for part in parts]) for at in (1, 2))
    order = np.lexsort((inside, group))
    start = np.searchsorted(group[order], np.arange(len(rank) + 1))
    place = rank - below
    if ((place < 0) | (place >= np.diff(start)))[wanted].any():
        return of_rank(rank, count, look, max(WIDER * wide, 1.0))
    found[wanted] = inside[order[(start[:-1] + place)[wanted]]]
    return found
