"""Further lists of training questions of a split: as many as its train drawn from everything (iid-size), and a learning
curve, train with more and more examples of what is held out; shorter lists are inside longer ones."""

from collections.abc import Sequence
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

    def ranks(self) -> Ints:
        """[list] the rank of its last drawn question, -1 without one."""
        wanted = [[train, *self.curve] for train in self.train]
        among = [[self.of_train, *(own for _ in self.curve)] for own in self.examples]
        return np.minimum(np.array(wanted, np.int64).ravel(), np.array(among, np.int64).ravel()) - 1

    def last_draws(self, tables: Sequence[pl.DataFrame]) -> Hashes:
        """[list] the draw of its last question, 0 without one; tables: hashes, what is in train, what is held out."""
        found = np.zeros(len(self), np.uint64)
        for at, rank in enumerate(self.ranks().tolist()):
            split, place = divmod(at, 1 + len(self.curve))
            among = f"{split} held" if place else "train"
            if rank >= 0:
                every = pl.concat([table["hash"].filter(table[among]) for table in tables])
                found[at] = np.partition(self._draws(split, place, every), rank)[rank]
        return found

    def inside(self, split: int, part: str, table: pl.DataFrame, last: Hashes) -> pl.Series:
        """[question] is it in the list of this name? last: [list] the draw of its last question."""
        place = 0 if part == IID_SIZE else 1 + [curve_part(count) for count in self.curve].index(part)
        at = split * (1 + len(self.curve)) + place
        drawn = pl.Series((self._draws(split, place, table["hash"]) <= last[at]) & (self.ranks()[at] >= 0))
        held = table[f"{split} held"]
        return table["train"] & ((~held | drawn) if place else drawn)

    def _draws(self, split: int, place: int, hashes: pl.Series) -> Hashes:
        return draws(hashes.to_numpy(), self.seed, few_of(self.names[split]) if place else IID_SIZE)


def curve_part(count: int) -> str:
    """train, 50 examples"""
    return f"train, {'all' if count == ALL else count} examples"
