"""Counts of answers by content key, made in many places as files and joined part by part; and texts that were said."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.stages.audit.guesses import Parts
from questree.tables.store import for_others

PART = 2_000_000  # rows of counts in memory together
GROUP = 65_536  # rows of counts read together
EVERY = 1_000  # of so many keys one says where parts begin
COUNTS = ".parquet"
GROUPED = ["key", "template", "answer", "test"]
FIRST = "first"  # of image sets: the lowest hash of the questions that are counted


class CountedShard(NamedTuple):
    rows: int  # of counts
    some: Ints  # of its keys every so many


def put_counts(own: pl.DataFrame, path: Path) -> CountedShard:
    """Columns of GROUPED, before, after."""
    table = own.sort(GROUPED)
    with for_others(path) as file:
        table.write_parquet(file, compression="zstd", compression_level=1, row_group_size=GROUP)
    return CountedShard(len(table), table["key"].gather_every(EVERY).to_numpy())


def merged(place: Path, found: Sequence[CountedShard], order: Sequence[str] = GROUPED) -> Parts:
    """The counts of all shards, in an order of their columns.

    Long videos have as many keys as questions: what shards counted is joined part by part.
    """
    parts = max(sum(shard.rows for shard in found) // PART, 1)
    keys = pl.Series(np.concatenate([shard.some for shard in found]), dtype=pl.Int64).sort()
    begins = keys.gather([len(keys) * part // parts for part in range(1, parts)]).unique().sort().to_list()
    files = [os.fspath(path) for path in sorted(place.glob(f"*{COUNTS}"))]
    made = [place / f"part {number}" for number in range(len(begins) + 1)]
    sums = [pl.col("before", "after").sum(), *(pl.col(name).min() for name in order if name == FIRST)]
    for path, low, high in zip(made, [None, *begins], [*begins, None], strict=True):
        rows = pl.scan_parquet(files, glob=False)
        rows = rows if low is None else rows.filter(pl.col("key") >= low)
        rows = rows if high is None else rows.filter(pl.col("key") < high)
        whole = rows.group_by(GROUPED).agg(sums).collect(engine="streaming")
        whole.sort(order).write_parquet(path, compression="zstd", compression_level=1)
    return [pl.scan_parquet(path, glob=False) for path in made]


def texts_of(said: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """What shards said, in the order of the hash."""
    return pl.concat(said).sort("hash")
