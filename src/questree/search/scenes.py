"""The facts of all images as four tables of numbers, in the order of the images."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from questree.domains.images.corpus import UNREAD
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


def scenes_of(images: Images, unread: Iterable[str] = UNREAD) -> Scenes:
    """Relations that nobody reads are left out, with their prepositions."""
    skipped = images.words.with_row_index("row").filter(images.words["word"].is_in(list(unread)))["row"].to_numpy()
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
