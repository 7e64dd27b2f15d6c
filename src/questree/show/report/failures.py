"""Worked failures: questions that models failed on, chosen by a hash and spread over compositions, each as a DAG."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import mix, seed_of
from questree.progress import watch
from questree.show.dag import Dag
from questree.show.drawing import drawn
from questree.show.judged import judged
from questree.show.opened import Opened
from questree.show.reasons import reason
from questree.show.report.document import Failure
from questree.show.report.scoring import video_answers
from questree.stages.decompose.hierarchies import Columns, shards
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.words import AnswerWords
from questree.stages.questions import Bank
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import COMPOSITIONS, UNSCORED
from questree.tables.predictions import Stored
from questree.tables.run import Run

SHOWN = 20
KEPT = 8  # candidates per model, composition and kind
WIDEST = 5  # sub-questions beside each other that can still be read
KINDS = 3
STEP_FAILS, PART_WRONG, WRONG_REASONS = range(KINDS)  # kinds: parts right, whole wrong; both wrong; only a part wrong
OTHER = -2  # the number of a word that is no answer
CELL = ["model", "composition", "kind"]
CANDIDATES = dict.fromkeys(("video", "number", "node", "top", *CELL), pl.Int64)


@dataclass(frozen=True)
class Shelf:
    """What is needed to find failures and to tell about them."""

    bank: Bank
    stored: Mapping[str, Stored]  # model -> its predictions
    words: AnswerWords
    texts: Texts
    keys: NDArray[np.uint64]  # [video]
    here: NDArray[np.bool_]  # [video] may its questions be chosen?


def failures(
    run: Run, models: Sequence[str], split: str | None = None, seed: int = 0, shown: int = SHOWN
) -> Iterator[Failure]:
    """Of scored questions of a decomposed run, or of one split; the same for the same run, models and seed."""
    bank = Bank(run)
    keys = np.array([seed_of(seed, f"failure {video}") for video in bank.ids], np.uint64)
    stored = {model: video_answers(run, model) for model in models}
    side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
    here = np.ones(len(side), bool) if split is None else (side == split).to_numpy()
    shelf = Shelf(bank, stored, AnswerWords(bank.vocabulary), Texts(bank.vocabulary), keys, here)
    found = {folder.name: folder for folder in shards(run)}
    lists = [candidates(Opened.read(found[name]), shelf) for name in watch(found, "finding failures", len(found))]
    table = spread(lowest(pl.concat(lists))) if lists else pl.DataFrame(schema=CANDIDATES)
    seen = set[tuple[int, int]]()
    for row in table.iter_rows(named=True):
        if len(seen) == shown:
            return
        if (row["video"], row["number"]) not in seen:
            whole = Opened.read(found[row["shard"]])
            made = told(whole, row, shelf)
            if made is not None:
                seen.add((row["video"], row["number"]))
                yield made


def candidates(shard: Opened, shelf: Shelf) -> pl.DataFrame:
    """Questions of a shard that a model failed on, per model, composition and kind the few of lowest hash."""
    truth = Columns.of(shard.forms, shard.nodes, shelf.words).answer
    scored = ~np.isin(shard.forms["type"].to_numpy(), list(UNSCORED))[shard.form] & (truth != NOTHING)
    tops = shard.tops.select(pl.all().cast(pl.Int64)).with_row_index("top").with_columns(pl.col("top").cast(pl.Int64))
    kept = scored[tops["node"].to_numpy()] & shelf.here[tops["video"].to_numpy()]
    tops = tops.filter(pl.Series(kept, dtype=pl.Boolean))
    labels = shard.edges.select(node=pl.col("parent").cast(pl.Int64), composition=pl.col("label").cast(pl.Int64))
    hashes = mix(shelf.keys[tops["video"].to_numpy()], tops["number"].to_numpy())
    found = []
    for at, stored in enumerate(shelf.stored.values()):
        nodes, asked = predicted(shard, stored, shelf.words)
        part = scored & (nodes != truth)
        parts_wrong = np.bincount(shard.edges["parent"].to_numpy()[part[shard.child]], minlength=len(truth)) > 0
        below = parts_wrong[tops["node"].to_numpy()]
        wrong = asked[tops["top"].to_numpy()] != truth[tops["node"].to_numpy()]
        kind = np.where(wrong, np.where(below, PART_WRONG, STEP_FAILS), WRONG_REASONS)
        failed = wrong | below
        table = tops.with_columns(kind=pl.Series(kind), hash=pl.Series(hashes), model=pl.lit(at, pl.Int64))
        table = table.filter(pl.Series(failed, dtype=pl.Boolean)).join(labels.unique(), on="node")
        found.append(table.with_columns(shard=pl.lit(shard.name)).select(*CANDIDATES, "hash", "shard"))
    return lowest(pl.concat(found))


def predicted(shard: Opened, stored: Stored, words: AnswerWords) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """[node], [question] the number of the answer, as truths are numbered; other words are no answer of the data."""
    number = np.array([*(words.number.get(word, OTHER) for word in stored.words), NOTHING], np.int32)
    nodes = stored.shard(shard.name, len(shard.nodes))
    return number[nodes], number[stored.asked(shard.name, nodes[shard.tops["node"].to_numpy()])]


def lowest(table: pl.DataFrame) -> pl.DataFrame:
    """The few of lowest hash in every cell."""
    return table.sort(*CELL, "hash", "video").group_by(CELL, maintain_order=True).head(KEPT)


def spread(table: pl.DataFrame) -> pl.DataFrame:
    """Compositions in turn; within each the kinds and models in turn, another one first in every composition."""
    models = max(int(table["model"].max() or 0) + 1, 1)  # type: ignore[arg-type]
    kind, model = (pl.col(name) + pl.col("composition") for name in ("kind", "model"))
    table = table.with_columns(
        turn=pl.int_range(pl.len()).over(CELL), first_kind=kind % KINDS, first_model=(model + kind) % models
    )
    table = table.sort("composition", "turn", "first_kind", "first_model")
    return table.with_columns(turn=pl.int_range(pl.len()).over("composition")).sort("turn", "composition")


def told(shard: Opened, row: Mapping[str, Any], shelf: Shelf) -> Failure | None:
    """The failure, or nothing if its DAG is too wide to be read."""
    kept = shard.below(row["node"])
    one = shard.only(row["node"])
    dag = one.dag(shelf.texts)
    if width(dag) > WIDEST:
        return None
    said = {name: words_of(stored, shard, kept, row["top"]) for name, stored in shelf.stored.items()}
    model = list(said)[row["model"]]
    found = judged(dag, one, model, said[model], shelf.words)
    id = f"{shelf.bank.ids[row['video']]}-{row['number']}"
    truth = dag.rows[0]["answer"]
    beside = [model, *(name for name in said if name != model)]
    return Failure(
        id=id,
        text=shelf.bank.find(id).text,
        truth=truth,
        said=tuple((name, said[name][0], said[name][0] == truth) for name in beside),
        composition=COMPOSITIONS[row["composition"]],
        sentence=reason(dag, found),
        picture=drawn(dag, found),
    )


def words_of(stored: Stored, shard: Opened, nodes: list[int], top: int) -> list[str | None]:
    """[node] what a model says; to the question itself, the first, what it says when asked that."""
    number = stored.shard(shard.name, len(shard.nodes))
    asked = stored.asked(shard.name, number[shard.tops["node"].to_numpy()])[top]
    return [None if at == NOTHING else stored.words[at] for at in [asked, *number[nodes[1:]].tolist()]]


def width(dag: Dag) -> int:
    depths = dag.depths()
    return max(depths.count(depth) for depth in depths)
