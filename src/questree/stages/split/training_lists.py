"""Further lists of training questions of a split: as many as its train drawn from everything (iid-size), and a learning
curve, train with more and more examples of what is held out; shorter lists are inside longer ones."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.columns.hashing import Hashes
from questree.columns.joins import Ints
from questree.stages.split.properties import draws, few_of

IID_SIZE = "iid-size"
ALL = 10**9  # examples: all there are


@dataclass(frozen=True)
class Lists:
    """Lists of all splits, one after the other: iid-size, then the curve. A list has the questions that are drawn
    first, so it is known by the draw of its last one."""

    seed: int
    names: tuple[str, ...]  # of splits
    train: tuple[int, ...]  # [split] questions of its train
    examples: tuple[int, ...]  # [split] questions of training images with what it holds out
    of_train: int  # questions of training images
    curve: tuple[int, ...]  # examples of a list each

    def __len__(self) -> int:
        return len(self.names) * (1 + len(self.curve))

    def ranks(self) -> tuple[Ints, Ints]:
        """[list] the rank of its last drawn question, -1 without one, among so many."""
        wanted = [[train, *self.curve] for train in self.train]
        among = [[self.of_train, *(own for _ in self.curve)] for own in self.examples]
        count = np.array(among, np.int64).ravel()
        return np.minimum(np.array(wanted, np.int64).ravel(), count) - 1, count

    def draws(self, at: int, table: pl.DataFrame) -> Hashes:
        """Of the questions a list is drawn from, in a table with hashes and what is in train and held out."""
        split, place = divmod(at, 1 + len(self.curve))
        own = table.filter(f"{split} held" if place else "train")
        return self._draws(split, place, own)

    def inside(self, split: int, part: str, table: pl.DataFrame, last: Hashes) -> pl.Series:
        """[question] is it in the list of this name? last: [list] the draw of its last question."""
        place = 0 if part == IID_SIZE else 1 + [curve_part(count) for count in self.curve].index(part)
        at = split * (1 + len(self.curve)) + place
        drawn = pl.Series((self._draws(split, place, table) <= last[at]) & (self.ranks()[0][at] >= 0))
        held = table[f"{split} held"]
        return table["train"] & ((~held | drawn) if place else drawn)

    def _draws(self, split: int, place: int, table: pl.DataFrame) -> Hashes:
        return draws(table["hash"].to_numpy(), self.seed, few_of(self.names[split]) if place else IID_SIZE)


def curve_part(count: int) -> str:
    """train, 50 examples"""
    return f"train, {'all' if count == ALL else count} examples"
