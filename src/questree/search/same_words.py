"""Words of a corpus that mean the same: singular and plural, inflections of a verb, synonyms. They never exclude each
other, and no question is asked whose answer would change if they were one word."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import polars as pl

from questree.domains.images.english import plural
from questree.domains.images.english_words import ENGLISH
from questree.domains.images.kinds import ATTRIBUTE, LINK_NAME, NOUN
from questree.domains.images.links import TERNARY, verb_of
from questree.search.word_tables import Pairs, WordTables
from questree.tables.images import Images
from questree.terms import Kind

KNOWN = ENGLISH.same
Classes = dict[str, str]  # word -> the first word that means the same; others are not in it


def classes(words: Iterable[str], lists: Iterable[Iterable[str]]) -> Classes:
    """Lists that have a word in common are one; only words that are used count."""
    used, first = dict.fromkeys(words), dict[str, str]()
    for each in lists:
        own = [word for word in used if word in {*each}]
        ends = {first.get(word, word) for word in own}
        if len(own) > 1:
            begin = next(word for word in used if word in ends)
            first |= {word: begin for word in used if first.get(word, word) in ends}
    return first


def _numbers(names: Iterable[str]) -> Iterator[list[str]]:
    return ([name, plural(name)] for name in names if plural(name) not in KNOWN.not_plurals)


def _inflections(links: Iterable[str]) -> Iterator[list[str]]:
    """A verb of its own, its other forms, and what somebody is doing then: wears, wear, wearing."""
    finite = [(name, verb) for name in links if (verb := verb_of(name)) is not None]
    for name, verb in finite:
        base = verb.base
        doing = (f"{base}ing", f"{base}{base[-1]}ing", f"{base.removesuffix('e')}ing")
        yield [name, *(other for other, same in finite if same == verb)]
        yield [name, *(str(verb._replace(base=word)) for word in doing)]


@dataclass(frozen=True)
class SameWords:
    nouns: Classes
    attributes: Classes
    links: Classes

    @classmethod
    def of(cls, images: Images) -> "SameWords":
        """Among the words of these images, in the order of their list of words."""
        word = images.words["word"]
        names, attributes, every_link = (
            word.gather(column.unique().sort()).to_list()
            for column in (images.things["name"], images.attributes["attribute"], images.relations["relation"])
        )
        links = [name for name in every_link if TERNARY not in name]
        return cls(
            classes(names, [*_numbers(names), *KNOWN.nouns]),
            classes(attributes, KNOWN.attributes),
            classes(links, [*_inflections(links), *KNOWN.relations]),
        )

    @cached_property
    def by_kind(self) -> Mapping[Kind, Classes]:
        return {NOUN: self.nouns, ATTRIBUTE: self.attributes, LINK_NAME: self.links}

    @cached_property
    def words(self) -> frozenset[str]:
        """All that are not alone with their meaning."""
        return frozenset().union(*self.by_kind.values())

    def __bool__(self) -> bool:
        return any(self.by_kind.values())

    def one(self, word: str, kind: Kind) -> str:
        """The word that stands for all that mean the same."""
        return self.by_kind.get(kind, {}).get(word, word)

    def merged(self, images: Images) -> Images:
        """The images as if they had one word for what means the same."""

        def column(table: pl.DataFrame, name: str, same: Classes) -> pl.DataFrame:
            words = images.words["word"]
            at = {word: row for row, word in enumerate(words)}
            new = pl.Series([at[same.get(word, word)] for word in words], dtype=pl.UInt32)
            return table.with_columns(new.gather(table[name]).alias(name))

        return replace(
            images,
            things=column(images.things, "name", self.nouns),
            attributes=column(images.attributes, "attribute", self.attributes),
            relations=column(images.relations, "relation", self.links),
        )

    def tables(self, words: WordTables) -> WordTables:
        """Word tables in which what means the same may be true together and excludes nothing."""
        return replace(
            words,
            entailing_nouns=_joined(words.entailing_nouns, self.nouns),
            entailing_attributes=_joined(words.entailing_attributes, self.attributes),
            not_disjoint=_joined(words.not_disjoint, self.links),
            contradicting=_apart(words.contradicting, self.attributes),
            disjoint=_apart(words.disjoint, self.links),
        )


def pairs(same: Classes) -> set[tuple[str, str]]:
    """Both ways."""
    return {(word, mate) for word, mates in _mates(same).items() for mate in mates if "," not in word + mate}


def _mates(same: Classes) -> dict[str, frozenset[str]]:
    """Word -> the others that mean the same."""
    return {word: frozenset(other for other in same if same[other] == first) - {word} for word, first in same.items()}


def _joined(pairs: Pairs, same: Classes) -> Pairs:
    return Pairs({**pairs, **{word: pairs[word] | mates for word, mates in _mates(same).items()}})


def _apart(pairs: Pairs, same: Classes) -> Pairs:
    return Pairs({**pairs, **{word: pairs[word] - mates for word, mates in _mates(same).items() if word in pairs}})
