"""Which questions people are asked: drawn by a keyed hash, so many of every type, template, answer or category."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from questree.columns.hashing import seed_of

# id, scope (ids of the video or the images), question, answer, type, template, split, labels (categories)
CANDIDATES: dict[str, Any] = {
    "id": pl.String,
    "scope": pl.List(pl.String),
    "question": pl.String,
    "answer": pl.String,
    "type": pl.String,
    "template": pl.String,
    "split": pl.String,
    "category": pl.List(pl.String),
}


def in_order(candidates: pl.DataFrame, seed: int, of: str) -> pl.DataFrame:
    """By a hash of seed and id, but of every type each answer in turn: the first few have as many of each."""
    chance = pl.Series("chance", [seed_of(seed, f"{of} {id}") for id in candidates["id"]], dtype=pl.UInt64)
    turn = pl.col("chance").rank("ordinal").over("type", "answer").alias("turn")
    return candidates.with_columns(chance).with_columns(turn).sort("turn", "chance", "id")


def drawn(candidates: pl.DataFrame, least: Mapping[str, int], seed: int) -> pl.DataFrame:
    """The first so many of every type, template, answer, split or category; `all` is a label everything has.

    In the order they are asked. A question counts for all labels it has, so that there may be more of some.
    """
    ordered = in_order(candidates, seed, "asked")
    wanted = np.zeros(len(ordered), bool)
    for label, count in least.items():
        row = pl.int_range(pl.len(), dtype=pl.UInt32).alias("row")
        name = pl.lit("").alias("label") if label == "all" else pl.col(label).alias("label")
        labelled = ordered.select(name, row)
        labelled = labelled.explode("label") if label == "category" else labelled
        first = labelled.drop_nulls("label").group_by("label", maintain_order=True).agg(pl.col("row").head(count))
        wanted[first["row"].explode().drop_nulls().to_numpy()] = True
    return ordered.filter(pl.Series(wanted))


def among(asked: int, others: int, seed: int) -> list[int]:
    """[other] its rank, of `asked` + `others` ranks: spread evenly, each somewhere in its own stretch."""
    if not others:
        return []
    ends = np.linspace(0, asked + others, others + 1).astype(int).tolist()
    return [
        low + int(seed_of(seed, f"gold {at}")) % max(high - low, 1) for at, (low, high) in enumerate(pairwise(ends))
    ]
