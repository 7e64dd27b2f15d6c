"""Rule 12: where few object annotations have a spatial relation, the video's spatial relations are not used."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import SPOT, Graphs, among
from questree.stages.augment.options import Options
from questree.stages.augment.rule import Change
from questree.vocabulary.words import Vocabulary


def drop_sparse_spatial(graphs: Graphs, vocabulary: Vocabulary, options: Options) -> tuple[Graphs, list[Change]]:
    spatial = among("relation", vocabulary.group("spatial"))
    annotated = graphs.relations.filter(pl.col("relation") == vocabulary.relation_at[vocabulary.annotated])
    placed = graphs.relations.filter(spatial).select(SPOT).unique().with_columns(placed=True)
    share = annotated.join(placed, on=SPOT, how="left").group_by("video").agg(pl.col("placed").fill_null(False).mean())
    sparse = share.filter(pl.col("placed") < options.spatial_share)["video"].sort()
    relations = graphs.relations.filter(~(spatial & pl.col("video").is_in(sparse.implode())))
    removed = len(graphs.relations) - len(relations)
    changes = [Change("videos", changed=len(sparse)), Change("relation facts", removed=removed)]
    return replace(graphs, relations=relations), changes
