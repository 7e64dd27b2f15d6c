"""A made-up detector: boxes near those of what there is, some of it missed, and boxes where there is nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from questree.columns.joins import starts
from questree.features.codes import Ints, chance
from questree.features.options import FeatureOptions


@dataclass(frozen=True)
class SeenBoxes:
    """Boxes of views, view by view; a view is an image, or a frame of a video."""

    view: Ints  # [box]
    thing: Ints  # [box] row of what is annotated, -1 where there is nothing
    corner: Ints  # [box, side] pixels
    there: Ints  # [box] is it seen?


@dataclass(frozen=True)
class Detector:
    """Looks at the views of places; what it draws follows from the ids of these."""

    options: FeatureOptions
    places: Sequence[str]  # ids of images or videos
    place: Ints  # [view] ascending
    size: Ints  # [view] width, height

    def annotated(self, view: Ints, thing: Ints, corner: Ints) -> SeenBoxes:
        """All of these boxes; some are missed."""
        place, item = self._items(view)
        there = chance(self.options.seed, "miss", self.places, place, item) >= self.options.miss
        return SeenBoxes(view, thing, corner, there)

    def detected(self, known: SeenBoxes) -> SeenBoxes:
        """Boxes near those that are not missed, then some where there is nothing."""
        kept = np.flatnonzero(known.there)
        view, corner = known.view[kept], known.corner[kept]
        extent = np.tile(corner[:, 2:] - corner[:, :2], 2)
        near = corner + (2 * self._draws("side", view) - 1) * self.options.jitter * extent
        nowhere = np.repeat(np.arange(len(self.place)), self.options.spurious)
        both = np.append(view, nowhere)
        order = np.argsort(both, kind="stable")
        thing = np.append(known.thing[kept], np.full(len(nowhere), -1))
        corners = np.concatenate([near, self._anywhere(nowhere)])
        return SeenBoxes(both[order], thing[order], corners[order], np.ones(len(both), bool))

    def _anywhere(self, view: Ints) -> Ints:
        """[box, side] boxes of a fifth to a half of the picture's sides."""
        draws, size = self._draws("anywhere", view), self.size[view]
        extent = (0.2 + 0.3 * draws[:, :2]) * size
        corner = draws[:, 2:] * (size - extent)
        return np.concatenate([corner, corner + extent], axis=1)

    def _draws(self, purpose: str, view: Ints) -> Ints:
        """[box, side] a number 0 <= x < 1 of each."""
        place, item = self._items(view)
        seed, places = self.options.seed, self.places
        return np.stack([chance(seed, f"{purpose} {side}", places, place, item) for side in range(4)], axis=1)

    def _items(self, view: Ints) -> tuple[Ints, Ints]:
        """[box] its place, and which of the place's boxes it is."""
        place = self.place[view]
        return place, np.arange(len(place)) - starts(place, len(self.places))[place]
