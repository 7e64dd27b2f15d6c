"""What images say about pairs of words: how often both are true at once, and how often they could be."""

from collections.abc import Mapping

import polars as pl

from questree.progress import watch
from questree.tables.images import Images

# every function gives rows (a, b, together, chances)
SAME_BOX = 0.9  # intersection over union from which two boxes are one thing
SLICE = 2000  # images whose boxes are compared at once


def attributes(images: Images, group: Mapping[str, str] | None) -> pl.DataFrame:
    """Attributes of one group (of any without groups) that some noun has; together: the things with both.

    chances: things with both if the two were independent, the sum over the nouns n of |a and n| |b and n| / |n|."""
    said = pl.DataFrame({"thing": images.attributes["thing"], "a": _spelled(images, images.attributes["attribute"])})
    said = said.with_columns(name=images.things["name"].gather(said["thing"]), group=pl.lit(""))
    if group is not None:
        said = said.with_columns(group=pl.col("a").replace_strict(group, default=None, return_dtype=pl.String))
    said = said.drop_nulls("group")
    per_noun = said.group_by("name", "group", "a").len("of a")
    other = per_noun.rename({"a": "b", "of a": "of b"})
    whole = images.things.group_by("name").len("all")
    chances = per_noun.join(other, on=["name", "group"]).filter(pl.col("a") < pl.col("b")).join(whole, on="name")
    found = chances.group_by("a", "b").agg(chances=(pl.col("of a") * pl.col("of b") / pl.col("all")).sum())
    both = said.join(said.select("thing", "group", b="a"), on=["thing", "group"]).filter(pl.col("a") < pl.col("b"))
    return _with(found, both)


def relations(images: Images) -> pl.DataFrame:
    """Ordered pairs of relations that hold between things of the same two names; together: edges b that are also a.

    chances: edges b between names that a occurs between."""
    edges = images.relations.select("subject", "object", a=_spelled(images, images.relations["relation"])).unique()
    names = {end: images.things["name"].gather(edges[end]) for end in ("subject", "object")}
    per_names = edges.select("a", *(column.alias(f"{end} name") for end, column in names.items()))
    per_names = per_names.group_by("subject name", "object name", "a").len("edges")
    on = ["subject name", "object name"]
    found = per_names.drop("edges").join(per_names.rename({"a": "b"}), on=on).filter(pl.col("a") != pl.col("b"))
    found = found.group_by("a", "b").agg(chances=pl.col("edges").sum().cast(pl.Float64))
    both = edges.join(edges.rename({"a": "b"}), on=["subject", "object"]).filter(pl.col("a") != pl.col("b"))
    return _with(found, both)


def nouns(images: Images) -> pl.DataFrame:
    """Names of things that have the same box; together: such boxes, chances: boxes of the rarer name."""
    boxes = images.things.select("image", *SIDES, a=_spelled(images, images.things["name"])).drop_nulls()
    parts, images_there = [], len(images.images)
    for first in watch(range(0, images_there, SLICE), "comparing boxes", -(-images_there // SLICE)):
        few = boxes.filter(pl.col("image").is_between(first, first + SLICE - 1))
        other = few.rename({name: f"{name} b" for name in SIDES} | {"a": "b"})
        pairs = few.join(other, on="image").filter(pl.col("a") < pl.col("b"))
        parts.append(pairs.filter(_overlap() >= SAME_BOX).select("a", "b"))
    both = pl.concat(parts) if parts else pl.DataFrame(schema={"a": pl.String, "b": pl.String})
    number = boxes.group_by("a").len("n")
    found = both.unique().join(number, on="a").join(number.rename({"a": "b", "n": "n b"}), on="b")
    return _with(found.select("a", "b", chances=pl.min_horizontal("n", "n b").cast(pl.Float64)), both)


SIDES = ("x1", "y1", "x2", "y2")


def _overlap() -> pl.Expr:
    """Intersection over union of a box and its partner."""
    width, height = (
        (pl.min_horizontal(f"{axis}2", f"{axis}2 b") - pl.max_horizontal(f"{axis}1", f"{axis}1 b")).clip(0)
        for axis in "xy"
    )
    areas = [
        (pl.col(f"x2{end}") - pl.col(f"x1{end}")) * (pl.col(f"y2{end}") - pl.col(f"y1{end}")) for end in ("", " b")
    ]
    return width * height / (areas[0] + areas[1] - width * height)


def _spelled(images: Images, words: pl.Series) -> pl.Series:
    return images.words["word"].gather(words)


def _with(found: pl.DataFrame, both: pl.DataFrame) -> pl.DataFrame:
    together = both.group_by("a", "b").len("together")
    joined = found.join(together, on=["a", "b"], how="left").with_columns(pl.col("together").fill_null(0))
    return joined.select("a", "b", "together", "chances").sort("a", "b")
