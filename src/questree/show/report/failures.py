"""Worked failures: questions that models failed on, chosen by a hash and spread over compositions, each as a DAG."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from questree.scoring.compared import Scoring
from questree.scoring.dag_scores import DAGS, shared_dags, stored_or_bots
from questree.scoring.run_shards import knowing
from questree.show import cards
from questree.show.judged import judged, reason
from questree.show.outline import outlined
from questree.show.report.document import Failure
from questree.show.report.failed import (
    CANDIDATES,
    CELL,
    KINDS,
    ChosenQuestions,
    FailedDag,
    FailureTask,
    candidates,
    cut_out,
    lowest,
)
from questree.show.report.shots import embedded
from questree.show.video_view import VideoView
from questree.show.views import View
from questree.tables.run import Run
from questree.workers import each

SHOWN = 20
EXACT = Scoring()
SHARD = "shard"  # its number among those that are looked through


def failures(
    run: Run,
    models: Sequence[str],
    split: str | None = None,
    seed: int = 0,
    shown: int = SHOWN,
    of: type[View] = VideoView,
    how: Scoring = EXACT,
    media: Path | None = None,
    workers: int = 1,
) -> Iterator[Failure]:
    """Of scored questions of a decomposed run, or of one split; the same for the same run, models and seed."""
    stored_or_bots(run, of.benchmark, models)
    with shared_dags(run, of.benchmark, models, split, how, workers) as (dags, shards, pool, _):
        names: Sequence[Any] = shards.names
        if how.policy != "exact":
            dags, names = knowing(DAGS, dags, names, pool)
        task = FailureTask(of, dags, seed)
        lists = each(pool, "finding failures", "shard", names, candidates, task)
        chosen = few(lists, shown)
        there = [ChosenQuestions(names[at], own.select("node", "top").rows()) for (at,), own in chosen.group_by(SHARD)]
        dags_of = each(pool, "cutting out DAGs", "shard", there, cut_out, task)
    rows = [(name, *place) for name, places in there for place in places]
    found = dict(zip(rows, (own for part in dags_of for own in part), strict=True))
    view = of.of_some(run, [own.id for own in found.values()])
    for row in chosen.iter_rows(named=True):
        yield told(view, row, found[names[row[SHARD]], row["node"], row["top"]], media)


def few(lists: Sequence[pl.DataFrame], shown: int) -> pl.DataFrame:
    """The questions that are shown, each once."""
    every = [own.with_columns(pl.lit(at, pl.Int64).alias(SHARD)) for at, own in enumerate(lists)]
    table = pl.concat([pl.DataFrame(schema={**CANDIDATES, SHARD: pl.Int64}), *every])
    return spread(lowest(table, SHARD)).unique([SHARD, "top"], keep="first", maintain_order=True).head(shown)


def spread(table: pl.DataFrame) -> pl.DataFrame:
    """Compositions in turn; within each the kinds and models in turn, another one first in every composition."""
    models = max(int(table["model"].max() or 0) + 1, 1)  # type: ignore[arg-type]
    kind, model = (pl.col(name) + pl.col("composition") for name in ("kind", "model"))
    table = table.with_columns(
        turn=pl.int_range(pl.len()).over(CELL), first_kind=kind % KINDS, first_model=(model + kind) % models
    )
    table = table.sort("composition", "turn", "first_kind", "first_model")
    return table.with_columns(turn=pl.int_range(pl.len()).over("composition")).sort("turn", "composition")


def told(view: View, row: Mapping[str, Any], failed: FailedDag, media: Path | None) -> Failure:
    one, said, key = failed.one, failed.said, view.key(failed.id)
    assert key is not None
    dag, asked, model = view.dag(one), view.find(key), list(said)[row["model"]]
    found, truth = judged(dag, one, model, said[model]), dag.rows[0]["answer"]
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
        raw=failed.raw,
        shots=embedded(view.scene(asked, one).files(asked.program, media)) if media else (),
    )
