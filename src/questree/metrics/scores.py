"""Scores as a flat table: one row per cell with its value, n and interval; intervals by a cluster bootstrap."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.cells import Cell, Floats, Ints, Tallies, all_parts, counts, evaluate, ratios
from questree.progress import report

DRAWN = 1 << 23  # weights of resamples at a time
CORRELATION = "IC-accuracy correlation"  # of DAGs
QUESTION_ACCURACY = "question accuracy"  # of DAGs: right / asked, where their accuracy is a mean over answers
OVER_ANSWERS = " (mean over answers)"
# metric that is no share, and so not written in per cent -> its digits
NO_SHARES = {"c2i": 3, "boxes": 1, "most boxes": 0, "R^2": 3, CORRELATION: 3}


@dataclass(frozen=True)
class Resampling:
    resamples: int = 1000
    seed: int = 0


def weights(videos: int, resampling: Resampling) -> Iterator[Floats]:
    """[resample, video] how often each video is drawn, in chunks; resample r depends on (seed, r) only."""
    return _drawn(lambda draw: np.bincount(draw.integers(0, videos, videos), None, videos), videos, resampling)


def signs(videos: int, resampling: Resampling) -> Iterator[Floats]:
    """[resample, video] 1 or -1, likewise."""
    return _drawn(lambda draw: 1 - 2 * draw.integers(0, 2, videos), videos, resampling)


def _drawn(one: "Callable[[np.random.Generator], Ints]", videos: int, resampling: Resampling) -> Iterator[Floats]:
    chunk = max(DRAWN // max(videos, 1), 1)
    for begin in range(0, resampling.resamples, chunk):
        numbers = range(begin, min(begin + chunk, resampling.resamples))
        report("resampling", begin, resampling.resamples)
        found = np.empty((len(numbers), videos))
        for row, r in zip(found, numbers, strict=True):
            row[:] = one(np.random.default_rng([resampling.seed, r]))
        yield found
    report("resampling", resampling.resamples, resampling.resamples)


def resampled_sums(tallies: Tallies, resampling: Resampling) -> Iterator[tuple[Floats, Floats]]:
    """Cluster bootstrap: videos are drawn with replacement, and every numerator and denominator is summed anew.

    Field and Welsh 2007, "Bootstrapping clustered data". Questions about one video are not independent, so the video is
    what is drawn. A draw is a weight per video, so a resample costs one product with the per-video tallies and no
    scoring.

    [resample, column] passed and total, in chunks.
    """
    both, place = _different(np.hstack([tallies.passed, tallies.total]))
    whole = np.array([np.array_equal(column, np.rint(column)) for column in both.T], bool)
    counted, parts = both[:, whole], both[:, ~whole]
    for weight in weights(len(both), resampling):
        sums = np.empty((len(weight), len(whole)))
        sums[:, whole] = weight @ counted  # whole numbers: exact, in whatever order they are added
        sums[:, ~whole] = np.einsum("rv,vc->rc", weight, parts)  # one fixed order of adding
        passed, total = np.split(sums[:, place], 2, axis=1)
        yield passed, total


def _different(columns: NDArray[Any]) -> tuple[Floats, Ints]:
    """[video, k] the different ones of [video, column], and [column] which of them it is: many metrics count alike."""
    known = dict[bytes, int]()
    place = np.array([known.setdefault(column.tobytes(), len(known)) for column in columns.T], np.int64)
    found = np.empty((len(columns), len(known)))
    for at, column in enumerate(known):
        found[:, at] = np.frombuffer(column, columns.dtype)
    return found, place


def resampled(cells: Sequence[Cell], tallies: Tallies, resampling: Resampling) -> Floats:
    """[resample, cell]; means are over the parts that the data have, whether a resample has them or not.

    A mean over answers would else be one over fewer answers in a resample without a rare one, and off to one side.
    What a resample has nothing of has the ratio it has in the data.
    """
    held = ratios(*tallies.summed(), all_parts(cells))
    return np.concatenate([evaluate(cells, *sums, held) for sums in resampled_sums(tallies, resampling)])


class Score(msgspec.Struct, frozen=True):
    metric: str
    by: str
    group: str
    value: float | None  # a fraction; None is N/A
    n: int | None
    low: float | None
    high: float | None
    model: str


@dataclass(frozen=True)
class Scored:
    """What one model got: sufficient statistics per video, and the cells computed from them."""

    tallies: Tallies
    cells: Sequence[Cell]

    def values(self) -> Floats:
        """[cell]"""
        return evaluate(self.cells, *self.tallies.summed())

    def rows(self, model: str, resampling: Resampling | None = None) -> list[Score]:
        """With an interval for every cell that has a value, unless there is nothing to resample."""
        values, n = self.values(), counts(self.cells, self.tallies.summed()[1])
        low = high = np.full(len(self.cells), np.nan)
        if resampling is not None and len(self.tallies.total) > 1:
            low, high = interval(values, resampled(self.cells, self.tallies, resampling))
        return [
            Score(*cell.name, number(value), count, *bounds(value, at_least, at_most), model)
            for cell, value, count, at_least, at_most in zip(self.cells, values, n, low, high, strict=True)
        ]


def number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def bounds(value: float, low: float, high: float) -> tuple[float | None, float | None]:
    return (None, None) if np.isnan(value) else (number(low), number(high))


def interval(values: Floats, draws: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """[cell] low, [cell] high of [resample, cell], over the resamples in which a cell is defined.

    Percentiles (Efron and Tibshirani 1993, section 13.3), stretched to the value of the data where that lies beside
    them, as it can where draws are few or skewed: no interval excludes what it is an interval of.
    """
    tail = (1 - level) / 2
    ordered = np.sort(draws, axis=0)  # NaN last
    known = (~np.isnan(draws)).sum(axis=0)
    low, high = _quantile(ordered, known, tail), _quantile(ordered, known, 1 - tail)
    beside = np.where(np.isnan(low), np.nan, values)
    return np.fmin(low, beside), np.fmax(high, beside)


def _quantile(ordered: Floats, known: np.ndarray[tuple[int], np.dtype[np.int64]], share: float) -> Floats:
    """[column] the quantile of the first `known` entries of each column, between neighbours linearly."""
    columns = np.arange(ordered.shape[1])
    place = np.maximum(known - 1, 0) * share
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, np.maximum(known - 1, 0))
    low, high = ordered[below, columns], ordered[above, columns]
    return np.where(known > 0, low + (high - low) * (place - below), np.nan)


def titled(metric: str, by: str) -> str:
    """How a metric is called where people read."""
    return metric + OVER_ANSWERS if (metric, by) == ("accuracy", "type") else metric


def find(rows: Iterable[Score], metric: str, by: str, group: str) -> Score:
    return next(row for row in rows if (row.metric, row.by, row.group) == (metric, by, group))


SHOWN = 5  # missing ids named in a message


@dataclass(frozen=True)
class Coverage:
    """Which questions have a prediction: coverage = questions with one / questions that need one."""

    needed: int  # different ids
    found: int
    unknown: int  # predictions no question asked for; they are ignored
    examples: tuple[str, ...]  # of ids without a prediction

    @property
    def missing(self) -> int:
        return self.needed - self.found

    def __str__(self) -> str:
        share = 100 * self.found / self.needed if self.needed else 100.0
        return f"{self.found:,} of {self.needed:,} questions ({share:.2f} %), {self.unknown:,} for no question here"

    def row(self, policy: str, model: str) -> Score:
        value = self.found / self.needed if self.needed else None
        return Score("coverage", "policy", policy, value, self.needed, None, None, model)


def coverage(needed: pl.Series, known: pl.Series, predictions: pl.DataFrame) -> Coverage:
    """`needed` and `known` are ids of questions (scored, or there at all); predictions have each id once."""
    ids = pl.DataFrame({"id": needed}).unique(maintain_order=True)
    missing = ids.join(predictions.select("id"), on="id", how="anti", maintain_order="left")
    unknown = predictions.select("id").join(pl.DataFrame({"id": known}), on="id", how="anti").height
    return Coverage(ids.height, ids.height - missing.height, unknown, tuple(missing["id"].head(SHOWN).to_list()))
