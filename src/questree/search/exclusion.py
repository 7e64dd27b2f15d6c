"""Word tables from a corpus: which words exclude each other, by an ontology, annotated pairs and what images say."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import polars as pl

from questree.faults import BadInput
from questree.search import together
from questree.search import word_tables as tables
from questree.search.hooks import function, records
from questree.search.word_tables import GROUPS, IGNORE, ONTOLOGY, WordTables
from questree.tables.images import Images
from questree.tables.store import new_folder

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
    if not Path(place).is_file():
        return function(place)
    scored: dict[tuple[str, ...], float] = {
        (each.kind, each.a, each.b): each.score for each in records(Path(place), ScoredPair)
    }
    return lambda kind, pairs: [scored.get((kind, *pair), 0.0) for pair in pairs]


@dataclass(frozen=True)
class Limits:
    """When images say that two words exclude each other."""

    attributes: float = 0.25  # together at most this share of what chance would give
    relations: float = 0.02  # at most this share of the edges b are a as well
    edges: int = 5  # at least so many edges b between names that a occurs between
    boxes: float = 0.02  # at least this share of the rarer name's boxes have both names


def write_tables(images: Images, words: Path, out: Path, scorer: Scorer | None = None) -> dict[str, int]:
    """A folder of word tables, ontology, ignored words and annotated pairs taken from another; pairs of every list."""
    lists = word_pairs(images, WordTables.read(words), tables.annotations(words), scorer)
    with new_folder(out) as work:
        for name in (IGNORE, ONTOLOGY):
            (work / name).write_bytes(tables.content_of(words, name))
        (work / GROUPS).write_text(_spelled(lists), "utf-8")
    return {heading: len(pairs) for heading, pairs in lists.items()}


def word_pairs(
    images: Images, words: WordTables, annotated: Lists, scorer: Scorer | None = None, limits: Limits | None = None
) -> dict[str, set[Pair]]:
    """Every list of the table: what is annotated, and what ontology, images or scorer add."""
    limits = limits or Limits()
    entailing = annotated[tables.ENTAILING] | set(_said_by_last_word(words))
    contradicting = _attributes(images, words, scorer, limits) | annotated[tables.ANNOTATED_ATTRIBUTES]
    nouns = _nouns(images, words, scorer, limits) | annotated[tables.ANNOTATED_NOUNS]
    disjoint, not_disjoint = _relations(images, words, scorer, limits)
    not_disjoint = (not_disjoint - annotated[tables.ANNOTATED_RELATIONS]) | annotated[tables.NOT_DISJOINT]
    return {
        **annotated,
        tables.ENTAILING: entailing,
        tables.CONTRADICTING: contradicting - entailing - {(b, a) for a, b in entailing},
        tables.ENTAILING_NOUNS: nouns,
        tables.DISJOINT: (disjoint - not_disjoint) | annotated[tables.ANNOTATED_RELATIONS],
        tables.NOT_DISJOINT: not_disjoint,
    }


def _attributes(images: Images, words: WordTables, scorer: Scorer | None, limits: Limits) -> set[Pair]:
    """Of one group, said of the same nouns, and hardly ever of the same thing."""
    seen = together.attributes(images, None if scorer else words.attribute_group)
    if scorer:
        return set(_exclusive(ATTRIBUTE, _pairs(seen), scorer))
    return set(_pairs(seen.filter(pl.col("together") <= limits.attributes * pl.col("chances"))))


def _relations(images: Images, words: WordTables, scorer: Scorer | None, limits: Limits) -> tuple[set[Pair], set[Pair]]:
    """(disjoint, not disjoint), directed: given b, is a hardly ever true, or now and then?"""
    ignored = pl.Series(sorted(words.ignored_relations), dtype=pl.String).implode()
    seen = together.relations(images).filter(~pl.col("a").is_in(ignored), ~pl.col("b").is_in(ignored))
    rare = pl.col("together") <= limits.relations * pl.col("chances")
    both = set(_pairs(seen.filter(~rare)))
    if scorer:
        return set(_exclusive(RELATION, _pairs(seen), scorer)), both
    return set(_pairs(seen.filter(rare, pl.col("chances") >= limits.edges))), both


def _nouns(images: Images, words: WordTables, scorer: Scorer | None, limits: Limits) -> set[Pair]:
    """A class and its members, as far as images have both; names of one box."""
    there = set(images.words["word"].gather(images.things["name"].unique()))
    classes = {(group, word) for group, members in words.noun_classes.items() for word in members if group != word}
    classes = {(a, b) for a, b in classes if a in there and b in there}
    seen = together.nouns(images)
    if not scorer:
        return classes | set(_pairs(seen.filter(pl.col("together") >= limits.boxes * pl.col("chances"))))
    asked = sorted(classes | set(_pairs(seen)) | set(_of_one_class(words, there)))
    return set(asked) - set(_exclusive(NOUN, asked, scorer))


def _of_one_class(words: WordTables, there: set[str]) -> Iterator[Pair]:
    for members in words.noun_classes.values():
        present = sorted(set(members) & there)
        yield from ((a, b) for at, a in enumerate(present) for b in present[at + 1 :])


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
    return HEADER + "".join(f"{heading}:{_items(pairs)}" for heading, pairs in sorted(lists.items()))


def _items(pairs: set[Pair]) -> str:
    return "".join(f'\n- "{a},{b}"' for a, b in sorted(pairs)) + "\n" if pairs else " []\n"
