"""Passed and total per video and column: the sufficient statistics every score and every interval is computed from."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Column = tuple[Hashable, ...]  # what is counted: ("CA", "type", "Choose", 0)


@dataclass(frozen=True)
class Tallies:
    columns: list[Column]
    passed: NDArray[Any]  # [video, column] whole numbers, or sums where the mean of numbers is wanted
    total: NDArray[np.int32]  # [video, column]

    def summed(self) -> tuple[Floats, Floats]:
        """[column] passed, [column] total over all videos."""
        return self.passed.sum(axis=0, dtype=np.float64), self.total.sum(axis=0, dtype=np.float64)


def share(above: NDArray[Any], below: NDArray[Any], least: float = 0.0) -> Floats:
    """[...] above / below; NaN where below is not more than `least`."""
    return np.asarray(np.divide(above, below, out=np.full(np.shape(below), np.nan), where=below > least))


def tally(video: Ints, column: Ints, passed: NDArray[np.bool_], videos: int, names: Sequence[Column]) -> Tallies:
    """Rows (video, column, passed) counted per video and column; columns without a row are left out."""
    used = np.flatnonzero(np.bincount(column, minlength=len(names)))
    place = np.zeros(len(names), np.int64)
    place[used] = np.arange(len(used))
    cell = video * len(used) + place[column]
    shape = (videos, len(used))
    total = np.bincount(cell, minlength=videos * len(used)).astype(np.int32).reshape(shape)
    right = np.bincount(cell[passed], minlength=videos * len(used)).astype(np.int32).reshape(shape)
    return Tallies([names[at] for at in used.tolist()], right, total)


def mean_tally(video: Ints, value: Floats, videos: int, name: Column) -> Tallies:
    """One column whose ratio is the mean of `value` (NaN rows left out)."""
    here = ~np.isnan(value)
    total = np.bincount(video[here], minlength=videos).astype(np.int32)[:, None]
    return Tallies([name], np.bincount(video[here], value[here], minlength=videos)[:, None], total)


def joined(parts: Sequence[Tallies]) -> Tallies:
    """The columns of all parts side by side; the videos are the same."""
    columns = [column for part in parts for column in part.columns]
    return Tallies(columns, np.hstack([p.passed for p in parts]), np.hstack([p.total for p in parts]))
