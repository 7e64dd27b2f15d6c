"""The facts of all images as tables of numbers, and the images of every signature: a name, an edge with wildcards."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.domains.images.corpus import UNREAD
from questree.faults import BadInput
from questree.tables.images import Images

Rows = NDArray[np.int32]


# columns of the tables below
NAME, ATTRIBUTES, EDGES = range(3)
RELATION, TARGET, PREPOSITIONS = range(3)
WORD, END = range(2)


class Scenes(NamedTuple):
    """Words are rows of the images' list of words. A thing's attributes and edges, an edge's prepositions are runs."""

    first_thing: Rows  # [image + 1]
    things: Rows  # [thing + 1, (name, where its attributes begin, where its edges begin)]
    attribute: Rows  # [attribute] word
    edges: Rows  # [edge + 1, (relation, target thing, where its prepositions begin)]
    hanging: Rows  # [preposition, (word, target thing)]

    @property
    def name(self) -> Rows:  # [thing]
        return self.things[:-1, NAME]

    @property
    def image(self) -> Rows:  # [thing]
        return np.repeat(np.arange(len(self.first_thing) - 1, dtype=np.int32), np.diff(self.first_thing))


def scenes_of(images: Images) -> Scenes:
    """Relations that nobody reads are left out, with their prepositions."""
    skipped = images.words.with_row_index("row").filter(images.words["word"].is_in(list(UNREAD)))["row"].to_numpy()
    count = len(images.things)
    relation = _rows(images.relations["relation"])
    read = ~np.isin(relation, skipped)  # [edge as given]
    hanging = _hanging(images, read)
    attributes = _begins(_rows(images.attributes["thing"]), count)
    first_edge = _begins(_rows(images.relations["subject"])[read], count)
    prepositions = _begins(hanging[:, 0], int(read.sum()))
    return Scenes(
        first_thing=_begins(_rows(images.things["image"]), len(images.images)),
        things=_table(_rows(images.things["name"]), attributes, first_edge),
        attribute=_rows(images.attributes["attribute"]),
        edges=_table(relation[read], _rows(images.relations["object"])[read], prepositions),
        hanging=np.ascontiguousarray(hanging[:, 1:]),
    )


def _hanging(images: Images, read: NDArray[np.bool_]) -> Rows:
    """[preposition, (edge among those read, word, target thing)] by edge."""
    edge = _rows(images.prepositions["edge"])
    kept = np.flatnonzero(read[edge])
    kept = kept[np.argsort(edge[kept], kind="stable")]
    columns = (_rows(images.prepositions[name])[kept] for name in ("preposition", "object"))
    return np.stack([(np.cumsum(read) - 1)[edge[kept]].astype(np.int32), *columns], axis=1)


def _table(*columns: Rows) -> Rows:
    """Columns side by side; those without a last value, which only the beginnings of runs have, get 0."""
    rows = len(columns[-1])
    return np.stack([np.append(each, 0).astype(np.int32)[:rows] for each in columns], axis=1)


def _rows(column: Any) -> Rows:
    return np.ascontiguousarray(column.to_numpy(), np.int32)


def _begins(owner: Rows, owners: int) -> Rows:
    """[owner + 1] where the run of each owner begins; owners ascend."""
    return np.searchsorted(owner, np.arange(owners + 1)).astype(np.int32)


def areas(images: Images) -> NDArray[np.float32]:
    """[thing] of its box in square pixels, infinite without a box.

    Sides are rounded to a thousandth of a pixel: they come back as differences of coordinates."""
    sides = [(images.things[f"{axis}2"] - images.things[f"{axis}1"]).to_numpy() for axis in "xy"]
    width, height = (np.round(side.astype(np.float64), 3) for side in sides)
    area = width * height
    return np.where(np.isnan(area), np.inf, area).astype(np.float32)


def boxes_of(images: Images) -> NDArray[np.float32]:
    """[thing, (x1, y1, x2, y2)] in pixels, NaN without a box."""
    return np.ascontiguousarray(images.things.select("x1", "y1", "x2", "y2").to_numpy())


Keys = NDArray[np.int64]

BITS = 21  # of a word in a signature; three words make one
ANY = (1 << BITS) - 1  # a wildcard in a signature
HAS = ANY - 1  # in place of a relation: (name, HAS, attribute), (name, HAS, ANY)


class Postings(NamedTuple):
    key: Keys  # [signature] sorted
    begin: Keys  # [signature + 1] where its images begin
    image: Rows  # ascending inside a signature
    apart: bool  # no word is both a relation and a preposition, whose signatures look alike


@dataclass(frozen=True)
class Index:
    """Facts of all images and postings of signatures."""

    words: list[str]
    image_ids: pl.Series
    thing_ids: pl.Series
    scenes: Scenes
    area: NDArray[np.float32]  # [thing]
    postings: Postings
    ends: Keys  # (subject, target, relation) that some edge has
    links: Keys  # (subject, link, target) of edges and prepositions

    @classmethod
    def of(cls, images: Images) -> "Index":
        words, scenes = images.words["word"].to_list(), scenes_of(images)
        if len(words) >= HAS:
            raise BadInput.at("images", f"{len(words):,} different words; an index takes fewer than {HAS:,}")
        subject, relation, target = _ends(scenes)
        ends = np.unique(signature(subject, target, relation))
        del subject, relation, target
        image, *link = _links(scenes)
        links, found = np.unique(signature(*link)), postings(scenes, image, *link)
        return cls(words, images.images["id"], images.things["id"], scenes, areas(images), found, ends, links)

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
    key, where = key[order], where[order]
    del order
    first = np.flatnonzero(_changes(key))
    apart = not np.isin(scenes.hanging[:, WORD], scenes.edges[:-1, RELATION]).any()
    return Postings(key[first], np.append(first, len(key)), where, bool(apart))


def _distinct(key: Keys, image: Rows) -> tuple[Keys, Rows]:
    """Sorted by signature, then image; images ascend as given."""
    order = np.argsort(key, kind="stable")
    key, image = key[order], image[order]
    new = _changes(key) | _changes(image)
    return key[new], image[new]


def _changes(column: NDArray[Any]) -> NDArray[np.bool_]:
    """[row] is its value another than the one before?"""
    changed = np.ones(len(column), bool)
    changed[1:] = column[1:] != column[:-1]
    return changed


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
