"""Rules 12 and 5: spatial relations of sparsely annotated videos go; above and beneath mean what the boxes show."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import SPOT, Graphs, among, rows, without
from questree.stages.augment.rule import AugmentOptions, Change
from questree.vocabulary.words import Vocabulary


def drop_sparse_spatial(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    spatial = among("relation", vocabulary.group("spatial"))
    annotated = graphs.relations.filter(pl.col("relation") == vocabulary.relation_at[vocabulary.annotated])
    placed = graphs.relations.filter(spatial).select(SPOT).unique().with_columns(placed=True)
    share = annotated.join(placed, on=SPOT, how="left").group_by("video").agg(pl.col("placed").fill_null(False).mean())
    sparse = share.filter(pl.col("placed") < options.spatial_share)["video"].sort()
    relations = graphs.relations.filter(~(spatial & pl.col("video").is_in(sparse.implode())))
    removed = len(graphs.relations) - len(relations)
    changes = [Change("videos", changed=len(sparse)), Change("relation facts", removed=removed)]
    return replace(graphs, relations=relations), changes


def settle_heights(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    above, beneath = (vocabulary.relation_at.get(name, -1) for name in ("above", "beneath"))
    if min(above, beneath) < 0:
        return graphs, [Change("relation facts")]  # another vocabulary may not speak of heights
    chosen = pl.col("relation").is_in([above, beneath])
    labels = graphs.relations.filter(chosen)
    judged = labels.join(_levels(graphs, options.head_share), on=SPOT, how="left").with_columns(
        wanted=pl.when("high").then(pl.lit(beneath, pl.UInt8)).when(~pl.col("high")).then(pl.lit(above, pl.UInt8))
    )
    classes = _classes(judged, options.height_agreement)
    told = judged.join(classes, on="object", how="left")
    kept = told.filter(pl.col("consistent").fill_null(True))
    flipped = pl.when("opposite").then(above + beneath - pl.col("relation").cast(pl.Int32)).otherwise("relation")
    settled = kept.with_columns(relation=pl.coalesce("wanted", flipped.cast(pl.UInt8)))
    relations = rows(graphs.relations.filter(~chosen), settled)
    changed = len(without(rows(settled), labels))
    change = Change("relation facts", removed=len(graphs.relations) - len(relations), changed=changed)
    return replace(graphs, relations=relations), [change]


def _levels(graphs: Graphs, head_share: float) -> pl.DataFrame:
    """SPOT, high: is the middle of the object's box at the person's head or above? y grows downward."""
    person = graphs.persons.sort("score", descending=True, nulls_last=True, maintain_order=True)
    person = person.unique(["video", "frame"], keep="first", maintain_order=True)
    head = pl.col("y1") + head_share * (pl.col("y2") - pl.col("y1"))
    boxed = graphs.objects.filter(pl.col("y1").is_not_null())
    middle = (pl.col("y1") + pl.col("y2")) / 2
    heads = person.select("video", "frame", head=head)
    return (
        boxed.select(*SPOT, middle=middle)
        .join(heads, on=["video", "frame"])
        .select(*SPOT, high=pl.col("middle") <= pl.col("head"))
    )


def _classes(judged: pl.DataFrame, agreement: float) -> pl.DataFrame:
    """object, consistent, opposite: per class with boxes, does it agree with itself, and is its sense the other one?"""
    agree = (pl.col("relation") == pl.col("wanted")).mean()
    shares = judged.filter(pl.col("wanted").is_not_null()).group_by("object").agg(agree=agree)
    opposite = pl.col("agree") < 0.5
    consistent = pl.max_horizontal("agree", 1 - pl.col("agree")) > agreement
    return shares.select("object", consistent=consistent, opposite=opposite)
