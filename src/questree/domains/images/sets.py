"""Which images each row asks about; the images' facts are in the corpus, once for all rows."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from questree.domains.images.corpus import UNINFORMATIVE, UNREAD, Corpus, corpus
from questree.domains.images.facts import PAGE, Facts, Ints
from questree.domains.images.kinds import PADDING
from questree.faults import Fault, refuse
from questree.program import Word
from questree.tables.images import Images


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
    def facts(self) -> Facts:
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
    images: Images,
    sets: Sequence[Sequence[str]],
    attribute_groups: Mapping[str, str],
    unread: Iterable[str] = UNREAD,
    uninformative: Iterable[str] = UNINFORMATIVE,
) -> ImageSets:
    """Sets of images by their ids (an id said twice counts once); the first row asks about the first set, and so on."""
    facts = corpus(images, attribute_groups, unread, uninformative)
    missing = dict.fromkeys(name for names in sets for name in names if name not in facts.image_at)
    refuse([Fault("", f"no image {name!r} among the {len(facts.image_ids)} images") for name in missing])
    return ImageSets(facts, padded([[facts.image_at[name] for name in dict.fromkeys(names)] for names in sets]))


def padded(lists: Sequence[Sequence[int]]) -> Ints:
    """[row, place] lists of numbers side by side, at least one place wide, PADDING where a list is shorter."""
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    table = np.full((len(lists), max(1, int(lengths.max(initial=0)))), PADDING)
    table[np.arange(table.shape[1]) < lengths[:, None]] = np.fromiter(chain.from_iterable(lists), np.int64)
    return table
