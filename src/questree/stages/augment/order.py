"""Rule 8: a thing is taken, then held, then put or thrown; stamps that overlap against this order are trimmed."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import GAP, Graphs, inside
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change
from questree.vocabulary.words import NONE, Vocabulary

TAKE, HOLD, PUT = range(3)
FAMILY = ["video", "noun"]  # actions on the thing of one name


def roles(vocabulary: Vocabulary) -> pl.DataFrame:
    """action, noun, role of every action that takes, holds or puts its noun."""
    lists, nouns = vocabulary.lists, vocabulary.noun_of
    role_of = {
        int(vocabulary.folded[verb]): role
        for role, names in enumerate((lists.take_verbs, lists.hold_verbs, lists.put_verbs))
        for verb in vocabulary.relations_named(names)
    }
    # taking something from a box does not take the box
    other = {vocabulary.action_at[action] for action in lists.never_localised_actions}
    found = [
        (action, int(nouns[action]), role_of[int(verb)])
        for action, verb in enumerate(vocabulary.verb_of)
        if int(verb) in role_of and nouns[action] != NONE and action not in other
    ]
    return pl.DataFrame(found, {"action": pl.UInt8, "noun": pl.Int64, "role": pl.Int8}, orient="row")


def trim_overlaps(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
    actions, staged = graphs.actions.with_row_index("row"), roles(vocabulary)
    for earlier, later in ((TAKE, HOLD), (HOLD, PUT), (TAKE, PUT)):
        actions = _trim(actions, staged, earlier, later)
    before = graphs.actions
    changed = actions.filter((actions["start"] != before["start"]) | (actions["end"] != before["end"]))
    trimmed = inside(actions.drop("row"), graphs.frames)
    return replace(graphs, actions=trimmed), [Change("actions", changed=len(changed))]


def _trim(actions: pl.DataFrame, staged: pl.DataFrame, earlier: int, later: int) -> pl.DataFrame:
    """Cut every overlap of the two roles in its middle; trimming only shrinks, so all can be cut at once."""
    cuts = _cuts(actions.join(staged, on="action"), earlier, later)
    ends = cuts.group_by(row="before").agg(cut_end=(pl.col("cut").min() - GAP).round(2))
    starts = cuts.group_by(row="after").agg(cut_start=pl.col("cut").max())
    found = actions.join(ends, on="row", how="left").join(starts, on="row", how="left").sort("row")
    start, end = pl.max_horizontal("start", "cut_start"), pl.min_horizontal("end", "cut_end")
    return found.with_columns(start=start, end=end).drop("cut_start", "cut_end")


def _cuts(actions: pl.DataFrame, earlier: int, later: int) -> pl.DataFrame:
    """cut, and the rows of the actions before and after it.

    The earlier role comes before, unless it both starts and has its middle later: then it belongs to another round.
    """
    ours, theirs = (actions.filter(pl.col("role") == role) for role in (earlier, later))
    pairs = ours.join(theirs, on=FAMILY, suffix="_later")
    start, end = pl.max_horizontal("start", "start_later"), pl.min_horizontal("end", "end_later")
    starts_first = pl.col("start") <= pl.col("start_later")
    middle_first = pl.col("start") + pl.col("end") <= pl.col("start_later") + pl.col("end_later")
    in_order = starts_first | middle_first
    return pairs.filter(start <= end).select(
        cut=((start + end) / 2).round(2),
        before=pl.when(in_order).then("row").otherwise("row_later"),
        after=pl.when(in_order).then("row_later").otherwise("row"),
    )
