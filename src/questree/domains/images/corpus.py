"""Facts of all images in memory, as long columns, and the sets of images that rows ask about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.domains.images.kinds import ABSENT, COUNT, GROUP, PADDING, UNUSED
from questree.faults import Fault, refuse
from questree.tables.images import Images
from questree.terms import Kind, Word

Ints = NDArray[Any]
Bools = NDArray[np.bool_]
Bits = NDArray[Any]  # [row, page] a set of things: bit i is thing i of the page; never negative

# A page is up to this many things of one image. Larger images have several pages, side by side in a row.
PAGE = 63


class ImageFacts(NamedTuple):
    """What is said about every thing. The last page, thing and edge stand for none."""

    first_thing: Ints  # [page + 1]
    first_attribute_on: Ints  # [page + 1] place in the columns of attributes
    first_edge_on: Ints  # [page + 1] place in the columns of edges
    is_next: Bools  # [page] does it go on with the image of the page before?
    name: Ints  # [thing] word
    first_attribute: Ints  # [thing + 1]
    attribute: Ints  # [attribute] word
    bearer: Ints  # [attribute] bit of its thing
    group_of: Ints  # [word] group of attributes, ABSENT
    first_edge: Ints  # [thing + 1]
    link: Ints  # [edge] word
    subject: Ints  # [edge] bit of its thing
    target: Ints  # [edge] thing
    target_page: Ints  # [edge] how many pages after that of its thing
    target_bit: Ints  # [edge]
    informative: Bools  # [edge] may it be asked for what the relation between two things is?


UNREAD = ("to the left of", "to the right of")  # COVR's reading of scenes drops them
UNINFORMATIVE = ("of", "with", "to the left of", "to the right of", "complaining to")  # never asked for
LARGEST = 2**61  # a number beyond it compares with every count as this one does


@dataclass(frozen=True)
class Corpus:
    words: list[str]
    groups: tuple[str, ...]  # of attributes: color, material, ...
    image_ids: list[str]
    thing_ids: pl.Series
    first_page: Ints  # [image + 1]
    image_of: Ints  # [page] row in images
    facts: ImageFacts

    @cached_property
    def word_at(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    @cached_property
    def image_at(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.image_ids)}

    def position(self, word: Word) -> int:
        return int(self.positions([word.name], word.kind)[0])

    def positions(self, words: Sequence[str | int], kind: Kind) -> Ints:
        """The numbers that words of a kind stand for: a column for a slot. A word that no image uses is UNUSED."""
        if kind == COUNT:
            return np.array([min(max(int(word), -LARGEST), LARGEST) for word in words], np.int64)
        groups = {group: at for at, group in enumerate(self.groups)}
        at, unknown = (groups, PADDING) if kind == GROUP else (self.word_at, UNUSED)
        return np.array([at.get(str(word), unknown) for word in words], np.int64)


def corpus(images: Images, attribute_groups: Mapping[str, str], unread: Iterable[str] = UNREAD) -> Corpus:
    """The facts of these images. Attribute groups say for an attribute what it is: red -> color."""
    words = images.words["word"].to_list()
    groups = tuple(dict.fromkeys(attribute_groups.values()))
    begin = np.searchsorted(_ints(images.things["image"]), np.arange(len(images.images) + 1))  # [image + 1] thing
    first_page, image_of, first_thing = _pages(begin)
    subject, link, target, preposition = _edges(images, _is_word(words, unread))
    owner = _ints(images.attributes["thing"])
    things = np.arange(len(images.things) + 2)  # and the one that stands for none
    word = np.uint16 if len(words) < 2**16 + UNUSED else np.int32  # short columns: fewer misses of the cache
    page_of = np.repeat(np.arange(len(image_of)), np.diff(first_thing)[:-1])  # [thing]
    away = target - first_thing[page_of[subject]]
    first_attribute, first_edge = np.searchsorted(owner, things), np.searchsorted(subject, things)
    facts = ImageFacts(
        first_thing=first_thing.astype(np.int32),
        first_attribute_on=first_attribute[first_thing].astype(np.int32),
        first_edge_on=first_edge[first_thing].astype(np.int32),
        is_next=np.append(np.diff(image_of, prepend=-1) == 0, [False, False]),
        name=np.append(_ints(images.things["name"]), PADDING).astype(word),
        first_attribute=first_attribute,
        attribute=_ints(images.attributes["attribute"]).astype(word),
        bearer=(owner - first_thing[page_of[owner]]).astype(np.uint8),
        group_of=np.array([groups.index(g) if (g := attribute_groups.get(w)) else ABSENT for w in words], np.int64),
        first_edge=first_edge,
        link=np.append(link, PADDING).astype(word),
        subject=np.append(subject - first_thing[page_of[subject]], 0).astype(np.uint8),
        target=np.append(target, len(images.things)).astype(np.int32),
        target_page=np.append(away // PAGE, 0).astype(np.int16),
        target_bit=np.append(away % PAGE, 0).astype(np.uint8),
        informative=np.append(~preposition & ~_is_word(words, UNINFORMATIVE)[link], False),
    )
    return Corpus(words, groups, images.images["id"].to_list(), images.things["id"], first_page, image_of, facts)


def _ints(column: pl.Series) -> Ints:
    return np.asarray(column.to_numpy(), np.int64)


def _is_word(words: list[str], some: Iterable[str]) -> Ints:
    """[word] is it one of these?"""
    chosen = set(some)
    return np.fromiter((word in chosen for word in words), bool, len(words))


def _pages(begin: Ints) -> tuple[Ints, Ints, Ints]:
    """[image + 1] its first page, [page] its image, [page + 2] its first thing; an image without things has a page."""
    sizes = np.diff(begin)
    pages = np.maximum(-(-sizes // PAGE), 1)
    first_page = np.append(0, np.cumsum(pages))
    image_of = np.repeat(np.arange(len(sizes)), pages)
    place = np.arange(len(image_of)) - first_page[image_of]
    return first_page, image_of, np.append(begin[image_of] + place * PAGE, [begin[-1], begin[-1]])


def _edges(images: Images, unread: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Relations and their prepositions as one list of edges, by subject: subject, word, object, is a preposition."""
    subject, target = _ints(images.relations["subject"]), _ints(images.relations["object"])
    link, hangs_on = _ints(images.relations["relation"]), _ints(images.prepositions["edge"])
    both = (
        np.append(subject, subject[hangs_on]),
        np.append(link, _ints(images.prepositions["preposition"])),
        np.append(target, _ints(images.prepositions["object"])),
        np.append(np.zeros(len(subject), bool), np.ones(len(hangs_on), bool)),
    )
    read = ~unread[np.append(link, link[hangs_on])]
    order = np.argsort(both[0][read], kind="stable")
    subject, link, target, preposition = (column[read][order] for column in both)
    return subject, link, target, preposition


@dataclass(frozen=True)
class ImageSets:
    corpus: Corpus
    image: Ints  # [row, image] rows in the corpus, each once, or PADDING

    def __len__(self) -> int:
        return len(self.image)

    def ask(self, row: Any) -> "ImageSets":
        """The same facts, asked about the sets of these rows."""
        return ImageSets(self.corpus, self.image[np.atleast_1d(np.asarray(row, np.int64))])

    @property
    def facts(self) -> ImageFacts:
        return self.corpus.facts

    def position(self, word: Word) -> int:
        return self.corpus.position(word)

    @property
    def everything(self) -> Ints:
        """[row, page] all things: bits that are never negative."""
        return np.full(self.page.shape, (1 << PAGE) - 1)

    def holding(self, thing: Ints) -> Ints:
        """[row, page] the set of one thing."""
        first = self.facts.first_thing[self.page].astype(np.int64)  # [row, page]
        place = np.asarray(thing, np.int64)[:, None] - first
        here = (place >= 0) & (place < self.facts.first_thing[self.page + 1] - first)
        return np.where(here, 1 << np.where(here, place, 0), 0)

    def targets(self, edges: Ints) -> Ints:
        """[row, page] the things that edges [row, place] lead to."""
        found = np.zeros(self.page.shape, np.int64)
        for edge in edges.T:
            found |= np.where((edge != PADDING)[:, None], self.holding(self.facts.target[edge]), 0)
        return found

    def members(self, things: Ints) -> tuple[Ints, Ints]:
        """(row, thing) of sets [row, page]."""
        row, page, bit = np.nonzero(things[:, :, None] >> np.arange(PAGE) & 1)
        return row, self.facts.first_thing[self.page[row, page]] + bit

    @cached_property
    def page(self) -> Ints:
        """[row, page] the pages of its images, in their order; the last page of all, which is empty, fills up."""
        first, none = self.corpus.first_page, len(self.corpus.image_of)
        begin = np.append(first, none)[self.image]  # of PADDING: none
        pages = np.append(np.diff(first), [0, 0])[self.image]
        if pages.max(initial=0) <= 1:
            return begin
        found = np.full((len(self), max(1, int(pages.sum(1).max()))), none)
        start = np.cumsum(pages, 1) - pages  # [row, image] place of its first page
        for more in range(int(pages.max())):
            row, image = np.nonzero(pages > more)
            found[row, start[row, image] + more] = begin[row, image] + more
        return found


def image_sets(
    images: Images, sets: Sequence[Sequence[str]], attribute_groups: Mapping[str, str], unread: Iterable[str] = UNREAD
) -> ImageSets:
    """Sets of images by their ids (an id said twice counts once); the first row asks about the first set, and so on."""
    facts = corpus(images, attribute_groups, unread)
    missing = dict.fromkeys(name for names in sets for name in names if name not in facts.image_at)
    refuse([Fault("", f"no image {name!r} among the {len(facts.image_ids)} images") for name in missing])
    return ImageSets(facts, padded([[facts.image_at[name] for name in dict.fromkeys(names)] for names in sets]))


def padded(lists: Sequence[Sequence[int]]) -> Ints:
    """[row, place] lists of numbers side by side, at least one place wide, PADDING where a list is shorter."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    table = np.full((len(lists), max(1, int(lengths.max(initial=0)))), PADDING)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(chain.from_iterable(lists), np.int64)
    return table
