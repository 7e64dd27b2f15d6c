"""Further lists of training questions of a split: as many as its train drawn from everything (iid-size), and a learning
curve, train with more and more examples of what is held out; shorter lists are inside longer ones."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.stages.split.engine import Parts
from questree.stages.split.properties import few_of, in_order
from questree.stages.split.rows import Truth

IID_SIZE = "iid-size"
ALL = 10**9  # examples: all there are


class TrainingLists:
    """Of the questions of training images."""

    def __init__(self, ids: pl.Series, train: Truth, seed: int, curve: Sequence[int]):
        self.ids, self.train, self.seed, self.curve = ids, train, seed, curve
        self.places = np.flatnonzero(train)  # in the order in which questions are drawn, the same for all splits
        self.places = self.places[in_order(ids.filter(pl.Series(train)), seed, IID_SIZE)]

    def of(self, name: str, parts: Parts, held: Truth) -> Iterator[tuple[str, pl.Series]]:
        """List -> its questions, in the order of all; held: what the split holds out."""
        yield IID_SIZE, self._ids(self.places[: int(parts["train"].sum())])
        examples, rest = np.flatnonzero(self.train & held), np.flatnonzero(self.train & ~held)
        drawn = examples[in_order(self.ids.gather(examples), self.seed, few_of(name))] if self.curve else examples
        for count in self.curve:
            yield curve_part(count), self._ids(np.concatenate([rest, drawn[:count]]))

    def _ids(self, places: Ints) -> pl.Series:
        return self.ids.gather(np.sort(places))


def curve_part(count: int) -> str:
    """train, 50 examples"""
    return f"train, {'all' if count == ALL else count} examples"
