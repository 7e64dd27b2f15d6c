"""Questions for training loops, in an order that a seed gives, a few shards in memory at a time."""

from collections.abc import Iterator
from os import PathLike
from typing import Any

import numpy as np
import polars as pl

from questree.api.question_steps import RunSteps, StepShard
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints
from questree.faults import BadInput, Fault, refuse
from questree.tables.run import Run

StrPath = str | PathLike[str]
OPEN = 4  # shards that are mixed
BATCH = 1024


class Epoch:
    """The decomposed questions of a run with their sub-questions, answers and evidence, again for every `for`.

    Without a seed they come as the run has them. With one, shards come in an order by keyed hash, a few are open at a
    time, and of these every question is where a hash of the seed and its id puts it.

    Parameters
    ----------
    run
        The run folder, or a run, with decomposed questions.
    split
        Only questions of this split.
    seed
        Seed of the order; another one for every epoch.
    evidence
        Say what answers rest on, where there are facts: `seconds` of videos, `boxes` in images.
    executed
        Also give answers that are known but not published: what nobody annotated is not there.
    benchmark
        The benchmark, if the run holds several.
    open
        How many shards are mixed; all of them are in memory.

    >>> epoch = questree.Epoch("run", split="train", seed=1)
    >>> epoch
    <Epoch of 132 questions, train, seed 1>
    >>> row = next(iter(epoch))
    >>> list(row)
    ['id', 'scope', 'split', 'question', 'answer', 'type', 'seconds', 'parts', 'compositions', 'steps']
    >>> [(step["question"], step["answer"], step["seconds"]) for step in row["steps"]][:1]
    [('Does a mirror exist?', 'yes', [[0.3333333333333333, 14.766666666666667]])]
    """

    def __init__(
        self,
        run: StrPath,
        split: str | None = None,
        seed: int | None = None,
        *,
        evidence: bool = True,
        executed: bool = False,
        benchmark: str = "",
        open: int = OPEN,
    ):
        refuse([Fault("open", f"expected at least 1, got {open}")] if open < 1 else [])
        self.steps = RunSteps(Run.at(run), benchmark, evidence, executed)
        self.split, self.seed, self.open = split, seed, open
        self.steps.check(split)

    def __len__(self) -> int:
        return self.steps.count(self.split)

    def __repr__(self) -> str:
        split = self.split or "all splits"
        order = "in order" if self.seed is None else f"seed {self.seed}"
        return f"<Epoch of {len(self):,} questions, {split}, {order}>"

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for table in self.batches():
            yield from table.iter_rows(named=True)

    def batches(self, size: int = BATCH) -> Iterator[pl.DataFrame]:
        """Tables of this many questions, the last one smaller; Arrow without a copy (`pyarrow.table(batch)`).

        >>> [len(batch) for batch in run.epoch().batches(64)]
        [64, 64, 64, 6]
        """
        refuse([Fault("size", f"expected at least 1, got {size}")] if size < 1 else [])
        rest: list[pl.DataFrame] = []
        for table in self._tables(size):
            rest.append(table)
            if sum(map(len, rest)) >= size:
                whole = pl.concat(rest)
                yield whole[:size]
                rest = [whole[size:]]
        if sum(map(len, rest)):
            yield pl.concat(rest)

    def _tables(self, size: int) -> Iterator[pl.DataFrame]:
        """At most `size` questions each."""
        names = self.steps.names
        if self.seed is not None:
            seed = self.seed
            names = sorted(names, key=lambda name: int(seed_of(seed, f"shard {name}")))
        count = 1 if self.seed is None else self.open
        for begin in range(0, len(names), count):
            shards = [self.steps.shard(name) for name in names[begin : begin + count]]
            which, row = self._order(shards)
            for at in range(0, len(row), size):
                yield mixed(shards, which[at : at + size], row[at : at + size])

    def _order(self, shards: list[StepShard]) -> tuple[Ints, Ints]:
        """(shard, row) of the questions that are wanted, in their order."""
        split, which, rows = self.split, [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for at, shard in enumerate(shards):
            own = np.arange(len(shard.questions))
            own = own if split is None else own[(shard.questions["split"] == split).to_numpy()]
            which.append(np.full(len(own), at))
            rows.append(own)
        shard_of, row = np.concatenate(which), np.concatenate(rows)
        if self.seed is None:
            return shard_of, row
        ids = (id for shard, own in zip(shards, rows[1:], strict=True) for id in shard.questions["id"].gather(own))
        order = np.argsort(np.array([seed_of(self.seed, id) for id in ids], np.uint64), kind="stable")
        return shard_of[order], row[order]

    def dataset(self, streamed: bool = False) -> Any:
        """All of it in memory as a `datasets.Dataset`, or read as it is needed as an `IterableDataset`.

        >>> run.epoch().dataset().column_names[:3]  # doctest: +SKIP
        ['id', 'scope', 'split']
        """
        try:
            from datasets import Dataset, IterableDataset
        except ImportError as error:
            raise BadInput.at("datasets", "not installed; `pip install datasets`, or take `batches()`") from error
        import pyarrow as pa

        if streamed:
            return IterableDataset.from_generator(self.__iter__)
        return Dataset(pa.concat_tables([pa.table(batch) for batch in self.batches()]))


def mixed(shards: list[StepShard], which: Ints, row: Ints) -> pl.DataFrame:
    """Questions of several shards in this order."""
    found, place = [], []
    for at, shard in enumerate(shards):
        own = np.flatnonzero(which == at)
        if len(own):
            found.append(shard.rows(row[own]))
            place.append(own)
    return pl.concat(found)[np.argsort(np.concatenate(place))]
