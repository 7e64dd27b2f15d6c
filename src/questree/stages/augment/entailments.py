"""Rule 7: what holds whenever something else holds, closed over as many steps as it takes."""

from dataclasses import replace

import numpy as np
import polars as pl

from questree.stages.augment.graphs import Graphs, rows
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change
from questree.vocabulary.words import Vocabulary


def close_entailments(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
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
