"""Rules 2, 3, 12 and 5: words and boxes for one thing are one, and spatial relations mean what boxes show."""

from dataclasses import replace

import numpy as np
import polars as pl

from questree.stages.augment.graphs import (
    SPOT,
    AugmentOptions,
    Change,
    Counts,
    Graphs,
    among,
    counted_as,
    rows,
    without,
)
from questree.tables.table import WORD
from questree.vocabulary.words import Vocabulary


def merge_synonyms(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
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


def merge_duplicates(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    targets = _followed(_targets(graphs.objects, options.duplicate_iou))
    objects = graphs.objects.join(targets, on=SPOT, how="anti", maintain_order="left")
    doubled = graphs.relations.join(targets, on=SPOT)
    kept = graphs.relations.join(targets, on=SPOT, how="anti")
    relations = rows(kept, doubled.with_columns(object="target"))
    removed = Change("object annotations", removed=len(targets))
    facts = moved("relation facts", len(doubled), len(graphs.relations), len(relations))
    return replace(graphs, objects=objects, relations=relations), [removed, facts]


def _targets(objects: pl.DataFrame, share: float) -> pl.DataFrame:
    """SPOT, target: for each doubled object the best ranked class it shares its place with, if better than its own."""
    boxed = objects.filter(pl.col("visible"), pl.col("x1").is_not_null()).select(*SPOT, "x1", "y1", "x2", "y2")
    often = boxed.group_by("video", "object").agg(often=pl.len())
    ranked = boxed.join(often, on=["video", "object"])
    pairs = ranked.join(ranked, on=["video", "frame"], suffix="_other").filter(
        (pl.col("often_other") > pl.col("often"))
        | ((pl.col("often_other") == pl.col("often")) & (pl.col("object_other") < pl.col("object")))
    )
    close = pairs.filter(_overlap() >= share).sort(
        *SPOT, "often_other", "object_other", descending=[False, False, False, True, False]
    )
    return close.unique(SPOT, keep="first", maintain_order=True).select(*SPOT, target="object_other")


def _overlap() -> pl.Expr:
    """Intersection over union of a box and `_other`."""
    width = pl.min_horizontal("x2", "x2_other") - pl.max_horizontal("x1", "x1_other")
    height = pl.min_horizontal("y2", "y2_other") - pl.max_horizontal("y1", "y1_other")
    common = width.clip(0) * height.clip(0)
    own = (pl.col("x2") - pl.col("x1")) * (pl.col("y2") - pl.col("y1"))
    other = (pl.col("x2_other") - pl.col("x1_other")) * (pl.col("y2_other") - pl.col("y1_other"))
    return common / (own + other - common)


def _followed(targets: pl.DataFrame) -> pl.DataFrame:
    """Where a target is merged itself, its own target; ranks only rise, so this ends."""
    while True:
        onward = targets.rename({"object": "target", "target": "further"})
        step = targets.join(onward, on=["video", "frame", "target"], how="left", maintain_order="left")
        if step["further"].is_null().all():
            return targets
        targets = step.select(*SPOT, target=pl.coalesce("further", "target"))


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


def settle_heights(
    graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions, seen: Counts | None = None
) -> tuple[Graphs, list[Change]]:
    """`seen` in the whole corpus, if these are some videos of it."""
    seen = heights_seen(graphs, vocabulary, options) if seen is None else seen
    whole, before = Change("relation facts"), len(graphs.relations)
    for pair, own in zip(vocabulary.lists.heights, seen, strict=True):  # another vocabulary may not speak of heights
        graphs, changed = _settle(graphs, vocabulary, pair, options, own)
        whole = replace(whole, removed=before - len(graphs.relations), changed=whole.changed + changed)
    return graphs, [whole]


def heights_seen(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> Counts:
    """[pair, object, 2] labels of a class with both boxes: those that say what boxes show, and all."""
    found = np.zeros((len(vocabulary.lists.heights), len(vocabulary.objects), 2), np.int64)
    for pair, own in zip(vocabulary.lists.heights, found, strict=True):
        told = _judged(graphs, vocabulary, pair, options).filter(pl.col("wanted").is_not_null())
        agree = told.filter(pl.col("relation") == pl.col("wanted"))
        for at, labels in enumerate((agree, told)):
            own[:, at] = np.bincount(labels["object"].to_numpy(), minlength=len(own))
    return found


def _judged(graphs: Graphs, vocabulary: Vocabulary, pair: tuple[str, str], options: AugmentOptions) -> pl.DataFrame:
    """The facts of a pair, and `wanted`: which of the two boxes show, null without boxes."""
    above, beneath = (pl.lit(vocabulary.relation_at[name], WORD[vocabulary.wide]) for name in pair)
    labels = graphs.relations.filter((pl.col("relation") == above) | (pl.col("relation") == beneath))
    levels = _levels(graphs, options.head_share)
    wanted = pl.when("high").then(beneath).when(~pl.col("high")).then(above)
    return labels.join(levels, on=SPOT, how="left").with_columns(wanted=wanted)


def _settle(
    graphs: Graphs, vocabulary: Vocabulary, pair: tuple[str, str], options: AugmentOptions, seen: Counts
) -> tuple[Graphs, int]:
    """The graphs, and how many facts became the other one of the pair."""
    above, beneath = (vocabulary.relation_at[name] for name in pair)
    word = WORD[vocabulary.wide]
    labels = _judged(graphs, vocabulary, pair, options)
    told = labels.join(_classes(seen, options.height_agreement, word), on="object", how="left")
    kept = told.filter(pl.col("consistent").fill_null(True))
    flipped = pl.when("opposite").then(above + beneath - pl.col("relation").cast(pl.Int32)).otherwise("relation")
    settled = kept.with_columns(relation=pl.coalesce("wanted", flipped.cast(word)))
    others = graphs.relations.filter(~pl.col("relation").is_in([above, beneath]))
    return replace(graphs, relations=rows(others, settled)), len(without(rows(settled), rows(labels)))


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


def _classes(seen: Counts, agreement: float, word: type[pl.DataType]) -> pl.DataFrame:
    """object, consistent, opposite: per class with boxes, does it agree with itself, and is its sense the other one?"""
    judged = np.flatnonzero(seen[:, 1])
    agree = seen[judged, 0] / seen[judged, 1]
    consistent = np.maximum(agree, 1 - agree) > agreement
    return pl.DataFrame({"object": judged, "consistent": consistent, "opposite": agree < 0.5}).cast({"object": word})
