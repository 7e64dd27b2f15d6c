"""Features of some places as rows: a place is a video or an image, a row one of its frames, clips or objects."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from questree.features.codes import Floats, Ints

APPEARANCE, MOTION, OBJECTS = "appearance", "motion", "objects"
DETECTIONS = "detections"  # no stream to look at: the boxes of a detector themselves, x1, y1, x2, y2 in pixels
SIDES = 6  # last columns of an object: x1, y1, x2, y2 as shares of the picture, when or in which image, area
WHEN = -2  # among them


@dataclass(frozen=True)
class StreamRows:
    """One stream of some places."""

    values: Floats  # [row, width]
    start: Ints  # [place + 1] where a place's rows begin
    number: Ints  # [row] which of the place's boxes it shows, -1 for none; of detections which of its frames

    @property
    def most(self) -> int:
        """Rows of the place with most of them."""
        return int(np.diff(self.start).max(initial=0))

    def of(self, places: Ints) -> "StreamRows":
        """Of these places, in this order."""
        count = np.diff(self.start)[places]
        start = np.append(0, np.cumsum(count))
        at = np.repeat(self.start[places] - start[:-1], count) + np.arange(start[-1])
        return StreamRows(self.values[at], start, self.number[at])


@dataclass(frozen=True)
class PlaceFeatures:
    """All streams of some places."""

    places: Sequence[str]
    streams: dict[str, StreamRows]
    boxes: Ints  # [place] how many boxes there are, shown or not
