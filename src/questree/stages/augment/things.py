"""Rules 2 and 3: words for the same thing are one class, and boxes of two classes in one place are one object."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import SPOT, Graphs, counted_as, rows
from questree.stages.augment.rule import AugmentOptions, Change
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
