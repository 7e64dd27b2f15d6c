"""Questions of a shard that models failed on, found anywhere; and the DAGs of a few of them, cut out."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from questree.rules.schemes import unscored
from questree.scoring.as_read import AsRead, beside
from questree.scoring.dag_shards import RunDags
from questree.scoring.shard_counts import DagTask, read_models
from questree.show.dag import Ints, Opened, words_of
from questree.show.views import View
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored
from questree.tables.run import Run, kept_while

KEPT = 8  # candidates per model, composition and kind
KINDS = 3
STEP_FAILS, PART_WRONG, WRONG_REASONS = range(KINDS)  # kinds: parts right, whole wrong; both wrong; only a part wrong
OTHER = -2  # the number of a word that is no answer
CELL = ["model", "composition", "kind"]
CANDIDATES = {**dict.fromkeys((*CELL, "node", "top"), pl.Int64), "hash": pl.UInt64}


@dataclass(frozen=True)
class FailureTask:
    """What failures are looked for with; small enough to send anywhere that sees the run and its dealt DAGs."""

    of: type[View]
    dags: DagTask
    seed: int

    @property
    def view(self) -> View:
        return _view(self.dags.run, self.of)

    @property
    def shards(self) -> RunDags:
        return self.dags.dags


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions", "decomposed", "covr")
def _view(run: Path, of: type[View]) -> View:
    """Kept in a worker from one shard to the next; questions are asked for by their DAGs alone."""
    return of.of_some(Run(run), ())


def candidates(task: FailureTask, name: Any) -> pl.DataFrame:
    """In a worker: questions of a shard that a model failed on, per model, composition and kind the few of lowest
    hash."""
    dags, view = task.dags, task.view
    with unscored(dags.unscored):
        shard = view.open(name)
        scored = scored_nodes(shard, view)
    node = shard.tops["node"].to_numpy().astype(np.int64)
    inside = True if dags.split is None else task.shards.inside(name, shard.tops, dags.split)
    kept = np.flatnonzero(scored[node] & inside)
    tops = pl.DataFrame({"node": node[kept], "top": kept, "hash": view.chances(shard.tops[kept], task.seed)})
    labels = shard.edges.select(node=pl.col("parent").cast(pl.Int64), composition=pl.col("label").cast(pl.Int64))
    composed, found = labels.unique(), list[pl.DataFrame]()
    for at, one in enumerate(read_models(dags, name).values()):
        kind = kinds(shard, one, scored, kept)
        table = tops.with_columns(kind=pl.Series(kind), model=pl.lit(at, pl.Int64))
        table = table.filter(pl.Series(kind >= 0, dtype=pl.Boolean)).join(composed, on="node")
        found.append(table.select(*(pl.col(name).cast(type) for name, type in CANDIDATES.items())))
    return lowest(pl.concat([pl.DataFrame(schema=CANDIDATES), *found]))


def scored_nodes(shard: Opened, view: View) -> Ints:
    """[node]"""
    own = shard.columns
    counted = np.array([name not in view.scheme.unscored for name in own.types], bool)
    return np.asarray(counted[own.type] & (own.answer != NOTHING))


def kinds(shard: Opened, stored: Stored, scored: Ints, kept: Ints) -> Ints:
    """[kept question] how a model failed on it, -1 if it did not."""
    truth, node = shard.columns.answer, shard.tops["node"].to_numpy()[kept]
    # as truths are numbered; other words are no answer of the data
    number = np.array([*(shard.number.get(word, OTHER) for word in stored.words), NOTHING], np.int32)
    nodes, asked = (number[words] for words in shard.predicted(stored))
    part = scored & (nodes != truth)
    parts_wrong = np.bincount(shard.edges["parent"].to_numpy()[part[shard.child]], minlength=len(truth)) > 0
    below, wrong = parts_wrong[node], asked[kept] != truth[node]
    found = np.where(wrong, np.where(below, PART_WRONG, STEP_FAILS), WRONG_REASONS)
    return np.where(wrong | below, found, -1)


def lowest(table: pl.DataFrame, *order: str) -> pl.DataFrame:
    """The few of lowest hash in every cell; `order` of equal ones."""
    return table.sort(*CELL, "hash", *order, "top").group_by(CELL, maintain_order=True).head(KEPT)


class FailedDag(NamedTuple):
    """The DAG of a question, and what models say to its nodes."""

    id: str
    one: Opened
    said: dict[str, list[str | None]]  # model -> [node]
    raw: dict[str, str]  # model -> what it said to the question, if it was read as its answer


class ChosenQuestions(NamedTuple):
    """Some questions of a shard, by their nodes and rows."""

    shard: Any
    questions: list[tuple[int, int]]

    def __str__(self) -> str:
        return str(self.shard)


def cut_out(task: FailureTask, chosen: ChosenQuestions) -> list[FailedDag]:
    """In a worker: the DAGs of questions, in their order."""
    name, questions = chosen
    view = task.view
    shard, stored = view.open(name), read_models(task.dags, name)
    ids, found = view.named(shard.tops[[top for _, top in questions]]), list[FailedDag]()
    ones = view.cut_out(name, [node for node, _ in questions])
    for (node, top), id, one in zip(questions, ids, ones, strict=True):
        words = partial(words_of, shard=shard, nodes=shard.below(node)[1:], top=top)
        read = {model: own for model, own in stored.items() if isinstance(own, AsRead)}
        raw = {model: said for model, own in read.items() if (said := beside(own, words)[0])}
        found.append(FailedDag(id, one, {model: words(own) for model, own in stored.items()}, raw))
    return found
