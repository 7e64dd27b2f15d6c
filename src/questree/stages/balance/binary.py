"""Binary questions of all shards: content keys are counted, and of each key and answer some questions are drawn."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.hashing import Hashes
from questree.columns.joins import Ints, lowest
from questree.columns.keys import distinct
from questree.stages.balance.levelling import cut_effects
from questree.stages.balance.shard_tables import CELLS, EFFECTS, Places, hash_places

GROUPS = 2 * EFFECTS  # of a content key: two answers, four temporal effects
NO, YES, BOTH = 1, 2, 3  # bits of the answers met
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class BinaryTables:
    """The tables of shards without most keys that have one answer: these go whole, and most keys are such.

    A small table says which answers the keys of a slot have; counting tells keys that share a slot apart.
    """

    files: Sequence[str]
    answers: NDArray[np.uint8]  # [slot]

    @classmethod
    def read(cls, files: Sequence[str]) -> Self:
        rows = sum(pl.scan_ipc(file, glob=False).select(pl.len()).collect().item() for file in files)
        tables = cls(files, np.zeros(1 << max(rows, 1).bit_length(), np.uint8))
        for file in files:
            table = pl.read_ipc(file, columns=["key", "group"])
            slot, yes = tables.slots(table["key"]), table["group"].to_numpy() >= EFFECTS
            tables.answers[slot[yes]] |= YES
            tables.answers[slot[~yes]] |= NO
        return tables

    def slots(self, keys: pl.Series) -> Hashes:
        bits = len(self.answers).bit_length() - 1
        return np.asarray(keys.to_numpy() * SPREAD >> np.uint64(64 - bits))

    def shards(self, *columns: str) -> Iterator[pl.DataFrame]:
        """Shard by shard the questions whose keys may have both answers."""
        for file in self.files:
            table = pl.read_ipc(file, columns=["key", *columns])
            yield table.filter(self.answers[self.slots(table["key"])] == BOTH)

    def shards_with(self, keys: Hashes, *columns: str) -> Iterator[tuple[Ints, pl.DataFrame]]:
        """... whose keys are among these, ascending ones; and [question] at which place."""
        for table in self.shards(*columns):
            own = table["key"].to_numpy()
            at = np.searchsorted(keys, own)
            there = at < len(keys)
            there[there] = keys[at[there]] == own[there]
            yield at[there], table.filter(there)


@dataclass(frozen=True)
class BinaryKeys:
    """The content keys with both answers."""

    key: Hashes  # ascending
    cell: Ints
    counts: Ints  # [key, answer and effect] questions
    size: Ints  # [key] questions after the first round: twice those of its rarer answer

    def per_cell(self, questions: Ints) -> Ints:
        """[split, template, time kind] out of [key]."""
        return np.bincount(self.cell, questions, math.prod(CELLS)).astype(np.int64).reshape(CELLS)


def count_keys(tables: BinaryTables) -> BinaryKeys:
    """First round: a key with one answer goes whole, of two answers the rarer one decides."""
    with_yes = [
        distinct(table.filter(pl.col("group") >= EFFECTS)["key"].to_numpy()) for table in tables.shards("group")
    ]
    key = distinct(np.concatenate(with_yes))
    cell, counts = np.zeros(len(key), np.int64), np.zeros((len(key), GROUPS), np.int32)
    for at, table in tables.shards_with(key, "cell", "group"):
        cell[at] = table["cell"].to_numpy()
        counts += np.bincount(at * GROUPS + table["group"].to_numpy(), minlength=counts.size).reshape(counts.shape)
    fewer = np.minimum(counts[:, :EFFECTS].sum(axis=1), counts[:, EFFECTS:].sum(axis=1))
    both = fewer > 0
    return BinaryKeys(key[both], cell[both], counts[both], 2 * fewer[both])


def draw_binary(tables: BinaryTables, keys: BinaryKeys, keep: Ints, seeds: Hashes) -> Places:
    """The questions that stay when `keep` of each key do (an even number, at most its size)."""
    few = np.flatnonzero(keep)
    quota = quotas(keys.counts[few], keys.size[few], keep[few]).ravel()  # [run]
    runs, places = [np.zeros(0, np.int64)], [np.zeros(0, np.uint64)]
    for at, table in tables.shards_with(keys.key[few], "group", "place"):
        run, place = at * GROUPS + table["group"].to_numpy(), table["place"].to_numpy()
        low = lowest(run, hash_places(place, seeds), quota)  # of this shard, so that few come together
        runs.append(run[low])
        places.append(place[low])
    run, place = np.concatenate(runs), np.concatenate(places)
    return np.asarray(place[lowest(run, hash_places(place, seeds), quota)])


@njit(cache=True, nogil=True)
def quotas(counts, size, keep):  # type: ignore[no-untyped-def]
    """[key, answer and effect] how many stay: the surplus of the larger answer goes, then the second round's cut."""
    found = np.zeros_like(counts)
    for key in range(len(size)):
        if keep[key] == 0:
            continue
        for begin in range(0, GROUPS, EFFECTS):
            own = counts[key, begin : begin + EFFECTS]
            a, b, c, d = cut_effects(own[0], own[1], own[2], own[3], own.sum() - size[key] // 2)
            a, b, c, d = cut_effects(a, b, c, d, (size[key] - keep[key]) // 2)
            found[key, begin], found[key, begin + 1], found[key, begin + 2], found[key, begin + 3] = a, b, c, d
    return found
