"""What networks learn from and are asked: questions of any split of a run, with or without their sub-questions."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np
import polars as pl

from questree.api.dag_tables import node_table
from questree.api.question_tables import question_table
from questree.api.splits import sides
from questree.benchmarks import Benchmark
from questree.models.stored import of_shards
from questree.stages.decompose.hierarchies import RunHierarchies, hierarchies_in
from questree.tables.run import Run

COLUMNS = ("id", "scope", "question", "answer")


def questions(run: Run, own: Benchmark, split: str) -> pl.DataFrame:
    """The balanced selection of a split, if there is one: id, scope, question, answer."""
    return _scoped(question_table(run, own, split, columns=COLUMNS))


def dags_of(run: Run, own: Benchmark, split: str | None, ids: Collection[str] | None = None) -> RunHierarchies:
    """The DAGs of a split, or of those of its questions that have these ids."""
    if split is not None and split not in sides(run, own):
        ids = set(questions(run, own, split)["id"]) if ids is None else ids
        split = None
    found = hierarchies_in(run, split, own.name)
    return found if ids is None else _only(found, pl.Series(sorted(ids), dtype=pl.String))


def _only(found: RunHierarchies, ids: pl.Series) -> RunHierarchies:
    whole, wanted = found.hierarchies, np.zeros(len(found.hierarchies.keys), bool)
    for shard, rows in of_shards(found.named):
        wanted[rows.start + shard.asked.filter(pl.col("id").is_in(ids.implode()))["key"].to_numpy()] = True
    top = whole.nodes["key"].to_numpy()[whole.begins["nodes"][1:] - 1]  # a question is the last of its DAG
    isolated = whole.isolated.filter(pl.Series(wanted[whole.isolated["key"].to_numpy()]))
    return replace(found, hierarchies=replace(whole.taken(np.flatnonzero(wanted[top])), isolated=isolated))


def nodes(found: RunHierarchies) -> pl.DataFrame:
    """Every question and sub-question once: id, scope, question, answer, asked."""
    return _scoped(node_table(found, programs=False).select(*COLUMNS, "asked"))


def _scoped(table: pl.DataFrame) -> pl.DataFrame:
    """Sets of images by one name."""
    of_images = isinstance(table.schema["scope"], pl.List)
    return table.with_columns(pl.col("scope").list.join("\0")) if of_images else table
