"""Loops over sorted keys and growing tables, written out: numba compiles them faster than what numpy has for them."""

import numpy as np

from questree.columns.compiled import njit


@njit(cache=True, nogil=True)
def first_at(keys, key):  # type: ignore[no-untyped-def]
    """The place of the first of the sorted keys that is not below the key."""
    begin, end = 0, len(keys)
    while begin < end:
        middle = (begin + end) // 2
        if keys[middle] < key:
            begin = middle + 1
        else:
            end = middle
    return begin


@njit(cache=True, nogil=True)
def roomy(rows, room):  # type: ignore[no-untyped-def]
    """The rows, at least so many."""
    if room <= len(rows):
        return rows
    longer = np.empty((max(room, 2 * len(rows)), rows.shape[1]), np.int32)
    for at in range(len(rows)):
        put(rows[at], longer, at)
    return longer


@njit(cache=True, nogil=True)
def put(row, rows, at):  # type: ignore[no-untyped-def]
    for column in range(len(row)):
        rows[at, column] = row[column]
