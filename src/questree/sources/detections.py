"""Reads detections in whole pixels."""

from itertools import chain
from pathlib import Path

import msgspec
import numpy as np

from questree.faults import UNREADABLE, BadInput
from questree.tables.scored import Detections
from questree.tables.store import read_json

WANTED = "{image id: {bboxes, objectsNum}}"


class DetectedRows(msgspec.Struct, gc=False):
    bboxes: msgspec.Raw  # a list of boxes
    objectsNum: int


def read_detections(path: Path) -> Detections:
    """Coordinates are cut to whole pixels towards zero, as the released lists of relevant objects were made."""
    found: dict[str, DetectedRows] = read_json(path, dict[str, DetectedRows], WANTED)
    decoder, boxes, sizes = msgspec.json.Decoder(list[list[float]]), list[list[float]](), list[int]()
    for image, one in found.items():
        place = f"{path}, image {image}"
        try:
            own = decoder.decode(one.bboxes)
        except UNREADABLE as error:
            raise BadInput.at(place, f"expected {WANTED}; {error}") from error
        if any(len(box) != 4 for box in own):
            raise BadInput.at(place, "expected boxes of four numbers x1, y1, x2, y2")
        boxes += own
        sizes.append(len(own))
    sides = np.trunc(np.array([*chain.from_iterable(boxes)], np.float64)).reshape(-1, 4) + 0.0  # not -0
    objects = np.array([one.objectsNum for one in found.values()], np.int64)
    return Detections(list(found), sides, np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), objects)
