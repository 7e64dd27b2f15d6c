"""Which words exclude each other: by an ontology, annotated pairs, and how often images have both that could have."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Literal

import msgspec
import polars as pl

from questree.faults import BadInput
from questree.places import path_of
from questree.progress import watch
from questree.search import word_tables as tables
from questree.search.same_words import SameWords, pairs
from questree.search.verification import function, records
from questree.search.word_tables import GROUPS, IGNORE, ONTOLOGY, WordTables
from questree.tables.images import Images
from questree.tables.store import new_folder

# every function gives rows (a, b, together, chances)
SAME_BOX = 0.9  # intersection over union from which two boxes are one thing
SLICE = 2000  # images whose boxes are compared at once


def attributes_together(images: Images, group: Mapping[str, str] | None) -> pl.DataFrame:
    """Attributes of one group (of any without groups) that some noun has; together: the things with both.

    chances: things with both if the two were independent, the sum over the nouns n of |a and n| |b and n| / |n|."""
    said = pl.DataFrame({"thing": images.attributes["thing"], "a": _words_of(images, images.attributes["attribute"])})
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


def relations_together(images: Images) -> pl.DataFrame:
    """Ordered pairs of relations that hold between things of the same two names; together: edges b that are also a.

    chances: edges b between names that a occurs between."""
    edges = images.relations.select("subject", "object", a=_words_of(images, images.relations["relation"])).unique()
    names = {end: images.things["name"].gather(edges[end]) for end in ("subject", "object")}
    per_names = edges.select("a", *(column.alias(f"{end} name") for end, column in names.items()))
    per_names = per_names.group_by("subject name", "object name", "a").len("edges")
    on = ["subject name", "object name"]
    found = per_names.drop("edges").join(per_names.rename({"a": "b"}), on=on).filter(pl.col("a") != pl.col("b"))
    found = found.group_by("a", "b").agg(chances=pl.col("edges").sum().cast(pl.Float64))
    both = edges.join(edges.rename({"a": "b"}), on=["subject", "object"]).filter(pl.col("a") != pl.col("b"))
    return _with(found, both)


def nouns_together(images: Images) -> pl.DataFrame:
    """Names of things that have the same box; together: such boxes, chances: boxes of the rarer name."""
    boxes = images.things.select("image", *SIDES, a=_words_of(images, images.things["name"])).drop_nulls()
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


def _words_of(images: Images, words: pl.Series) -> pl.Series:
    return images.words["word"].gather(words)


def _with(found: pl.DataFrame, both: pl.DataFrame) -> pl.DataFrame:
    together = both.group_by("a", "b").len("together")
    joined = found.join(together, on=["a", "b"], how="left").with_columns(pl.col("together").fill_null(0))
    return joined.select("a", "b", "together", "chances").sort("a", "b")


Pair = tuple[str, str]
Lists = Mapping[str, set[Pair]]  # heading of the table -> its pairs
Scorer = Callable[[str, Sequence[Pair]], Sequence[float]]  # (kind of word, pairs) -> how sure they exclude each other
ATTRIBUTE, RELATION, NOUN = "attribute", "relation", "noun"
HEADER = '# Pairs "a,b" by `questree covr exclusion`; the predicted lists hold what is annotated and what images say.\n'
EXCLUSIVE = 0.5  # a pair with a higher score excludes each other


class ScoredPair(msgspec.Struct):
    kind: Literal["attribute", "relation", "noun"]
    a: str
    b: str
    score: float


def scorer_of(place: str) -> Scorer:
    """A Python function as module:function, or a JSON file [{kind, a, b, score}]; pairs not in it are not exclusive."""
    if not path_of(place).is_file():
        return function(place)
    scored: dict[tuple[str, ...], float] = {
        (each.kind, each.a, each.b): each.score for each in records(path_of(place), ScoredPair)
    }
    return lambda kind, pairs: [scored.get((kind, *pair), 0.0) for pair in pairs]


# when images say that two words exclude each other
ATTRIBUTES_TOGETHER = 0.25  # at most this share of what chance would give
RELATIONS_TOGETHER = 0.02  # at most this share of the edges b are a as well
ENOUGH_EDGES = 5  # edges b between names that a occurs between
BOXES_TOGETHER = 0.02  # or not: at least this share of the rarer name's boxes have both names


def write_tables(images: Images, words: Path, out: Path, scorer: Scorer | None = None) -> dict[str, int]:
    """A folder of word tables, ontology, ignored words and annotated pairs taken from another; pairs of every list."""
    lists = word_pairs(images, WordTables.read(words), tables.annotations(words), scorer)
    with new_folder(out) as work:
        for name in (IGNORE, ONTOLOGY):
            (work / name).write_bytes(tables.content_of(words, name))
        (work / GROUPS).write_text(_spelled(lists), "utf-8")
    return {heading: len(pairs) for heading, pairs in lists.items()}


def word_pairs(
    images: Images, words: WordTables, annotated: Lists, scorer: Scorer | None = None
) -> dict[str, set[Pair]]:
    """Every list of the table: what is annotated, and what ontology, images or scorer add; words that mean the same
    exclude nothing."""
    same = SameWords.of(images)
    entailing = annotated[tables.ENTAILING] | set(_said_by_last_word(words))
    contradicting = _attributes(images, words, scorer) | annotated[tables.ANNOTATED_ATTRIBUTES]
    nouns = _nouns(images, words, scorer) | annotated[tables.ANNOTATED_NOUNS]
    nouns |= {(a, b) for a, b in pairs(same.nouns) if a < b}
    disjoint, not_disjoint = _relations(images, words, scorer)
    not_disjoint = (not_disjoint - annotated[tables.ANNOTATED_RELATIONS]) | annotated[tables.NOT_DISJOINT]
    not_disjoint |= pairs(same.links)
    return {
        **annotated,
        tables.ENTAILING: entailing,
        tables.CONTRADICTING: contradicting - entailing - {(b, a) for a, b in entailing} - pairs(same.attributes),
        tables.ENTAILING_NOUNS: nouns,
        tables.DISJOINT: (disjoint - not_disjoint) | (annotated[tables.ANNOTATED_RELATIONS] - pairs(same.links)),
        tables.NOT_DISJOINT: not_disjoint,
    }


def _attributes(images: Images, words: WordTables, scorer: Scorer | None) -> set[Pair]:
    """Of one group, said of the same nouns, and hardly ever of the same thing."""
    seen = attributes_together(images, None if scorer else words.attribute_group)
    if scorer:
        return set(_exclusive(ATTRIBUTE, _pairs(seen), scorer))
    return set(_pairs(seen.filter(pl.col("together") <= ATTRIBUTES_TOGETHER * pl.col("chances"))))


def _relations(images: Images, words: WordTables, scorer: Scorer | None) -> tuple[set[Pair], set[Pair]]:
    """(disjoint, not disjoint), directed: given b, is a hardly ever true, or now and then?"""
    ignored = pl.Series(sorted(words.ignored_relations), dtype=pl.String).implode()
    seen = relations_together(images).filter(~pl.col("a").is_in(ignored), ~pl.col("b").is_in(ignored))
    rare = pl.col("together") <= RELATIONS_TOGETHER * pl.col("chances")
    both = set(_pairs(seen.filter(~rare)))
    if scorer:
        return set(_exclusive(RELATION, _pairs(seen), scorer)), both
    return set(_pairs(seen.filter(rare, pl.col("chances") >= ENOUGH_EDGES))), both


def _nouns(images: Images, words: WordTables, scorer: Scorer | None) -> set[Pair]:
    """A class and its members, as far as images have both; names of one box."""
    there = set(images.words["word"].gather(images.things["name"].unique()))
    classes = {(group, word) for group, members in words.noun_classes.items() for word in members if group != word}
    classes = {(a, b) for a, b in classes if a in there and b in there}
    seen = nouns_together(images)
    if not scorer:
        return classes | set(_pairs(seen.filter(pl.col("together") >= BOXES_TOGETHER * pl.col("chances"))))
    siblings = {pair for each in words.noun_classes.values() for pair in combinations(sorted(there & {*each}), 2)}
    asked = sorted(classes | set(_pairs(seen)) | siblings)
    return set(asked) - set(_exclusive(NOUN, asked, scorer))


def _said_by_last_word(words: WordTables) -> Iterator[Pair]:
    """Light blue is blue."""
    for attribute, group in words.attribute_group.items():
        last = attribute.split()[-1]
        if last != attribute and words.attribute_group.get(last) == group:
            yield attribute, last


def _pairs(seen: pl.DataFrame) -> list[Pair]:
    return [(a, b) for a, b in seen.select("a", "b").iter_rows() if "," not in a + b]  # the file's separator


def _exclusive(kind: str, pairs: Sequence[Pair], scorer: Scorer) -> list[Pair]:
    scores = list(scorer(kind, pairs))
    if len(scores) != len(pairs):
        raise BadInput.at("scorer", f"expected a score for each of {len(pairs):,} {kind} pairs, got {len(scores):,}")
    return [pair for pair, score in zip(pairs, scores, strict=True) if score > EXCLUSIVE]


def _spelled(lists: Lists) -> str:
    items = {heading: "".join(f'\n- "{a},{b}"' for a, b in sorted(pairs)) for heading, pairs in sorted(lists.items())}
    return HEADER + "".join(f"{heading}:{pairs or ' []'}\n" for heading, pairs in items.items())
