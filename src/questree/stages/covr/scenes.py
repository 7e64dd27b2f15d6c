"""The facts of all images as flat arrays, in the order in which things, edges and prepositions follow each other."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from questree.domains.images.corpus import UNREAD
from questree.tables.images import Images

Rows = NDArray[np.int32]


class Scenes(NamedTuple):
    """Words are rows of the images' list of words. A thing's attributes and edges, an edge's prepositions are runs."""

    first_thing: Rows  # [image + 1]
    image: Rows  # [thing]
    area: NDArray[np.float32]  # [thing] of its box in square pixels, infinite without a box
    things: Rows  # [thing + 1, (name, first attribute, first edge)]
    attribute: Rows  # [attribute] word
    edges: Rows  # [edge + 1, (relation, target thing, first preposition)]
    hanging: Rows  # [preposition, (word, target thing)]
    # the columns of the tables above
    name: Rows  # [thing] word
    first_attribute: Rows  # [thing + 1]
    first_edge: Rows  # [thing + 1]
    relation: Rows  # [edge] word
    target: Rows  # [edge] thing
    first_preposition: Rows  # [edge + 1]
    preposition: Rows  # [preposition] word
    preposition_target: Rows  # [preposition] thing


def scenes_of(images: Images, unread: Iterable[str] = UNREAD) -> Scenes:
    """Relations that nobody reads are left out, with their prepositions."""
    skipped = images.words.with_row_index("row").filter(images.words["word"].is_in(list(unread)))["row"].to_numpy()
    image, count = _rows(images.things["image"]), len(images.things)
    relation = _rows(images.relations["relation"])
    read = ~np.isin(relation, skipped)  # [edge as given]
    hanging = _hanging(images, read)
    attributes = _begins(_rows(images.attributes["thing"]), count)
    first_edge = _begins(_rows(images.relations["subject"])[read], count)
    first_preposition = _begins(hanging[:, 0], int(read.sum()))
    things = _table(_rows(images.things["name"]), attributes, first_edge)
    edges = _table(relation[read], _rows(images.relations["object"])[read], first_preposition)
    return Scenes(
        first_thing=_begins(image, len(images.images)),
        image=image,
        area=_areas(images),
        things=things,
        attribute=_rows(images.attributes["attribute"]),
        edges=edges,
        hanging=(hanging := np.ascontiguousarray(hanging[:, 1:])),
        name=things[:-1, 0],
        first_attribute=things[:, 1],
        first_edge=things[:, 2],
        relation=edges[:-1, 0],
        target=edges[:-1, 1],
        first_preposition=edges[:, 2],
        preposition=hanging[:, 0],
        preposition_target=hanging[:, 1],
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


def _areas(images: Images) -> NDArray[np.float32]:
    """Sides are rounded to a thousandth of a pixel: they come back as differences of coordinates."""
    sides = [(images.things[f"{axis}2"] - images.things[f"{axis}1"]).to_numpy() for axis in "xy"]
    width, height = (np.round(side.astype(np.float64), 3) for side in sides)
    area = width * height
    return np.where(np.isnan(area), np.inf, area).astype(np.float32)
