"""An embedded index: the images of every signature (a name, a name with an attribute, an edge with wildcards)."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.domains.images.corpus import UNREAD
from questree.faults import BadInput
from questree.search.scenes import (
    ATTRIBUTES,
    EDGES,
    PREPOSITIONS,
    RELATION,
    TARGET,
    WORD,
    Rows,
    Scenes,
    areas,
    scenes_of,
)
from questree.tables.images import Images

Keys = NDArray[np.int64]

BITS = 21  # of a word in a signature; three words make one
ANY = (1 << BITS) - 1  # a wildcard in a signature
HAS = ANY - 1  # in place of a relation: (name, HAS, attribute), (name, HAS, ANY)


class Postings(NamedTuple):
    key: Keys  # [signature] sorted
    begin: Keys  # [signature + 1] where its images begin
    image: Rows  # ascending inside a signature
    apart: bool  # no word is both a relation and a preposition, whose signatures look alike


class Index:
    """Facts of all images and postings of signatures; goes to workers as it is."""

    def __init__(self, images: Images, unread: Iterable[str] = UNREAD) -> None:
        self.words: list[str] = images.words["word"].to_list()
        self.image_ids: pl.Series = images.images["id"]
        self.thing_ids: pl.Series = images.things["id"]
        self.scenes: Scenes = scenes_of(images, unread)
        self.area: NDArray[np.float32] = areas(images)
        if len(self.words) >= HAS:
            raise BadInput.at("images", f"{len(self.words):,} different words; an index takes fewer than {HAS:,}")
        image, *link = _links(self.scenes)
        self.postings: Postings = postings(self.scenes, image, *link)
        subject, relation, target = _ends(self.scenes)
        self.ends: Keys = np.unique(signature(subject, target, relation))  # that some edge has
        self.links: Keys = np.unique(signature(*link))  # (subject, link, target) of edges and prepositions

    @property
    def bytes(self) -> int:
        arrays = (*self.scenes, *self.postings[:3], self.area, self.ends, self.links)
        return sum(array.nbytes for array in arrays)


def signature(subject: Any, relation: Any, target: Any) -> Keys:
    a, b, c = (np.asarray(each, np.int64) for each in (subject, relation, target))
    return np.asarray(a << (2 * BITS) | b << BITS | c)


def postings(scenes: Scenes, image: Rows, subject: Rows, relation: Rows, target: Rows) -> Postings:
    name, thing_image = scenes.name, scenes.image
    owner = np.repeat(np.arange(len(name)), np.diff(scenes.things[:, ATTRIBUTES]))
    parts = [  # no two parts have a signature in common
        _distinct(signature(name, HAS, ANY), thing_image),
        _distinct(signature(name[owner], HAS, scenes.attribute), thing_image[owner]),
        _distinct(signature(subject, relation, target), image),
        _distinct(signature(subject, relation, ANY), image),
        _distinct(signature(ANY, relation, target), image),
        _distinct(signature(subject, ANY, target), image),
        _distinct(signature(ANY, relation, ANY), image),
    ]
    key, where = (np.concatenate(each) for each in zip(*parts, strict=True))
    del parts
    order = np.argsort(key, kind="stable")
    key = key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    apart = not np.isin(scenes.hanging[:, WORD], scenes.edges[:-1, RELATION]).any()
    return Postings(key[first], np.append(first, len(key)), where[order], bool(apart))


def _distinct(key: Keys, image: Rows) -> tuple[Keys, Rows]:
    """Sorted by signature, then image; images ascend as given."""
    order = np.argsort(key, kind="stable")
    key, image = key[order], image[order]
    new = (np.diff(key, prepend=-1) != 0) | (np.diff(image, prepend=-1) != 0)
    return key[new], image[new]


def _ends(scenes: Scenes) -> tuple[Rows, Rows, Rows]:
    """[edge] (name of the subject, relation, name of the target)."""
    subject = np.repeat(scenes.name, np.diff(scenes.things[:, EDGES]))
    return subject, scenes.edges[:-1, RELATION], scenes.name[scenes.edges[:-1, TARGET]]


def _links(scenes: Scenes) -> tuple[Rows, Rows, Rows, Rows]:
    """[edge or preposition] (image, name, relation, name) by image; a preposition starts from its edge's subject."""
    subject, relation, target = _ends(scenes)
    image = scenes.image[scenes.edges[:-1, TARGET]]
    if not len(scenes.hanging):
        return image, subject, relation, target
    word, end = scenes.hanging.T
    edge = np.repeat(np.arange(len(relation)), np.diff(scenes.edges[:, PREPOSITIONS]))
    image = np.append(image, image[edge])
    order = np.argsort(image, kind="stable")
    subject, relation = np.append(subject, subject[edge]), np.append(relation, word)
    target = np.append(target, scenes.name[end])
    return image[order], subject[order], relation[order], target[order]
