"""A rule of augmentation: facts about doors are dropped, because annotators disagree about them."""

from dataclasses import replace

import polars as pl

from questree.plugins import Change, Graphs, Vocabulary, augmentation


@augmentation("drop doors", says="nobody agrees where a door begins", after="merge synonyms")
def drop_doors(graphs: Graphs, vocabulary: Vocabulary) -> tuple[Graphs, list[Change]]:
    """Return new tables and what changed, counted; the ledger of `questree augment` shows it as any other rule."""
    door = vocabulary.object_at["door"]
    relations = graphs.relations.filter(pl.col("object") != door)
    objects = graphs.objects.filter(pl.col("object") != door)
    changes = [
        Change("object annotations", removed=len(graphs.objects) - len(objects)),
        Change("relation facts", removed=len(graphs.relations) - len(relations)),
    ]
    return replace(graphs, objects=objects, relations=relations), changes
