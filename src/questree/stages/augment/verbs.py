"""Rule 6: an action says (verb, object) on each of its frames; an instance without a frame says nothing and goes."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import Graphs, doing, rows
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change
from questree.vocabulary.words import NONE, Vocabulary


def add_verbs(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
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
