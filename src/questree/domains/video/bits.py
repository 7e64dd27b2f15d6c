"""Sets of frames as bits in 64-bit words, and searches in them."""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Bits = NDArray[np.uint64]  # [row, word], frame f is bit f % 64 of word f // 64
Ints = NDArray[Any]  # [row]
WORD = 64
FULL = np.uint64(0xFFFFFFFFFFFFFFFF)


def span(lo: Ints, hi: Ints, words: int) -> Bits:
    """[row, word] the frames lo <= f < hi; none if hi <= lo."""
    start = np.arange(words, dtype=np.int64) * WORD  # [word]
    low = np.clip(np.asarray(lo)[:, None] - start, 0, WORD)
    high = np.clip(np.asarray(hi)[:, None] - start, 0, WORD)
    return np.where(high > low, _below(high) & ~_below(low), np.uint64(0))


def _below(count: Ints) -> Bits:
    """A word with its lowest `count` bits set, count 0..64."""
    some = count.astype(np.uint64)
    return np.where(some >= WORD, FULL, (np.uint64(1) << (some % np.uint64(WORD))) - np.uint64(1))


def anywhere(bits: Bits) -> NDArray[np.bool_]:
    return np.asarray(bits.any(axis=-1))


def frames_of(bits: NDArray[np.uint64]) -> list[int]:
    """The frames in one row of words."""
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")).tolist()


@njit(cache=True)
def first_frame(bits: Bits, lo: Ints, hi: Ints, wanted: bool) -> Ints:
    """[row] the first frame f, lo <= f < hi, that is in the set (wanted) or not in it; -1 if there is none."""
    found = np.full(len(lo), -1, np.int64)
    for row in range(len(lo)):
        for frame in range(lo[row], hi[row]):
            inside = (bits[row, frame >> 6] >> np.uint64(frame & 63)) & np.uint64(1)
            if (inside == 1) == wanted:
                found[row] = frame
                break
    return found


@njit(cache=True)
def last_frame(bits: Bits, lo: Ints, hi: Ints, wanted: bool) -> Ints:
    """[row] the last frame f, lo <= f < hi, that is in the set (wanted) or not in it; -1 if there is none."""
    found = np.full(len(lo), -1, np.int64)
    for row in range(len(lo)):
        for frame in range(hi[row] - 1, lo[row] - 1, -1):
            inside = (bits[row, frame >> 6] >> np.uint64(frame & 63)) & np.uint64(1)
            if (inside == 1) == wanted:
                found[row] = frame
                break
    return found
