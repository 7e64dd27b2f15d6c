"""Worked failures: questions that models failed on, chosen by a hash and spread over compositions, each as a DAG."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from questree.progress import watch
from questree.scoring.as_read import AsRead, policy_of
from questree.scoring.as_read import beside as raw_beside
from questree.scoring.compared import Scoring
from questree.scoring.run_answers import answers_to
from questree.show import cards
from questree.show.dag import Opened, words_of
from questree.show.judged import judged, reason
from questree.show.outline import outlined
from questree.show.report.document import Failure
from questree.show.report.shots import embedded
from questree.show.video_view import VideoView
from questree.show.views import View
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored
from questree.tables.run import Run

SHOWN = 20
EXACT = Scoring()
KEPT = 8  # candidates per model, composition and kind
KINDS = 3
STEP_FAILS, PART_WRONG, WRONG_REASONS = range(KINDS)  # kinds: parts right, whole wrong; both wrong; only a part wrong
OTHER = -2  # the number of a word that is no answer
CELL = ["model", "composition", "kind"]
CANDIDATES = {**dict.fromkeys(("key", "node", "top", *CELL), pl.Int64), "hash": pl.UInt64, "shard": pl.String}


def failures(
    run: Run,
    models: Sequence[str],
    split: str | None = None,
    seed: int = 0,
    shown: int = SHOWN,
    of: type[View] = VideoView,
    how: Scoring = EXACT,
    media: Path | None = None,
) -> Iterator[Failure]:
    """Of scored questions of a decomposed run, or of one split; the same for the same run, models and seed."""
    view = of(run)
    shards = view.shards()
    read = policy_of(run, view.benchmark.name, how, split)
    stored = {model: read(answers_to(run, view.benchmark, model)) for model in models}
    lists = [
        candidates(view, view.open(name), stored, split, seed)
        for name in watch(shards, "finding failures", len(shards))
    ]
    table = spread(lowest(pl.concat(lists))) if lists else pl.DataFrame(schema=CANDIDATES)
    seen = set[int]()
    for row in table.iter_rows(named=True):
        if len(seen) == shown:
            return
        if row["key"] not in seen:
            seen.add(row["key"])
            yield told(view, row, stored, media)


def candidates(view: View, shard: Opened, stored: Mapping[str, Stored], split: str | None, seed: int) -> pl.DataFrame:
    """Questions of a shard that a model failed on, per model, composition and kind the few of lowest hash."""
    truth, own = shard.columns.answer, shard.columns
    counted = np.array([name not in view.scheme.unscored for name in own.types], bool)
    scored = counted[own.type] & (truth != NOTHING)
    node, keys = shard.tops["node"].to_numpy().astype(np.int64), view.keys(shard.tops)
    kept = np.flatnonzero(scored[node] & (True if split is None else view.in_split(keys, split)))
    tops = pl.DataFrame({"key": keys[kept], "node": node[kept], "top": kept, "hash": view.chances(keys[kept], seed)})
    labels = shard.edges.select(node=pl.col("parent").cast(pl.Int64), composition=pl.col("label").cast(pl.Int64))
    found = []
    for at, one in enumerate(stored.values()):
        # as truths are numbered; other words are no answer of the data
        number = np.array([*(shard.number.get(word, OTHER) for word in one.words), NOTHING], np.int32)
        nodes, asked = (number[words] for words in shard.predicted(one))
        part = scored & (nodes != truth)
        parts_wrong = np.bincount(shard.edges["parent"].to_numpy()[part[shard.child]], minlength=len(truth)) > 0
        below, wrong = parts_wrong[node[kept]], asked[kept] != truth[node[kept]]
        kind = np.where(wrong, np.where(below, PART_WRONG, STEP_FAILS), WRONG_REASONS)
        table = tops.with_columns(kind=pl.Series(kind), model=pl.lit(at, pl.Int64), shard=pl.lit(shard.name))
        table = table.filter(pl.Series(wrong | below, dtype=pl.Boolean)).join(labels.unique(), on="node")
        found.append(table.select(*(pl.col(name).cast(type) for name, type in CANDIDATES.items())))
    return lowest(pl.concat(found))


def lowest(table: pl.DataFrame) -> pl.DataFrame:
    """The few of lowest hash in every cell."""
    return table.sort(*CELL, "hash", "key").group_by(CELL, maintain_order=True).head(KEPT)


def spread(table: pl.DataFrame) -> pl.DataFrame:
    """Compositions in turn; within each the kinds and models in turn, another one first in every composition."""
    models = max(int(table["model"].max() or 0) + 1, 1)  # type: ignore[arg-type]
    kind, model = (pl.col(name) + pl.col("composition") for name in ("kind", "model"))
    table = table.with_columns(
        turn=pl.int_range(pl.len()).over(CELL), first_kind=kind % KINDS, first_model=(model + kind) % models
    )
    table = table.sort("composition", "turn", "first_kind", "first_model")
    return table.with_columns(turn=pl.int_range(pl.len()).over("composition")).sort("turn", "composition")


def told(view: View, row: Mapping[str, Any], stored: Mapping[str, Stored], media: Path | None) -> Failure:
    shard = view.opened(row["shard"])
    one = shard.only(row["node"])
    dag = view.dag(one)
    kept = shard.below(row["node"])
    words = partial(words_of, shard=shard, nodes=kept[1:], top=row["top"])
    said = {name: words(own) for name, own in stored.items()}
    model = list(said)[row["model"]]
    found, asked, truth = judged(dag, one, model, said[model]), view.find(row["key"]), dag.rows[0]["answer"]
    beside = [model, *(name for name in said if name != model)]
    return Failure(
        id=asked.id,
        text=asked.text,
        truth=truth,
        said=tuple((name, said[name][0], said[name][0] == truth) for name in beside),
        composition=view.scheme.compositions[row["composition"]],
        sentence=reason(dag, found),
        picture=cards.markup(dag, found, view.kinds, asked.text),
        narrow=outlined(dag, found, view.kinds),
        raw={
            name: raw for name, own in stored.items() if isinstance(own, AsRead) and (raw := raw_beside(own, words)[0])
        },
        shots=embedded(view.scene(asked, one).files(asked.program, media)) if media else (),
    )
