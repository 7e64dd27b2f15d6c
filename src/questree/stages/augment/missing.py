"""Rule 9: what is held mid-video was taken before and is put somewhere after; what is missing is added."""

from dataclasses import dataclass, replace

import polars as pl

from questree.stages.augment.graphs import GAP, Graphs, among, doing, inside
from questree.stages.augment.options import Options
from questree.stages.augment.order import FAMILY, HOLD, PUT, TAKE, roles
from questree.stages.augment.rule import Change
from questree.tables.facts import ACTIONS
from questree.vocabulary.words import Vocabulary


@dataclass(frozen=True)
class Side:
    """Where to look for the missing action, seen from the holding."""

    role: int
    neighbour: str  # column with the role of the action of the family on this side
    frame: pl.Expr  # the annotated frame on this side
    stamp: str  # the end of the holding on this side


BEFORE = Side(TAKE, "before", pl.col("first").cast(pl.Int32) - 1, "start")
AFTER = Side(PUT, "after", pl.col("last").cast(pl.Int32) + 1, "end")


def infer_missing(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
    """A holding that starts (ends) mid-video without taking (putting) gets one on the frame just before (after)."""
    holdings, busy = _holdings(graphs, vocabulary), _in_use(graphs, vocabulary)
    made = []
    for side in (BEFORE, AFTER):
        spots = _bare(holdings, graphs, options, side).join(busy, on=["video", "frame", "noun"], how="anti")
        made.append(_actions(spots, vocabulary, side))
    new = pl.concat(made).sort("video", "start", "action")
    counts = [Change("takings", added=len(made[0])), Change("puttings", added=len(made[1]))]
    actions = pl.concat([graphs.actions, inside(new, graphs.frames)])
    return replace(graphs, actions=actions), [*counts, Change("actions", added=len(new))]


def _holdings(graphs: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """Holdings with a frame, and the roles of their neighbours in the family."""
    staged = graphs.actions.join(roles(vocabulary), on="action").sort(*FAMILY, "start", "end", "action")
    before, after = (pl.col("role").shift(step).over(FAMILY) for step in (1, -1))
    told = staged.with_columns(before=before, after=after)
    return told.filter(pl.col("role") == HOLD, pl.col("first").is_not_null())


def _bare(holdings: pl.DataFrame, graphs: Graphs, options: Options, side: Side) -> pl.DataFrame:
    """Holdings without the action on this side, with the frame it would be on, if there is one near enough."""
    lone = holdings.filter(pl.col(side.neighbour).is_null() | (pl.col(side.neighbour) != side.role))
    spots = lone.with_columns(frame=side.frame).filter(pl.col("frame") >= 0).cast({"frame": pl.UInt16})
    timed = spots.join(graphs.frames.select("video", "frame", "seconds"), on=["video", "frame"])
    return timed.filter((pl.col("seconds") - pl.col(side.stamp)).abs() <= options.inferred_reach)


def _actions(spots: pl.DataFrame, vocabulary: Vocabulary, side: Side) -> pl.DataFrame:
    """From the frame up to the holding, or from the holding to the frame."""
    made = spots.drop("action").join(_plainest(vocabulary, side.role), on="noun")
    if side.role == TAKE:
        start, end = pl.col("seconds"), pl.max_horizontal("seconds", pl.col("start") - GAP)
    else:
        start, end = pl.min_horizontal("seconds", pl.col("end") + GAP), pl.col("seconds")
    return ACTIONS.frame(made.with_columns(start=start, end=end, instance=pl.lit(1), first=None, last=None)).unique()


def _plainest(vocabulary: Vocabulary, role: int) -> pl.DataFrame:
    """noun, action: taking, or putting rather than throwing; of several the first in the vocabulary."""
    lists = vocabulary.lists
    verbs = vocabulary.relations_named((lists.take_verbs if role == TAKE else lists.put_verbs)[:1])
    plain = [
        at
        for at, verb in enumerate(vocabulary.verb_of)
        if verb in vocabulary.folded[verbs] and vocabulary.merged_action[at] == at
    ]
    found = roles(vocabulary).filter(pl.col("role") == role, among("action", plain)).sort("action")
    return found.unique("noun", keep="first", maintain_order=True).select("noun", "action")


def _in_use(graphs: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """video, frame, noun: an action is done with the thing, so it need not be taken or put."""
    nouns = pl.DataFrame({"action": range(len(vocabulary.actions)), "noun": vocabulary.noun_of})
    used = doing(graphs.actions).join(nouns.cast({"action": pl.UInt8}), on="action")
    return used.select("video", "frame", "noun").unique()
