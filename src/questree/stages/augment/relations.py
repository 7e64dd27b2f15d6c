"""Rules 6, 7, 10: actions say (verb, object), what holds entails more, and is copied to frames that lack it."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.keys import BY_TRACK, from_keys, keys
from questree.stages.augment.graphs import (
    SPOT,
    AugmentOptions,
    Change,
    Graphs,
    among,
    doing,
    rows,
    telling,
    within,
    without,
)
from questree.tables.table import WORD
from questree.vocabulary.words import NONE, Vocabulary


def add_verbs(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    actions = graphs.actions.filter(pl.col("first").is_not_null())
    said = verb_facts(actions, vocabulary)
    wrong = without(within(graphs.relations, misplaced(actions, vocabulary)), said)
    relations = rows(without(graphs.relations, wrong), said)
    gone = Change("actions", removed=len(graphs.actions) - len(actions))
    added = len(relations) + len(wrong) - len(graphs.relations)
    return replace(graphs, relations=relations, actions=actions), [
        gone,
        Change("relation facts", added=added, removed=len(wrong)),
    ]


def add_unnamed(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    new = unnamed_facts(graphs.actions, graphs.relations, vocabulary)
    return replace(graphs, relations=rows(graphs.relations, new)), [Change("relation facts", added=len(new))]


def pairs(vocabulary: Vocabulary) -> pl.DataFrame:
    """action, relation, object: what each action says of the object it names, under the names facts are stored by.

    Its verb is done to it; of a place or tool only that it is there.
    """
    there = vocabulary.relation_at[vocabulary.annotated]
    relations = np.where(vocabulary.done_to == vocabulary.object_of, vocabulary.verb_of, there)
    return _of_actions(vocabulary.object_of != NONE, relations, vocabulary.object_of, vocabulary.wide)


def _of_actions(some: NDArray[np.bool_], relations: NDArray[Any], objects: NDArray[Any], wide: bool) -> pl.DataFrame:
    with_object = np.flatnonzero(some)
    return pl.DataFrame(
        {"action": with_object, "relation": relations[with_object], "object": objects[with_object]},
        schema=dict.fromkeys(("action", "relation", "object"), WORD[wide]),
    )


def misplaced(actions: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """Verbs done to a place or tool, as in released graphs; contacts with it were seen by somebody and stay."""
    verbs = np.isin(vocabulary.verb_of, vocabulary.group("verb"))
    told = _of_actions(verbs & _in_part(vocabulary), vocabulary.verb_of, vocabulary.object_of, vocabulary.wide)
    return rows(doing(actions).join(told, on="action"))


def unnamed_facts(actions: pl.DataFrame, relations: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """What is done at a place or with a tool is done to something, on the frames where nothing else is named."""
    told = _of_actions(_in_part(vocabulary), vocabulary.verb_of, vocabulary.done_to, vocabulary.wide)
    named = relations.filter(among("relation", told["relation"].unique()))
    return rows(doing(actions).join(told, on="action").join(named, on=["video", "frame", "relation"], how="anti"))


def _in_part(vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """[action] names its place or tool, not what it is done to."""
    return np.asarray(vocabulary.done_to != vocabulary.object_of)


def verb_facts(actions: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """What the actions say on their frames, as relation rows."""
    return rows(doing(actions).join(pairs(vocabulary), on="action"))


def close_entailments(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    relations = rows(graphs.relations, entailed(graphs.relations, vocabulary))
    change = Change("relation facts", added=len(relations) - len(graphs.relations))
    return replace(graphs, relations=relations), [change]


def entailed(relations: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """Every fact that another fact of the same frame and object entails, once; nothing about what is unnamed."""
    named = relations.filter(pl.col("object") != vocabulary.unnamed_at)
    return rows(named.join(closure(vocabulary), on="relation").with_columns(relation="entails"))


def closure(vocabulary: Vocabulary) -> pl.DataFrame:
    """relation, entails: the vocabulary's table in as many steps as it takes, under the names facts are stored by."""
    follows: dict[int, set[int]] = {}
    for name, others in vocabulary.entailments.items():
        stored = vocabulary.folded[vocabulary.relations_named((name, *others))].tolist()
        follows.setdefault(stored[0], set()).update(stored[1:])
    while more := {at: {far for near in own for far in follows.get(near, ())} - own for at, own in follows.items()}:
        if not any(more.values()):
            break
        follows = {at: own | more[at] for at, own in follows.items()}
    found = sorted((at, other) for at, own in follows.items() for other in own - {at})
    return pl.DataFrame(found, dict.fromkeys(("relation", "entails"), WORD[vocabulary.wide]), orient="row")


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
    that show the object have it, and it has no actions of its own to say how long it lasts.
    """
    presence = vocabulary.relation_at[vocabulary.annotated]
    contacts, _ = _touches(vocabulary)
    instances = graphs.actions.with_row_index("row").join(pairs(vocabulary).drop("relation"), on="action")
    frames = doing(instances).select("row", *SPOT)
    seen = frames.join(graphs.relations.filter(among("relation", [presence, *contacts])), on=SPOT)
    shown = seen.filter(pl.col("relation") == presence).group_by("row").agg(shown=pl.len())
    said = seen.group_by("row", "relation").agg(low=pl.col("frame").min(), high=pl.col("frame").max(), said=pl.len())
    copies = frames.join(said.join(shown, on="row", how="left"), on="row")
    between = pl.col("frame").is_between("low", "high")
    usual = pl.col("said") >= options.action_share * pl.col("shown")
    return copies.filter(between | (usual & ~among("relation", _own_actions(vocabulary))))


def across_gaps(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> pl.DataFrame:
    """A relation on two frames not far apart holds between them."""
    copied = [vocabulary.relation_at[vocabulary.annotated], *telling(vocabulary, "spatial", "contact")]
    ordered = np.sort(keys(graphs.relations.filter(among("relation", copied)), BY_TRACK))
    word = WORD[vocabulary.wide]
    here, following = ordered[:-1], ordered[1:]
    same_track = here >> np.uint64(16) == following >> np.uint64(16)
    ends = from_keys(here[same_track & (following - here > 1)], BY_TRACK, word)
    others = from_keys(following[same_track & (following - here > 1)], BY_TRACK, word)
    gaps = ends.with_columns(following=others["frame"])
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


def _undenied(copies: pl.DataFrame, graphs: Graphs, vocabulary: Vocabulary) -> pl.DataFrame:
    """The copies no annotation of their frame speaks against, by another relation or by the object being unseen."""
    unseen = graphs.objects.filter(~pl.col("visible"))
    new = rows(without(copies, graphs.relations)).join(unseen, on=SPOT, how="anti").with_row_index("copy")
    against = within(new.join(_denials(vocabulary), on="relation").with_columns(relation="denied_by"), graphs.relations)
    return new.filter(~pl.col("copy").is_in(against["copy"].implode()))


def _denials(vocabulary: Vocabulary) -> pl.DataFrame:
    """relation, denied_by: what cannot hold together with one object in one frame."""
    at = vocabulary.relation_at
    touches, others = _touches(vocabulary)
    both = [(at[a], at[b]) for a, b in vocabulary.lists.opposite_relations]
    both += [(touch, other) for touch in touches for other in others]
    found = [pair for a, b in both for pair in ((a, b), (b, a))]
    return pl.DataFrame(found, dict.fromkeys(("relation", "denied_by"), WORD[vocabulary.wide]), orient="row")


def _touches(vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """Contacts that are one, and those that say there is none."""
    none = vocabulary.relations_named(vocabulary.lists.not_touching_contacts)
    contacts = telling(vocabulary, "contact")
    return [at for at in contacts if at not in none], [at for at in contacts if at in none]


STEPS = {"copied inside actions": inside_actions, "copied across gaps": across_gaps}
