"""Train, dev and test: the part of every image, and the facts of some images alone."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import seed_of
from questree.tables.images import Images

PARTS = ("train", "dev", "test")
SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}  # where the source has no split


def part_of(images: pl.DataFrame) -> NDArray[Any]:
    """[image] a source's own train, dev and test stay. Of others train stays, and what else they have is halved by a
    hash of the image; without a split, all of them are dealt out by hash."""
    draw = np.array([seed_of(0, f"covr part\0{name}") for name in images["id"]], np.uint64) / 2.0**64
    split = images["split"].to_numpy()
    train, given = split == "train", np.isin(split, ("dev", "test")) & (split == "dev").any()
    if train.all() or not train.any():
        train = draw < SHARES["train"]
        draw = (draw - SHARES["train"]) / (1 - SHARES["train"])
    dev = draw < SHARES["dev"] / (SHARES["dev"] + SHARES["test"])
    return np.where(given, split, np.where(train, "train", np.where(dev, "dev", "test")))


def only(images: Images, chosen: NDArray[np.bool_]) -> Images:
    """The chosen images with everything that is said about them, numbered anew; the words stay as they are."""
    things = chosen[images.things["image"].to_numpy()]
    edges = things[images.relations["subject"].to_numpy()]
    new_image, new_thing, new_edge = (np.cumsum(kept, dtype=np.uint32) - 1 for kept in (chosen, things, edges))
    attributes = images.attributes.filter(things[images.attributes["thing"].to_numpy()])
    prepositions = images.prepositions.filter(edges[images.prepositions["edge"].to_numpy()])
    return Images(
        images.images.filter(chosen),
        _numbered(images.things.filter(things), image=new_image),
        _numbered(attributes, thing=new_thing),
        _numbered(images.relations.filter(edges), subject=new_thing, object=new_thing),
        _numbered(prepositions, edge=new_edge, object=new_thing),
        images.words,
    )


def _numbered(table: pl.DataFrame, **new: NDArray[np.uint32]) -> pl.DataFrame:
    return table.with_columns(**{name: pl.Series(number[table[name].to_numpy()]) for name, number in new.items()})
