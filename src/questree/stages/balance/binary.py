"""Binary questions: their content keys packed into numbers, and dealt into buckets by them."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TIMES
from questree.columns.compiled import njit
from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import QUESTIONS, time_kind, time_without_kind

NEEDED = ("video", "number", "template", "relation", "x", "y", "time", "answer", "effect")
COLUMNS = QUESTIONS.only(*NEEDED, "first", "second")
# from the lowest bit: effect 2, answer 1, actions of the time 16, y 8, x 8, relation 8, time kind 3, template 5,
# split 1, template again 3: those beyond 31 are rare, and the others' keys stay as they were
ANSWER, KEY, CELL, BITS = 2, 3, 43, 55
KINDS, CELLS = 8, 1 << (BITS - CELL)  # a cell is a split, template and time kind
MOST_TEMPLATES = 256
MOST_BITS = 16  # of the number of a bucket
assert len(TIMES) <= KINDS
kind_of, actions_of = njit(time_kind), njit(time_without_kind)
Places = NDArray[np.uint64]  # [row] video * 2^32 + number


def template_of(cell: Any) -> Any:
    return cell // KINDS % MOST_TEMPLATES


def deal(
    questions: pl.DataFrame, test: NDArray[np.bool_], known: TemplateColumns, bits: int, untimed: bool = False
) -> tuple[Hashes, Ints]:
    """The binary questions as columns [column, row], and where the rows of each of 2^bits buckets begin.

    All questions of a content key are in one bucket. Columns are the packed key, answer and effect, the place, and of
    many words, which have no room there, the content key in two numbers; test: per video; untimed: keys have no time.
    """
    assert len(known) <= MOST_TEMPLATES, "a content key has no room for more templates"
    if untimed:
        questions = questions.with_columns(time=pl.lit(0, questions["time"].dtype))
    if questions["x"].dtype == pl.UInt16:
        binary = questions.filter(pl.Series(~known.open[questions["template"].to_numpy()]))
        columns = wide_columns(binary, test, known)
        return dealt(columns, mix(np.uint64(0), columns[2], columns[3]), bits)
    given = [*(questions[name].to_numpy() for name in NEEDED), test, known.open, known.asked_two, np.uint64(bits)]
    found: tuple[Hashes, Ints] = _deal(*given)
    return found


def wide_columns(questions: pl.DataFrame, test: NDArray[np.bool_], known: TemplateColumns) -> Hashes:
    video, number, template, relation, x, y, time, answer, effect = (
        questions[name].to_numpy().astype(np.int64) for name in NEEDED
    )
    cell = ((template >> 5 << 1 | test[video]) << 5 | template & 31) << 3 | time_kind(time)
    yes = np.where(known.asked_two[template], answer == y, answer)
    words = (cell << 16 | relation) << 32 | x << 16 | y, time_without_kind(time)
    return np.stack([cell << CELL | yes << ANSWER | effect, video << 32 | number, *words]).astype(np.uint64)


def dealt(columns: Hashes, hashes: Hashes, bits: int) -> tuple[Hashes, Ints]:
    """Columns with the rows of each bucket together, and [bucket + 1] where these begin."""
    bucket = hashes >> np.uint64(32) << np.uint64(bits) >> np.uint64(32)
    order = np.argsort(bucket, kind="stable")
    return columns[:, order], np.searchsorted(bucket[order], np.arange((1 << bits) + 1))


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
    video, number, template, relation, x, y, time, answer, effect, test, is_open, asked_two, bits
):
    rows = len(video)
    found, bucket = np.empty(rows, np.uint64), np.empty(rows, np.uint16)
    start = np.zeros((1 << np.int64(bits)) + 1, np.int64)
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
        bucket[row] = stirred(key) >> np.uint64(32) << bits >> np.uint64(32)
        start[bucket[row] + 1] += 1
    start = np.cumsum(start)
    columns = np.empty((2, start[-1]), np.uint64)
    packed, place, free = columns[0], columns[1], start.copy()
    for row in range(rows):
        if not is_open[template[row]]:
            at = free[bucket[row]]
            packed[at] = found[row]
            place[at] = np.uint64(video[row]) << np.uint64(32) | np.uint64(number[row])
            free[bucket[row]] += 1
    return columns, start
