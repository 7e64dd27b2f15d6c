"""Features of images from their scene graphs: a thing sums its name, its attributes and what it is related to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.columns.joins import starts
from questree.features.codes import Floats, Ints, chance, codes
from questree.features.options import FeatureOptions
from questree.features.rows import DETECTIONS, OBJECTS, SIDES, PlaceFeatures, StreamRows
from questree.features.seen import noisy, sides, summed, taken_for
from questree.stages.ground.boxes import SIDES as CORNERS
from questree.tables.images import Images


@dataclass(frozen=True)
class ImageFacts:
    """The images first <= i < end, as features."""

    images: Images
    first: int
    end: int
    options: FeatureOptions

    def made(self) -> PlaceFeatures:
        """Boxes are counted as `ground` counts them, or by the detector if there is one."""
        seen = self.detected if self.options.detections else self.annotated
        start = starts(seen.image, len(self.ids))
        number = np.arange(len(seen.image)) - start[seen.image]
        kept = np.flatnonzero(seen.there & (number < self.options.objects))
        image, thing = seen.image[kept], seen.thing[kept]
        corner = seen.corner[kept] / np.tile(self.sizes[image].astype(np.float64), 2)
        looks = self.things(image, thing, number[kept], corner)
        values = np.concatenate([looks, sides(corner, np.zeros(len(kept)))], axis=1)
        rows = noisy(self.options, OBJECTS, self.ids, values, starts(image, len(self.ids)), number[kept])
        found = StreamRows(seen.corner.astype(np.float32), start, number)
        detected = {DETECTIONS: found} if self.options.detections else {}
        return PlaceFeatures(self.ids, {OBJECTS: rows, **detected}, np.diff(start))

    @cached_property
    def ids(self) -> list[str]:
        return self.images.images["id"][self.first : self.end].to_list()

    @cached_property
    def sizes(self) -> Ints:
        """[image] width, height"""
        return self.images.images[self.first : self.end].select(pl.col("width", "height").fill_null(1)).to_numpy()

    @cached_property
    def annotated(self) -> "SeenBoxes":
        """The things that have a box; some are missed."""
        image = self.images.things["image"].to_numpy().astype(np.int64)
        begin, end = np.searchsorted(image, [self.first, self.end])
        own = self.images.things[int(begin) : int(end)].with_row_index("row", int(begin)).drop_nulls(CORNERS)
        place = own["image"].to_numpy().astype(np.int64) - self.first
        item = np.arange(len(place)) - starts(place, len(self.ids))[place]
        there = chance(self.options.seed, "miss", self.ids, place, item) >= self.options.miss
        return SeenBoxes(place, own["row"].to_numpy().astype(np.int64), own.select(CORNERS).to_numpy(), there)

    @cached_property
    def detected(self) -> "SeenBoxes":
        """Boxes near those of things that are not missed, then some where there is nothing."""
        options, known = self.options, self.annotated
        kept = np.flatnonzero(known.there)
        image, count = known.image[kept], len(self.ids)
        item = np.arange(len(image)) - starts(image, count)[image]
        draws = np.stack([chance(options.seed, f"side {side}", self.ids, image, item) for side in range(4)], axis=1)
        corner = known.corner[kept]
        extent = np.tile(corner[:, 2:] - corner[:, :2], 2)
        near = corner + (2 * draws - 1) * options.jitter * extent
        nowhere = np.repeat(np.arange(count), options.spurious)
        corners = np.concatenate([near, self._anywhere(nowhere)])
        both = np.append(image, nowhere)
        order = np.argsort(both, kind="stable")
        thing = np.append(known.thing[kept], np.full(len(nowhere), -1))
        return SeenBoxes(both[order], thing[order], corners[order], np.ones(len(both), bool))

    def _anywhere(self, image: Ints) -> Ints:
        """[box, side] boxes of a fifth to a half of the picture's sides."""
        item = np.arange(len(image)) - starts(image, len(self.ids))[image]
        draws = [chance(self.options.seed, f"anywhere {side}", self.ids, image, item) for side in range(4)]
        extent = (0.2 + 0.3 * np.stack(draws[:2], axis=1)) * self.sizes[image]
        corner = np.stack(draws[2:], axis=1) * (self.sizes[image] - extent)
        return np.concatenate([corner, corner + extent], axis=1)

    def things(self, image: Ints, thing: Ints, number: Ints, corner: Ints) -> Floats:
        """[row, width] without where it is; what is nowhere looks like any name."""
        names, width = self.images.words["word"].to_list(), self.options.width - SIDES
        real = thing >= 0
        name = self.images.things["name"].to_numpy().astype(np.int64)
        kinds = np.unique(name)
        draw = chance(self.options.seed, "class", self.ids, image, number)
        right = np.searchsorted(kinds, name[np.where(real, thing, 0)]) if len(name) else np.zeros(0, np.int64)
        wrong = (draw * len(kinds)).astype(np.int64)
        called = np.where(real, taken_for(right, draw, len(kinds), self.options.confuse), wrong)
        own = codes([f"name {names[word]}" for word in kinds.tolist()], width)[called]
        return own + self._told(width)[np.where(real, thing - self._things[0], -1)]

    @cached_property
    def _things(self) -> tuple[int, int]:
        """The rows of `things` of these images: first, end."""
        image = self.images.things["image"].to_numpy()
        begin, end = np.searchsorted(image, [self.first, self.end])
        return int(begin), int(end)

    def _told(self, width: int) -> Floats:
        """[thing, width] attributes and relations, either way; the last row is nobody's."""
        begin, end = self._things
        names = self.images.words["word"]
        name = self.images.things["name"].to_numpy()
        attributes = self.images.attributes.filter(pl.col("thing").is_between(begin, end - 1))
        related = self.images.relations.filter(pl.col("subject").is_between(begin, end - 1))
        subject, relation, object = (related[column].to_numpy() for column in ("subject", "relation", "object"))
        said = [
            (attributes["thing"].to_numpy(), "attribute " + names.gather(attributes["attribute"])),
            (subject, "does " + names.gather(relation)),
            (subject, "does " + names.gather(relation) + ", to " + names.gather(name[object])),
            (object, "done " + names.gather(relation)),
            (object, "done " + names.gather(relation) + ", by " + names.gather(name[subject])),
        ]
        thing = np.concatenate([own for own, _ in said]).astype(np.int64) - begin
        told, at = np.unique(pl.concat([text for _, text in said]).to_numpy(), return_inverse=True)
        once = np.unique(thing * len(told) + at)  # near two cups is near a cup: nothing drowns in what is said again
        thing, at = np.divmod(once, max(len(told), 1))
        return summed(end - begin + 1, thing, codes(told.tolist(), width)[at])


@dataclass(frozen=True)
class SeenBoxes:
    """Boxes of images, image by image."""

    image: Ints  # [box]
    thing: Ints  # [box] row in `things`, -1 where there is nothing
    corner: Ints  # [box, side] pixels
    there: Ints  # [box] is it seen?
