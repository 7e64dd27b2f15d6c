"""How far people agree who judged the same things: per cent, Krippendorff's alpha, Fleiss' kappa, with intervals."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.cells import Floats, share
from questree.metrics.scores import Resampling, Score, bounds, interval, number, weights

Ints = NDArray[np.int64]
MEASURES = ("agreement", "alpha", "kappa")
BY = "raters"


@dataclass(frozen=True)
class Ratings:
    """One row per judgement: what was judged, who judged it, what was said; all arrays are [judgement]."""

    unit: Ints
    rater: Ints
    value: Ints
    units: int
    raters: int
    values: int

    @classmethod
    def of(cls, table: pl.DataFrame) -> "Ratings":
        """Of columns unit, rater, value; nobody judges a unit twice."""
        coded = [np.unique(table[name].to_numpy(), return_inverse=True) for name in ("unit", "rater", "value")]
        (units, unit), (raters, rater), (values, value) = coded
        return cls(unit, rater, value, len(units), len(raters), len(values))

    def pairs(self) -> tuple[Ints, Ints]:
        """Rows of two different raters of one unit, either way round."""
        rows = pl.DataFrame({"unit": self.unit}).with_row_index("row")
        both = rows.join(rows, on="unit").filter(pl.col("row") != pl.col("row_right")).sort("row", "row_right")
        return both["row"].to_numpy().astype(np.int64), both["row_right"].to_numpy().astype(np.int64)


def agreement(ratings: Ratings, weight: Floats | None = None) -> Floats:
    """[resample, measure] agreement, alpha, kappa; `weight`: [resample, rater] how often each is drawn.

    agreement = mean over units of the share of pairs of raters that say the same.
    alpha = 1 - observed / expected disagreement (Krippendorff 2011, nominal data): of a unit with m judgements every
    pair counts 1 / (m - 1); expected from how often each value was said in units that two judged.
    kappa = (P - Pe) / (1 - Pe) (Fleiss 1971): P is the agreement, Pe the sum of squared shares of the values. Where
    units have different numbers of judgements, every judgement counts the same in these shares.

    A rater who was drawn twice is not a pair with themselves: pairs are of different people and count as often as both
    were drawn together. A measure without anything to go by, or with one value alone, is NaN.
    """
    draws = np.ones((1, ratings.raters)) if weight is None else weight
    one, other = ratings.pairs()
    together = draws[:, ratings.rater[one]] * draws[:, ratings.rater[other]]  # [resample, pair]
    unit = ratings.unit[one]
    same = ratings.value[one] == ratings.value[other]
    pairs = summed(together, unit, ratings.units)  # [resample, unit]
    alike = share(summed(together[:, same], unit[same], ratings.units), pairs)
    judged = ~np.isnan(alike)
    size = summed(draws[:, ratings.rater], ratings.unit, ratings.units) * judged  # judgements of units that count
    counted = (draws[:, ratings.rater] * judged[:, ratings.unit]) @ one_hot(ratings.value, ratings.values)
    total = size.sum(axis=1)
    agreed = share(np.where(judged, alike, 0.0).sum(axis=1), judged.sum(axis=1).astype(float))
    observed = share((np.where(judged, alike, 0.0) * size).sum(axis=1), total)  # each unit by its judgements
    expected = share((counted * (counted - 1)).sum(axis=1), total * (total - 1))
    chance = share((counted**2).sum(axis=1), total**2)
    alpha = 1 - share(1 - observed, 1 - expected, 1e-12)
    kappa = share(agreed - chance, 1 - chance, 1e-12)
    return np.stack([agreed, alpha, kappa], axis=1)


def summed(rows: Floats, place: Ints, size: int) -> Floats:
    """[resample, place] sums of [resample, row]."""
    cell = np.arange(len(rows))[:, None] * size + place
    found = np.bincount(cell.ravel(), rows.ravel(), minlength=len(rows) * size)
    return np.asarray(found.reshape(len(rows), size), np.float64)


def one_hot(value: Ints, values: int) -> Floats:
    found = np.zeros((len(value), values))
    found[np.arange(len(value)), value] = 1
    return found


def resampled(ratings: Ratings, resampling: Resampling) -> Iterator[Floats]:
    for weight in weights(ratings.raters, resampling):
        yield agreement(ratings, weight)


def rows(table: pl.DataFrame, resampling: Resampling | None, name: str) -> list[Score]:
    """A row per measure, and how many units have a majority or are unanimous; intervals from draws of raters."""
    if table.is_empty():
        return []
    ratings = Ratings.of(table)
    values = agreement(ratings)[0]
    low = high = np.full(len(MEASURES), np.nan)
    if resampling is not None and ratings.raters > 1:
        low, high = interval(values, np.concatenate(list(resampled(ratings, resampling))))
    judged = int((np.bincount(ratings.unit) > 1).sum())
    found = [
        Score(measure, BY, "Overall", number(value), judged, *bounds(value, lo, hi), name)
        for measure, value, lo, hi in zip(MEASURES, values, low, high, strict=True)
    ]
    clear, unanimous = votes(ratings)
    for measure, mask in (("majority", clear), ("unanimous", unanimous)):
        found.append(Score(measure, BY, "Overall", float(mask.mean()), len(mask), None, None, name))
    return found


def votes(ratings: Ratings) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[unit] did more than half say the same, and did all?"""
    pair = ratings.unit * ratings.values + ratings.value
    counts = np.bincount(pair, minlength=ratings.units * ratings.values).reshape(ratings.units, ratings.values)
    most, size = counts.max(axis=1), counts.sum(axis=1)
    return 2 * most > size, most == size


def majority(table: pl.DataFrame) -> pl.DataFrame:
    """unit, value, votes, of: what more than half said of every unit; null where nobody is in the majority."""
    counted = table.group_by("unit", "value").len("votes")
    most = counted.sort("votes", "value", descending=[True, False]).group_by("unit", maintain_order=True).first()
    size = table.group_by("unit").len("of")
    clear = pl.when(2 * pl.col("votes") > pl.col("of")).then("value")
    return most.join(size, on="unit").with_columns(value=clear).select("unit", "value", "votes", "of").sort("unit")
