"""Rules 6 and 16: actions say (verb, object); and what follows from a relation."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.stages.augment.graphs import AugmentOptions, Change, Graphs, among, doing, rows, within, without
from questree.tables.table import WORD
from questree.vocabulary.words import NONE, TOOL, Vocabulary


def add_verbs(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    """What no frame shows is kept apart: nothing is asked about it, but other actions are not answered as if alone."""
    seen = pl.col("first").is_not_null()
    actions = graphs.actions.filter(seen)
    unseen = graphs.unseen if options.as_released else pl.concat([graphs.unseen, graphs.actions.filter(~seen)])
    said = verb_facts(actions, vocabulary)
    wrong = without(within(graphs.relations, misplaced(actions, vocabulary)), said)
    relations = rows(without(graphs.relations, wrong), said)
    gone = Change("actions", removed=len(graphs.actions) - len(actions))
    added = len(relations) + len(wrong) - len(graphs.relations)
    return replace(graphs, relations=relations, actions=actions, unseen=unseen), [
        gone,
        Change("relation facts", added=added, removed=len(wrong)),
    ]


def add_unnamed(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    new = unnamed_facts(graphs.actions, graphs.relations, vocabulary)
    return replace(graphs, relations=rows(graphs.relations, new)), [Change("relation facts", added=len(new))]


def pairs(vocabulary: Vocabulary) -> pl.DataFrame:
    """action, relation, object: what each action says of the object it names, under the names facts are stored by.

    Its verb is done to it. A place or tool is there, and a tool has the contacts that follow from the verb: who tidies
    up with a broom touches the broom.
    """
    there = vocabulary.relation_at[vocabulary.annotated]
    relations = np.where(vocabulary.done_to == vocabulary.object_of, vocabulary.verb_of, there)
    said = _of_actions(vocabulary.object_of != NONE, relations, vocabulary.object_of, vocabulary.wide)
    tools = np.array([word.role == TOOL for word in vocabulary.actions], bool)
    verbs = _of_actions(tools, vocabulary.verb_of, vocabulary.object_of, vocabulary.wide)
    follows = verbs.join(closure(vocabulary), on="relation").with_columns(relation="entails").select(said.columns)
    return pl.concat([said, follows])


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
