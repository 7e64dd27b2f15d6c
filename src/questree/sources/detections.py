"""Reads detections in whole pixels: plain numbers straight from the text, anything else one by one."""

from itertools import chain
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.faults import UNREADABLE, BadInput
from questree.tables.scored import Detections, Ints
from questree.tables.store import read_json

SURE = 15  # digits that a floating-point number keeps
OPEN, CLOSE, MINUS, POINT, ZERO, NINE, COMMA = map(ord, "[]-.09,")
BLANK, TAB, LINE, RETURN = map(ord, " \t\n\r")
WANTED = "{image id: {bboxes, objectsNum}}"


class DetectedRows(msgspec.Struct, gc=False):
    bboxes: msgspec.Raw  # a list of boxes
    objectsNum: int


def read_detections(path: Path) -> Detections:
    """Coordinates are cut to whole pixels towards zero, as the released lists of relevant objects were made."""
    found: dict[str, DetectedRows] = read_json(path, dict[str, DetectedRows], WANTED)
    text = b"\n".join(bytes(one.bboxes) for one in found.values())
    sides, sizes = _pixels(np.frombuffer(text, np.uint8), len(found))
    if len(sizes) < len(found) or len(sides) % 4:
        sides, sizes = _one_by_one(path, found)
    start = np.concatenate([[0], np.cumsum(sizes)])
    objects = np.array([one.objectsNum for one in found.values()], np.int64)
    return Detections(list(found), sides.astype(np.float64).reshape(-1, 4), start, objects)


def _one_by_one(path: Path, found: dict[str, DetectedRows]) -> tuple[Ints, Ints]:
    decoder, rows = msgspec.json.Decoder(list[list[float]]), list[list[list[float]]]()
    for image, one in found.items():
        place = f"{path}, image {image}"
        try:
            rows.append(decoder.decode(one.bboxes))
        except UNREADABLE as error:
            raise BadInput.at(place, f"expected {WANTED}; {error}") from error
        if any(len(box) != 4 for box in rows[-1]):
            raise BadInput.at(place, "expected boxes of four numbers x1, y1, x2, y2")
    sides = np.trunc(np.array([*chain.from_iterable(chain.from_iterable(rows))], np.float64))
    return sides.astype(np.int64), np.array([*map(len, rows)], np.int64)


@njit(cache=True)
def _pixels(text: NDArray[np.uint8], images: int) -> tuple[Ints, Ints]:
    """Whole parts of the numbers in lists of boxes of four, valid JSON and one after the other; [image] boxes.

    Too few images if there is anything else in it, or a number whose whole part its digits do not tell: with an
    exponent, more digits than are kept and only nines where they are, or too large.
    """
    sides, sizes = np.empty(len(text) // 2 + 1, np.int64), np.zeros(images, np.int64)
    count, image, depth, inside, at = 0, 0, 0, 0, 0
    nothing = sizes[:0]
    while at < len(text):
        char = text[at]
        if char == OPEN:
            depth += 1
            inside = 0
            if depth > 2:
                return sides[:0], nothing
        elif char == CLOSE:
            if depth == 2:
                if inside != 4:
                    return sides[:0], nothing
                sizes[image] += 1
            else:
                image += 1
            depth -= 1
        elif char == MINUS or (ZERO <= char <= NINE):
            if depth != 2:
                return sides[:0], nothing
            sign, value, digits = 1, np.int64(0), 0
            if char == MINUS:
                sign = -1
                at += 1
            while at < len(text) and ZERO <= text[at] <= NINE:
                value = 10 * value + np.int64(text[at]) - ZERO
                digits += 1
                at += 1
            if digits >= SURE:
                return sides[:0], nothing
            if at < len(text) and text[at] == POINT:
                at += 1
                nines = True
                while at < len(text) and ZERO <= text[at] <= NINE:
                    digits += 1
                    if digits <= SURE:
                        nines = nines and text[at] == NINE
                    at += 1
                if nines and digits > SURE:
                    return sides[:0], nothing
            sides[count] = sign * value
            count += 1
            inside += 1
            continue
        elif char != COMMA and char != BLANK and char != TAB and char != LINE and char != RETURN:
            return sides[:0], nothing
        at += 1
    return sides[:count], sizes[:image]
