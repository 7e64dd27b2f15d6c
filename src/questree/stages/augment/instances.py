"""Rules 1 and 11: which frames belong to an action, and instances of one action that overlap are one."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import Graphs, doing, inside
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change
from questree.vocabulary.words import Vocabulary


def add_actions(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
    actions = inside(graphs.actions, graphs.frames)
    changes = [Change("actions", concerned=len(actions)), Change("frames of actions", added=len(doing(actions)))]
    return replace(graphs, actions=actions), changes


def merge_overlapping(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
    """A chain of overlapping instances becomes one, from the first start to the last end."""
    one = ["video", "action"]
    ordered = graphs.actions.sort(*one, "start", "end")
    reached = pl.col("end").cum_max().shift(1).over(one)
    new = (pl.col("start") > reached).fill_null(True)
    chained = ordered.with_columns(chain=new.cum_sum().over(one))
    merged = chained.group_by(*one, "chain", maintain_order=True).agg(
        pl.col("instance").first(), pl.col("start").min(), pl.col("end").max(), size=pl.len()
    )
    changed = merged.filter(pl.col("size") > 1).height
    actions = inside(merged.drop("chain", "size"), graphs.frames)
    change = Change("actions", removed=len(ordered) - len(actions), changed=changed)
    return replace(graphs, actions=actions), [change]


def numbered(actions: pl.DataFrame) -> pl.DataFrame:
    """Instances of an action counted from 1 in the order they start."""
    ordered = actions.sort("video", "action", "start", "end")
    return ordered.with_columns(instance=pl.int_range(1, pl.len() + 1, dtype=pl.UInt8).over("video", "action"))
