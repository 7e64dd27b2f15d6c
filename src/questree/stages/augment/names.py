"""Rule 2: words for the same thing are counted as one, in the whole corpus; the wider word wins."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import SPOT, Graphs, counted_as, rows
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change
from questree.vocabulary.words import Vocabulary


def merge_synonyms(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
    objects, objects_change = _objects(graphs.objects, vocabulary)
    relations, relations_change = _relations(graphs.relations, vocabulary)
    new = counted_as(graphs.actions, "action", vocabulary.merged_action)
    actions_change = Change("actions", changed=int((new["action"] != graphs.actions["action"]).sum()))
    merged = replace(graphs, objects=objects, relations=relations, actions=new)
    return merged, [objects_change, relations_change, actions_change]


def _objects(objects: pl.DataFrame, vocabulary: Vocabulary) -> tuple[pl.DataFrame, Change]:
    """One annotation per class and frame: a visible one first, then one that already bore the wider word."""
    named = counted_as(objects.with_columns(old="object"), "object", vocabulary.merged_object)
    renamed = pl.col("old") != pl.col("object")
    best = named.sort(*SPOT, ~pl.col("visible"), renamed, "old").unique(SPOT, keep="first", maintain_order=True)
    return best.drop("old"), moved("object annotations", named.select(renamed.sum()).item(), len(objects), len(best))


def _relations(relations: pl.DataFrame, vocabulary: Vocabulary) -> tuple[pl.DataFrame, Change]:
    renamed = counted_as(relations, "object", vocabulary.merged_object)
    renamed = counted_as(renamed, "relation", vocabulary.folded)
    other = (renamed["object"] != relations["object"]) | (renamed["relation"] != relations["relation"])
    merged = rows(renamed)
    return merged, moved("relation facts", len(relations.filter(other)), len(relations), len(merged))


def moved(what: str, touched: int, before: int, after: int) -> Change:
    """Rows got another name: those that met one already there are gone, the others changed."""
    return Change(what, removed=before - after, changed=touched - (before - after))
