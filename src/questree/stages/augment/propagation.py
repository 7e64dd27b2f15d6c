"""Rule 10: what is annotated on some frames is copied to frames that lack it."""

from dataclasses import replace

import numpy as np
import polars as pl

from questree.columns.keys import BY_TRACK, from_keys, keys, known
from questree.stages.augment.graphs import SPOT, AugmentOptions, Change, Graphs, among, doing, rows, telling, without
from questree.stages.augment.opposites import denied, giving_way, touching_and_apart
from questree.stages.augment.relations import pairs, verb_facts
from questree.tables.table import WORD
from questree.vocabulary.words import Vocabulary


def propagate(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    changes, start = [], len(graphs.relations)
    for name, copies in STEPS.items():
        before = graphs.relations
        copied = _undenied(copies(graphs, vocabulary, options), graphs, vocabulary)
        graphs = replace(graphs, relations=rows(before, copied))
        changes.append(Change(name, added=len(graphs.relations) - len(before)))
    return graphs, [*changes, Change("relation facts", added=len(graphs.relations) - start)]


def inside_actions(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> pl.DataFrame:
    """Presence and contacts of an action's object.

    Between two frames of the action that have it, always; to the rest of the action, if most of the action's frames
    that show the object have it, and it has no actions of its own to say how long it lasts. What those say is not
    copied.
    """
    presence = vocabulary.relation_at[vocabulary.annotated]
    contacts, _ = touching_and_apart(vocabulary)
    instances = graphs.actions.with_row_index("row").join(pairs(vocabulary).drop("relation"), on="action")
    frames = doing(instances).select("row", *SPOT)
    annotated = without(graphs.relations, _done(graphs, vocabulary))
    seen = frames.join(annotated.filter(among("relation", [presence, *contacts])), on=SPOT)
    shown = seen.filter(pl.col("relation") == presence).group_by("row").agg(shown=pl.len())
    said = seen.group_by("row", "relation").agg(low=pl.col("frame").min(), high=pl.col("frame").max(), said=pl.len())
    copies = frames.join(said.join(shown, on="row", how="left"), on="row")
    between = pl.col("frame").is_between("low", "high")
    usual = pl.col("said") >= options.action_share * pl.col("shown")
    return copies.filter(between | (usual & ~among("relation", _own_actions(vocabulary))))


def across_gaps(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> pl.DataFrame:
    """A relation on two frames not far apart holds between them, but not from one action until another one begins."""
    copied = [vocabulary.relation_at[vocabulary.annotated], *telling(vocabulary, "spatial", "contact")]
    ordered = np.sort(keys(graphs.relations.filter(among("relation", copied)), BY_TRACK))
    word = WORD[vocabulary.wide]
    here, following = ordered[:-1], ordered[1:]
    same_track = here >> np.uint64(16) == following >> np.uint64(16)
    ends = from_keys(here[same_track & (following - here > 1)], BY_TRACK, word)
    others = from_keys(following[same_track & (following - here > 1)], BY_TRACK, word)
    done = keys(_done(graphs, vocabulary))
    apart = pl.Series(known(keys(ends), done) & known(keys(others), done), dtype=pl.Boolean)
    gaps = ends.with_columns(following=others["frame"]).filter(~apart)
    stamps = graphs.frames.select("video", "frame", "seconds")
    timed = gaps.join(stamps, on=["video", "frame"]).join(
        stamps, left_on=["video", "following"], right_on=["video", "frame"], suffix="_later"
    )
    short = timed.filter(pl.col("seconds_later") - pl.col("seconds") <= options.neighbour_seconds)
    between = pl.int_ranges(pl.col("frame") + 1, pl.col("following"), dtype=pl.UInt16)
    return short.with_columns(frame=between).explode("frame")


def _own_actions(vocabulary: Vocabulary) -> list[int]:
    """Relations that verbs are counted as: sitting on, holding, eating, ..."""
    return [int(to) for at, to in enumerate(vocabulary.folded) if at != to]


def _done(graphs: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """What actions say by such a verb, on their frames."""
    return verb_facts(graphs.actions, vocabulary).filter(among("relation", _own_actions(vocabulary)))


def _undenied(copies: pl.DataFrame, graphs: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """The copies that nothing on their frame speaks against: no relation, no other copy, no object marked as unseen."""
    unseen = graphs.objects.filter(~pl.col("visible"))
    new = rows(rows(without(copies, graphs.relations)).join(unseen, on=SPOT, how="anti"))
    undenied = without(new, denied(new, graphs.relations, vocabulary))
    return without(undenied, giving_way(undenied, vocabulary))


STEPS = {"copied inside actions": inside_actions, "copied across gaps": across_gaps}
