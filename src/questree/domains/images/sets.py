"""The facts of many sets of images in memory, and the set each row asks about."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.domains.images.kinds import ABSENT, COUNT, GROUP, PADDING, UNUSED
from questree.faults import Fault, refuse
from questree.program import Word
from questree.tables.images import Images

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNREAD = ("to the left of", "to the right of")  # COVR's reading of scenes drops them
UNINFORMATIVE = ("of", "with", "to the left of", "to the right of", "complaining to")  # never asked for


@dataclass(frozen=True)
class ImageSets:
    words: list[str]
    groups: tuple[str, ...]  # of attributes: color, material, ...
    group_of: Ints  # [word] position in groups, ABSENT
    uninformative: Bools  # [word] as the name of an edge
    image_ids: list[str]
    thing_ids: list[str]
    name_of: Ints  # [thing of the corpus] word; the last is PADDING
    attributes_of: Ints  # [thing of the corpus, place] words; the last is PADDING
    image: Ints  # [set, image] row in the corpus, or PADDING
    thing: Ints  # [set, thing] row in the corpus, or PADDING
    image_at: Ints  # [set, thing] position of its image in the set
    subject: Ints  # [set, edge] position of its subject in the set
    object: Ints  # [set, edge]
    link: Ints  # [set, edge] word, or PADDING
    preposition: Bools  # [set, edge] does it hang on another edge of its subject?
    row: Ints  # [row] set

    def __len__(self) -> int:
        return len(self.row)

    def ask(self, row: Any) -> "ImageSets":
        """The same facts, asked about these sets."""
        return replace(self, row=np.atleast_1d(np.asarray(row, np.int64)))

    @cached_property
    def word_at(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    def position(self, word: Word) -> int:
        """The number a word stands for; a word that no image uses is UNUSED."""
        if word.kind == COUNT:
            return int(word.name)
        if word.kind == GROUP:
            return self.groups.index(word.name) if word.name in self.groups else PADDING
        return self.word_at.get(word.name, UNUSED)

    @property
    def everything(self) -> Bools:  # [row, thing]
        return np.asarray(self.thing[self.row] != PADDING)

    @property
    def names(self) -> Ints:  # [row, thing] words
        return self.name_of[self.thing[self.row]]

    @property
    def attributes(self) -> Ints:  # [row, thing, place] words
        return self.attributes_of[self.thing[self.row]]

    def corpus_thing(self, thing: Ints) -> Ints:
        """[row] row in the corpus of a thing of the row's set."""
        return self.thing[self.row, thing]

    def counts(self, things: Bools) -> Ints:
        """[row, image] how many of the things are in each image of the row."""
        at = self.image_at[self.row]
        return np.stack([(things & (at == image)).sum(1) for image in range(self.image.shape[1])], axis=1)


def image_sets(
    images: Images,
    sets: Sequence[Sequence[str]],
    attribute_groups: Mapping[str, str],
    unread: Iterable[str] = UNREAD,
    uninformative: Iterable[str] = UNINFORMATIVE,
) -> ImageSets:
    """Sets of images by their ids (an id said twice counts once); the first row asks about the first set, and so on."""
    words = images.words["word"].to_list()
    groups = tuple(dict.fromkeys(attribute_groups.values()))
    group_of = np.array([groups.index(g) if (g := attribute_groups.get(w)) else ABSENT for w in words], np.int64)
    owner, chosen = _chosen(images, sets)
    first_thing = np.searchsorted(_ints(images.things["image"]), np.arange(len(images.images) + 1))
    edges = _edges(images, {at for at, word in enumerate(words) if word in set(unread)})
    first_edge = np.searchsorted(edges["subject"], first_thing)
    part, thing = _ragged(first_thing, chosen)  # [thing of a set] which (set, image) it belongs to, row in the corpus
    in_set = _places(owner[part], len(sets))
    begin = _begins(owner, first_thing[chosen + 1] - first_thing[chosen])  # [(set, image)] place of its first thing
    edge_part, edge = _ragged(first_edge, chosen)
    shift = begin[edge_part] - first_thing[chosen[edge_part]]
    edge_set, edge_place = owner[edge_part], _places(owner[edge_part], len(sets))

    def of_edges(values: NDArray[Any], fill: int) -> NDArray[Any]:
        return _padded(edge_set, edge_place, values, len(sets), fill)

    image_place = _places(owner, len(sets))
    return ImageSets(
        words=words,
        groups=groups,
        group_of=group_of,
        uninformative=np.isin(words, list(uninformative)) if words else np.zeros(0, bool),
        image_ids=images.images["id"].to_list(),
        thing_ids=images.things["id"].to_list(),
        name_of=np.append(_ints(images.things["name"]), [PADDING, PADDING]),  # so that [PADDING] is PADDING
        attributes_of=_attributes(images),
        image=_padded(owner, image_place, chosen, len(sets), PADDING),
        thing=_padded(owner[part], in_set, thing, len(sets), PADDING),
        image_at=_padded(owner[part], in_set, image_place[part], len(sets), PADDING),
        subject=of_edges(edges["subject"][edge] + shift, 0),
        object=of_edges(edges["object"][edge] + shift, 0),
        link=of_edges(edges["link"][edge], PADDING),
        preposition=of_edges(edges["preposition"][edge], 0).astype(bool),
        row=np.arange(len(sets)),
    )


def any_of(mask: Any, axis: int = -1) -> Bools:
    return np.asarray(np.any(mask, axis=axis))


def number_of(mask: Any) -> Ints:
    return np.asarray(np.sum(mask, axis=-1))


def _ints(column: Any) -> Ints:
    return np.asarray(column.to_numpy(), np.int64)


def _chosen(images: Images, sets: Sequence[Sequence[str]]) -> tuple[Ints, Ints]:
    """[(set, image)] the set, and the row of the image."""
    at = {name: row for row, name in enumerate(images.images["id"])}
    missing = dict.fromkeys(name for names in sets for name in names if name not in at)
    refuse([Fault("", f"no image {name!r} among the {len(at)} images") for name in missing])
    pairs = [(number, at[name]) for number, names in enumerate(sets) for name in dict.fromkeys(names)]
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _edges(images: Images, unread: set[int]) -> dict[str, Ints]:
    """Relations and their prepositions as one list of edges, by subject."""
    subject, target = _ints(images.relations["subject"]), _ints(images.relations["object"])
    link = _ints(images.relations["relation"])
    hangs_on = _ints(images.prepositions["edge"])
    both = {
        "subject": np.append(subject, subject[hangs_on]),
        "object": np.append(target, _ints(images.prepositions["object"])),
        "link": np.append(link, _ints(images.prepositions["preposition"])),
        "preposition": np.append(np.zeros_like(subject), np.ones_like(hangs_on)),
    }
    read = ~np.isin(np.append(link, link[hangs_on]), list(unread))
    order = np.argsort(both["subject"][read], kind="stable")
    return {name: values[read][order] for name, values in both.items()}


def _attributes(images: Images) -> Ints:
    owner, value = _ints(images.attributes["thing"]), _ints(images.attributes["attribute"])
    return _padded(owner, _places(owner, len(images.things)), value, len(images.things) + 2, PADDING)


def _ragged(first: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """All elements of the chosen owners: which choice each belongs to, and the element; first[owner] begins its run."""
    lengths = first[chosen + 1] - first[chosen]
    which = np.repeat(np.arange(len(chosen)), lengths)
    return which, np.arange(len(which)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + first[chosen][which]


def _places(owner: Ints, owners: int) -> Ints:
    """[element] its place among the elements of its owner; owners ascend."""
    return np.arange(len(owner)) - np.searchsorted(owner, np.arange(owners + 1))[owner]


def _begins(owner: Ints, lengths: Ints) -> Ints:
    """[part] how many elements the earlier parts of its owner have."""
    before = np.cumsum(lengths) - lengths
    return before - before[np.searchsorted(owner, owner)]


def _padded(owner: Ints, place: Ints, values: NDArray[Any], owners: int, fill: int) -> Ints:
    """[owner, place] the values, at least one place wide."""
    table = np.full((owners, int(place.max(initial=0)) + 1), fill, np.int64)
    table[owner, place] = values
    return table
