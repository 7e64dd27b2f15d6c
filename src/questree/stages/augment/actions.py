"""Rules 1, 11, 8 and 9: frames of actions, instances that overlap, their order, and what is missing between them."""

from dataclasses import dataclass, replace

import polars as pl

from questree.stages.augment.graphs import GAP, AugmentOptions, Change, Graphs, among, doing
from questree.tables.action_frames import inside
from questree.tables.facts import ACTIONS, instances
from questree.tables.table import WORD
from questree.vocabulary.words import NONE, Vocabulary


def add_actions(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    actions = inside(graphs.actions, graphs.frames, options.as_released)
    changes = [Change("actions", concerned=len(actions)), Change("frames of actions", added=len(doing(actions)))]
    return replace(graphs, actions=actions), changes


def merge_overlapping(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    """A chain of overlapping instances becomes one, from the first start to the last end."""
    one = ["video", "action"]
    merged = (
        _chained(graphs.actions, one)
        .group_by(*one, "chain", maintain_order=True)
        .agg(pl.col("instance").first(), pl.col("start").min(), pl.col("end").max(), size=pl.len())
    )
    changed = merged.filter(pl.col("size") > 1).height
    actions = inside(merged.drop("chain", "size"), graphs.frames, options.as_released)
    change = Change("actions", removed=len(graphs.actions) - len(actions), changed=changed)
    return replace(graphs, actions=actions), [change]


def _chained(actions: pl.DataFrame, group: list[str]) -> pl.DataFrame:
    """The actions of each group in order, with `chain`: the same for those that overlap, directly or by others."""
    reached = pl.col("end").cum_max().shift(1).over(group)
    new = (pl.col("start") > reached).fill_null(True)
    return actions.sort(*group, "start", "end").with_columns(chain=new.cum_sum().over(group))


def numbered(actions: pl.DataFrame) -> pl.DataFrame:
    """Instances of an action counted from 1 in the order they start."""
    return instances(actions.sort("video", "action", "start", "end"))


TAKE, HOLD, PUT = range(3)
FAMILY = ["video", "noun"]  # actions on the thing of one name
ORDER = ["row", "row_later", "role", "role_later"]


def roles(vocabulary: Vocabulary) -> pl.DataFrame:
    """action, noun, role of every action that takes, holds or puts its noun."""
    lists, nouns = vocabulary.lists, vocabulary.noun_of
    role_of = {
        int(vocabulary.folded[verb]): role
        for role, names in enumerate((lists.take_verbs, lists.hold_verbs, lists.put_verbs))
        for verb in vocabulary.relations_named(names)
    }
    # taking something from a box does not take the box
    other = set(vocabulary.never_localised)
    found = [
        (action, int(nouns[action]), role_of[int(verb)])
        for action, verb in enumerate(vocabulary.verb_of)
        if int(verb) in role_of and nouns[action] != NONE and action not in other
    ]
    return pl.DataFrame(found, {"action": WORD[vocabulary.wide], "noun": pl.Int64, "role": pl.Int8}, orient="row")


# the usual order first: what it leaves of an action is what another round can overlap
CUTS = ((TAKE, HOLD), (HOLD, PUT), (TAKE, PUT), (HOLD, TAKE), (PUT, HOLD), (PUT, TAKE))


def trim_overlaps(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    """Who comes first is decided for all actions as they were annotated; only then are overlaps cut."""
    actions = graphs.actions.with_row_index("row")
    staged = _chained(actions.join(roles(vocabulary), on="action"), FAMILY)
    order = _ranked(staged) if options.as_released else _staggered(staged)
    for earlier, later in CUTS:
        actions = _trim(actions, order.filter(role=earlier, role_later=later), GAP if options.as_released else 0)
    before = graphs.actions
    changed = actions.filter((actions["start"] != before["start"]) | (actions["end"] != before["end"]))
    trimmed = inside(actions.drop("row"), graphs.frames, options.as_released)
    return replace(graphs, actions=trimmed), [Change("actions", changed=len(changed))]


def _staggered(staged: pl.DataFrame) -> pl.DataFrame:
    """row, row_later, role, role_later of those that overlap so that one starts and ends first.

    Where they share a start or an end, the roles must agree. One that goes on before and after the other has no place
    in the order: whatever is cut of it, seconds go in which nothing else was done.
    """
    pairs = staged.join(staged, on=[*FAMILY, "chain"], suffix="_later").filter(pl.col("role") != pl.col("role_later"))
    first = (pl.col("start") <= pl.col("start_later")) & (pl.col("end") <= pl.col("end_later"))
    apart = (pl.col("start") < pl.col("start_later")) & (pl.col("end") < pl.col("end_later"))
    return pairs.filter(first, apart | (pl.col("role") < pl.col("role_later"))).select(ORDER)


def _ranked(staged: pl.DataFrame) -> pl.DataFrame:
    """row, row_later, role, role_later of all of a family that overlap, as in released graphs."""
    chain = [*FAMILY, "chain"]
    listed = staged.group_by(chain, maintain_order=True).agg("row", "role", "start", "end")
    mixed = listed.filter(pl.col("role").list.n_unique() > 1)
    ranks = [ranks_of(role, start, end) for role, start, end in mixed.select("role", "start", "end").iter_rows()]
    told = mixed.select(*chain, "row", "role", pl.Series("rank", ranks, pl.List(pl.Int64)))
    ranked = told.explode("row", "role", "rank", empty_as_null=False)
    return ranked.join(ranked, on=chain, suffix="_later").filter(pl.col("rank") < pl.col("rank_later")).select(ORDER)


def ranks_of(roles: list[int], starts: list[float], ends: list[float]) -> list[int]:
    """The place of each action in their order in time.

    One that starts earlier and has its middle earlier comes first; where the two disagree, the earlier role.
    """
    middles = [start + end for start, end in zip(starts, ends, strict=True)]
    left = sorted(range(len(roles)), key=lambda at: (roles[at], middles[at], starts[at]))
    ranks = [0] * len(roles)
    for rank in range(len(roles)):
        # one with the earliest start of the earliest middle has nobody ahead, so there always is one
        free = (at for at in left if not any(starts[o] < starts[at] and middles[o] < middles[at] for o in left))
        chosen = next(free)
        ranks[chosen] = rank
        left.remove(chosen)
    return ranks


def _trim(actions: pl.DataFrame, order: pl.DataFrame, gap: float) -> pl.DataFrame:
    """Cut every overlap of actions in this order in its middle.

    An action that several follow ends at the first cut, and they start no later than they must.
    """
    stamps = actions.select("row", "start", "end")
    later = stamps.rename(lambda name: f"{name}_later")
    start, end = pl.max_horizontal("start", "start_later"), pl.min_horizontal("end", "end_later")
    pairs = order.join(stamps, on="row").join(later, on="row_later").filter(start <= end if gap else start < end)
    middle = (start + end) / 2
    cuts = pairs.select("row", "row_later", cut=middle.round(2) if gap else middle)
    cuts = cuts.with_columns(cut=pl.col("cut").min().over("row"))
    ends = cuts.select("row", cut_end=(pl.col("cut") - gap).round(2) if gap else "cut").unique()
    starts = cuts.group_by(row="row_later").agg(cut_start=pl.col("cut").max())
    found = actions.join(ends, on="row", how="left").join(starts, on="row", how="left").sort("row")
    start, end = pl.max_horizontal("start", "cut_start"), pl.min_horizontal("end", "cut_end")
    return found.with_columns(start=start, end=end).drop("cut_start", "cut_end")


@dataclass(frozen=True)
class Side:
    """Where to look for the missing action, seen from the holding."""

    role: int
    neighbour: str  # column with the role of the action of the family on this side
    frame: pl.Expr  # the annotated frame on this side
    stamp: str  # the end of the holding on this side


BEFORE = Side(TAKE, "before", pl.col("first").cast(pl.Int32) - 1, "start")
AFTER = Side(PUT, "after", pl.col("last").cast(pl.Int32) + 1, "end")


def infer_missing(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    """As released, a holding that starts (ends) mid-video without taking (putting) gets one on the frame just before
    (after). By default nothing is done that nobody annotated: it would be the shortest action, or the first after
    another."""
    if not options.as_released:
        return graphs, [Change("actions")]
    holdings, busy = _holdings(graphs, vocabulary), _in_use(graphs, vocabulary)
    made = []
    for side in (BEFORE, AFTER):
        spots = _bare(holdings, graphs, options, side).join(busy, on=["video", "frame", "noun"], how="anti")
        made.append(_actions(spots, vocabulary, side))
    new = pl.concat(made).sort("video", "start", "action")
    counts = [Change("takings", added=len(made[0])), Change("puttings", added=len(made[1]))]
    actions = inside(pl.concat([graphs.actions, new]), graphs.frames, closed=True)
    return replace(graphs, actions=actions), [*counts, Change("actions", added=len(new))]


def _holdings(graphs: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """Holdings with a frame, and the roles of their neighbours in the family."""
    staged = graphs.actions.join(roles(vocabulary), on="action").sort(*FAMILY, "start", "end", "action")
    before, after = (pl.col("role").shift(step).over(FAMILY) for step in (1, -1))
    told = staged.with_columns(before=before, after=after)
    return told.filter(pl.col("role") == HOLD, pl.col("first").is_not_null())


def _bare(holdings: pl.DataFrame, graphs: Graphs, options: AugmentOptions, side: Side) -> pl.DataFrame:
    """Holdings without the action on this side, with the frame it would be on, if there is one near enough."""
    lone = holdings.filter(pl.col(side.neighbour).is_null() | (pl.col(side.neighbour) != side.role))
    spots = lone.with_columns(frame=side.frame).filter(pl.col("frame") >= 0).cast({"frame": pl.UInt16})
    timed = spots.join(graphs.frames.select("video", "frame", "seconds"), on=["video", "frame"])
    return timed.filter((pl.col("seconds") - pl.col(side.stamp)).abs() <= options.inferred_reach)


def _actions(spots: pl.DataFrame, vocabulary: Vocabulary, side: Side) -> pl.DataFrame:
    """From the frame up to the holding, or from the holding until the frame has been seen."""
    made = spots.drop("action").join(_plainest(vocabulary, side.role), on="noun")
    if side.role == TAKE:
        start, end = pl.col("seconds"), pl.max_horizontal("seconds", pl.col("start") - GAP)
    else:
        start, end = pl.min_horizontal("seconds", pl.col("end") + GAP), pl.col("seconds")
    instance = pl.lit(1, spots["instance"].dtype)
    return ACTIONS.frame(made.with_columns(start=start, end=end, instance=instance, first=None, last=None)).unique()


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
    used = doing(graphs.actions).join(nouns.cast({"action": WORD[vocabulary.wide]}), on="action")
    return used.select("video", "frame", "noun").unique()
