"""Products within groups: rows of one table against rows of another, both sorted by their group (a video)."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

Ints = NDArray[Any]


def ranges(begin: Ints, end: Ints) -> tuple[Ints, Ints]:
    """(row, i) for every begin[row] <= i < end[row]."""
    count = np.maximum(end - begin, 0)
    row = np.repeat(np.arange(len(begin)), count)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    return row, begin[row] + offset


def starts(video: Ints, videos: int) -> Ints:
    """[video + 1] where each video's rows begin in a table sorted by video."""
    return np.searchsorted(video, np.arange(videos + 1))


def against(video: Ints, start: Ints) -> tuple[Ints, Ints]:
    """(row, other): every row against every row of the other table with the same video."""
    return ranges(start[video], start[video + 1])


def groups(*columns: Ints) -> tuple[Ints, Ints]:
    """For rows sorted by the columns: the first row of each group, and [row] the group it belongs to."""
    if not len(columns[0]):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    new = np.zeros(len(columns[0]), bool)
    new[0] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new), np.cumsum(new) - 1


def by_value(codes: Ints) -> list[tuple[int, Ints]]:
    """Each value with its rows, both ascending."""
    if not len(codes):
        return []
    order = np.argsort(codes, kind="stable")
    values, begin = np.unique(codes[order], return_index=True)
    return list(zip(values.tolist(), np.split(order, begin[1:]), strict=True))


def listed(values: Ints | pl.Series, start: Ints) -> pl.Series:
    """[row] the list of its values; start: [row + 1] where they begin."""
    from pyarrow import LargeListArray, array

    column = values.to_arrow() if isinstance(values, pl.Series) else array(values)
    return pl.Series(pl.from_arrow(LargeListArray.from_arrays(array(start), column)))


def in_turn(most: Ints, video: Ints, kind: Ints, draw: Ints) -> NDArray[np.bool_]:
    """[row] is it among the `most` [video] rows of its video? Kinds take turns, each with its smallest draws first."""
    order = np.lexsort((draw, kind, video))
    begin, group = groups(video[order], kind[order])
    turn = np.empty(len(video), np.int64)
    turn[order] = np.arange(len(video)) - begin[group]
    order = np.lexsort((kind, turn, video))
    begin, group = groups(video[order])
    chosen = np.zeros(len(video), bool)
    chosen[order] = np.arange(len(video)) - begin[group] < most[video[order]]
    return chosen


def lowest(run: Ints, hashes: Ints, quota: Ints) -> NDArray[np.bool_]:
    """[row] is it among the lowest hashes of its run? quota: [run] at most how many these are."""
    count = np.bincount(run, minlength=len(quota))
    stays = (quota >= count)[run]
    cut = np.flatnonzero(((quota > 0) & (quota < count))[run])
    order = cut[np.lexsort((hashes[cut], run[cut]))]
    rank = np.arange(len(order)) - np.searchsorted(run[order], run[order])
    stays[order] = rank < quota[run[order]]
    return np.asarray(stays)
