"""Numbers that stand for words, and noise on them: both follow from names alone, whoever makes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.columns.hashing import mix, seed_of

Floats = NDArray[np.float32]
Ints = NDArray[Any]
SCALE = 0.25  # of the numbers of a word: a frame sums a dozen words


def codes(words: Sequence[str], width: int) -> Floats:
    """[word, width] the same for a word of that name in any run."""
    seeds = np.array([seed_of(0, word) for word in words], np.uint64)
    return normal(mix(seeds[:, None], np.arange(width))) * np.float32(SCALE)


def noise(seed: int, stream: str, places: Sequence[str], place: Ints, item: Ints, width: int) -> Floats:
    """[row, width] of an item of a place, in units of a word's numbers."""
    own = np.array([seed_of(seed, f"{stream} {name}") for name in places], np.uint64)
    return normal(mix(mix(own[place], item)[:, None], np.arange(width))) * np.float32(SCALE)


def chance(seed: int, purpose: str, places: Sequence[str], place: Ints, item: Ints) -> NDArray[np.float64]:
    """[row] a number 0 <= x < 1 of an item of a place."""
    own = np.array([seed_of(seed, f"{purpose} {name}") for name in places], np.uint64)
    return unit(mix(own[place], item))


def unit(hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
    """0 <= x < 1"""
    return (hashes >> np.uint64(11)).astype(np.float64) * 2.0**-53


def normal(hashes: NDArray[np.uint64]) -> Floats:
    """Normally distributed (Box-Muller): the angle from the hash of the hash."""
    radius = np.sqrt(-2.0 * np.log1p(-unit(hashes)))
    return (radius * np.cos(2.0 * np.pi * unit(mix(hashes, 1)))).astype(np.float32)
