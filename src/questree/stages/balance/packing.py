"""A binary question's content key, answer and temporal effect in one number, and rows dealt out by content key."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numba import njit
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TIMES
from questree.columns.hashing import Hashes
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import QUESTIONS, time_kind, time_without_kind
from questree.tables.table import Table

NEEDED = ("video", "number", "template", "relation", "x", "y", "time", "answer", "effect")
COLUMNS = Table(QUESTIONS.name, {name: QUESTIONS.columns[name] for name in NEEDED})
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


def template_of(cell: Any) -> Any:
    return cell // KINDS % MOST_TEMPLATES


def deal(questions: pl.DataFrame, test: NDArray[np.bool_], known: TemplateColumns) -> list[Dealt]:
    """The binary questions, per bucket; test: per video."""
    video, number, template, relation, x, y, time, answer, effect = (questions[name].to_numpy() for name in NEEDED)
    assert len(known) <= MOST_TEMPLATES, "a content key has no room for more templates"
    columns = (video, number, template, relation, x, y, time, answer, effect)
    packed, place, start = _deal(*columns, test, known.open, known.asked_two)
    # copies: a bucket's memory is given back when it has been worked on
    return [Dealt(packed[a:b].copy(), place[a:b].copy()) for a, b in pairwise(start)]


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
