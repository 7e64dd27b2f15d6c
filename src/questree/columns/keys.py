"""Relation rows as 64-bit numbers: to sort, to make distinct and to look up they are ten times faster than rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Keys = NDArray[np.uint64]  # [row]
# column -> its lowest bit; keys sort like the columns in this order
BY_FRAME = {"video": 32, "frame": 16, "relation": 8, "object": 0}
BY_TRACK = {"video": 32, "relation": 24, "object": 16, "frame": 0}
WIDTHS = {"video": pl.UInt32, "frame": pl.UInt16, "relation": pl.UInt8, "object": pl.UInt8}
MASKS = {"video": 0xFFFFFFFF, "frame": 0xFFFF, "relation": 0xFF, "object": 0xFF}


def keys(rows: pl.DataFrame, weights: Mapping[str, int] = BY_FRAME) -> Keys:
    parts = (pl.col(name).cast(pl.UInt64) * (1 << weight) for name, weight in weights.items())
    return rows.select(pl.sum_horizontal(parts)).to_series().to_numpy(writable=True)


def from_keys(keys: Keys, weights: Mapping[str, int] = BY_FRAME) -> pl.DataFrame:
    """The columns video, frame, relation, object again."""
    found = {name: (keys >> np.uint64(weights[name])) & np.uint64(mask) for name, mask in MASKS.items()}
    return pl.DataFrame(found).cast(WIDTHS)  # type: ignore[arg-type]


def distinct(keys: Keys) -> Keys:
    """Sorted, each once."""
    ordered = np.sort(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def known(keys: Keys, ordered: Keys) -> NDArray[Any]:
    """[row] whether each key is among the ordered ones."""
    if not len(ordered):
        return np.zeros(len(keys), bool)
    place = np.searchsorted(ordered, keys)
    return np.asarray(ordered[np.minimum(place, len(ordered) - 1)] == keys)
