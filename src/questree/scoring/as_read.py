"""Answers of models that are stored in a run, as a policy reads them: each once, beside what was said."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import ModelAnswers, needed
from questree.models.policies import Policy
from questree.models.predictions import PREDICTION
from questree.models.stored import of_shards, said
from questree.scoring.compared import PredictionReader, Scoring, run_reader
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.question_texts import texts_at
from questree.tables.predictions import Stored
from questree.tables.run import Run

Words = NDArray[np.int32]


@dataclass(frozen=True)
class AsRead(Stored):
    """Answers as they are read, to be looked at like stored ones."""

    raw: Stored
    nodes: dict[str, Words] = field(default_factory=dict)  # shard -> [node]
    tops: dict[str, Words] = field(default_factory=dict)  # shard -> [question], where they are told apart

    def shard(self, name: str, nodes: int) -> Words:
        return self.nodes[name]

    def asked(self, name: str, predicted: Words) -> Words:
        return self.tops[name] if len(self.tops[name]) else predicted


def as_read(asked: RunHierarchies, stored: Stored, reader: PredictionReader, policy: Policy) -> Stored:
    """The same model, every answer as it is read; itself if nothing is to be read."""
    if policy == "exact":
        return stored
    given = said(asked, stored)
    read = read_by_key(asked, given, reader, policy)
    if read is given:
        return stored
    parts = {shard.shard: np.split(read.by_key[rows], [shard.nodes]) for shard, rows in of_shards(asked.named)}
    nodes, tops = ({name: own[at] for name, own in parts.items()} for at in (0, 1))
    return AsRead(stored.folder, read.words, stored, nodes, tops)


def unread(asked: RunHierarchies, read: ModelAnswers, reader: PredictionReader) -> tuple[int, int]:
    """How many predictions for questions of the hierarchies are no answer, here or elsewhere; how many there are."""
    meant = pl.Series(read.words, dtype=pl.String).is_in([*reader.answers, *reader.reader.words]).to_numpy()
    every = needed(asked.hierarchies, scored=False)
    times = np.bincount(read.by_key[every] + 1, minlength=len(read.words) + 1)[1:]
    return int(times[~meant].sum()), int(times.sum())


def policy_of(run: Run, benchmark: str, how: Scoring, split: str | None = None) -> Callable[[Stored], Stored]:
    """Reads stored models of a run by a policy, with the answers of a split or of all; DAGs are read if it has to."""
    if how.policy == "exact":
        return lambda stored: stored
    asked, reader = run_reader(run, split, benchmark, how)
    return partial(as_read, asked, reader=reader, policy=how.policies[0])


def beside(stored: AsRead, words: Callable[[Stored], Sequence[str | None]]) -> list[str | None]:
    """What was said, where it is read as something else; `words` looks it up."""
    return [raw if raw != read else None for raw, read in zip(words(stored.raw), words(stored), strict=True)]


def read_by_key(asked: RunHierarchies, given: ModelAnswers, reader: PredictionReader, policy: Policy) -> ModelAnswers:
    """Answers of a stored model as a policy reads them; only those that are not exactly an answer are looked at."""
    if policy == "exact":
        return given
    words = pl.Series(given.words, dtype=pl.String)
    strange = np.append(~words.is_in(list(reader.answers)).to_numpy(), False)  # NOTHING is the last
    rows = np.flatnonzero(strange[given.by_key])
    if not len(rows):
        return given
    table = pl.DataFrame({"id": rows, PREDICTION: words.gather(given.by_key[rows])})
    own = replace(reader, texts=lambda rows: texts_at(asked, rows.to_numpy()), kinds=reader.kinds_at)
    meant = own.understood(table, policy).table[PREDICTION]
    number = {word: at for at, word in enumerate(given.words)}
    for word in meant.unique(maintain_order=True):
        number.setdefault(word, len(number))
    by_key = given.by_key.copy()
    by_key[rows] = meant.replace_strict(number, return_dtype=pl.Int32).to_numpy()
    return ModelAnswers(list(number), by_key)
