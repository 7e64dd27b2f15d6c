"""Features of images from their scene graphs: a thing sums its name, its attributes and what it is related to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.columns.joins import starts
from questree.features.codes import Floats, Ints, chance, codes
from questree.features.detector import Detector, SeenBoxes
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
        seen = self.seen
        start = starts(seen.view, len(self.ids))
        number = np.arange(len(seen.view)) - start[seen.view]
        kept = np.flatnonzero(seen.there & (number < self.options.objects))
        image, thing = seen.view[kept], seen.thing[kept]
        corner = seen.corner[kept] / np.tile(self.sizes[image].astype(np.float64), 2)
        looks = self.things(image, thing, number[kept], corner)
        values = np.concatenate([looks, sides(corner, np.zeros(len(kept)))], axis=1)
        rows = noisy(self.options, OBJECTS, self.ids, values, starts(image, len(self.ids)), number[kept])
        found = StreamRows(seen.corner.astype(np.float32), start, np.zeros_like(number))
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
    def seen(self) -> SeenBoxes:
        """The things that have a box, or what a detector finds of them."""
        image = self.images.things["image"].to_numpy().astype(np.int64)
        begin, end = np.searchsorted(image, [self.first, self.end])
        own = self.images.things[int(begin) : int(end)].with_row_index("row", int(begin)).drop_nulls(CORNERS)
        place, row = own["image"].to_numpy().astype(np.int64) - self.first, own["row"].to_numpy().astype(np.int64)
        detector = Detector(self.options, self.ids, np.arange(len(self.ids)), self.sizes)
        known = detector.annotated(place, row, own.select(CORNERS).to_numpy())
        return detector.detected(known) if self.options.detections else known

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
