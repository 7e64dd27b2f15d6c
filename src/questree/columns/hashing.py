"""Keyed hashes of ids: the only randomness there is, so nothing depends on order, shard or worker."""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


def seed_of(seed: int, name: str) -> np.uint64:
    """A number for a (seed, name), the same on every machine."""
    return np.uint64(int.from_bytes(blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest(), "little"))


def seeds_of(seed: int, names: Iterable[str]) -> Hashes:
    """[name] the same number for each of many names."""
    start = f"{seed}\0"
    digests = (blake2b(f"{start}{name}".encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)


def mix(start: Any, *columns: Any) -> Hashes:
    """A hash per row of the columns (splitmix64 steps); start is a seed or a column of seeds."""
    state = np.asarray(start, np.uint64)
    with np.errstate(over="ignore"):
        for column in columns:
            state = state ^ np.asarray(column).astype(np.uint64)
            state = (state + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
            state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            state = state ^ (state >> np.uint64(31))
    return state


def mixed(state: pl.Expr, column: pl.Expr) -> pl.Expr:
    """One step of `mix` inside a query; both are of 64 bits without a sign."""
    state = (state ^ column) + pl.lit(0x9E3779B97F4A7C15, pl.UInt64)
    state = (state ^ state // (1 << 30)) * pl.lit(0xBF58476D1CE4E5B9, pl.UInt64)
    state = (state ^ state // (1 << 27)) * pl.lit(0x94D049BB133111EB, pl.UInt64)
    return state ^ state // (1 << 31)
