"""Rules 6 and 7: an action says (verb, object) on each of its frames, and what holds entails what holds with it."""

from dataclasses import replace

import numpy as np
import polars as pl

from questree.stages.augment.graphs import Graphs, doing, rows
from questree.stages.augment.rule import AugmentOptions, Change
from questree.vocabulary.words import NONE, Vocabulary


def add_verbs(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    actions = graphs.actions.filter(pl.col("first").is_not_null())
    relations = rows(graphs.relations, verb_facts(actions, vocabulary))
    gone = Change("actions", removed=len(graphs.actions) - len(actions))
    added = Change("relation facts", added=len(relations) - len(graphs.relations))
    return replace(graphs, relations=relations, actions=actions), [gone, added]


def pairs(vocabulary: Vocabulary) -> pl.DataFrame:
    """action, relation, object: what each action with an object says, under the names facts are stored by."""
    verbs, objects = vocabulary.verb_of, vocabulary.object_of
    with_object = [at for at in range(len(objects)) if objects[at] != NONE]
    return pl.DataFrame(
        {"action": with_object, "relation": verbs[with_object], "object": objects[with_object]},
        schema={"action": pl.UInt8, "relation": pl.UInt8, "object": pl.UInt8},
    )


def verb_facts(actions: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """What the actions say on their frames, as relation rows."""
    return rows(doing(actions).join(pairs(vocabulary), on="action"))


def close_entailments(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    relations = rows(graphs.relations, entailed(graphs.relations, vocabulary))
    change = Change("relation facts", added=len(relations) - len(graphs.relations))
    return replace(graphs, relations=relations), [change]


def entailed(relations: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """Every fact that another fact of the same frame and object entails, once."""
    return rows(relations.join(closure(vocabulary), on="relation").with_columns(relation="entails"))


def closure(vocabulary: Vocabulary) -> pl.DataFrame:
    """relation, entails: the vocabulary's table in as many steps as it takes, under the names facts are stored by."""
    size = len(vocabulary.relations)
    follows = np.zeros((size, size), bool)  # [relation, entailed]
    for name, others in vocabulary.entailments.items():
        for other in others:
            follows[
                vocabulary.folded[vocabulary.relation_at[name]], vocabulary.folded[vocabulary.relation_at[other]]
            ] = True
    for _ in range(size):
        follows |= follows @ follows
    np.fill_diagonal(follows, False)
    relation, entails = np.nonzero(follows)
    return pl.DataFrame({"relation": relation, "entails": entails}, schema={"relation": pl.UInt8, "entails": pl.UInt8})
