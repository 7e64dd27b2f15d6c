"""Relevant: IoU > 0.5 with an annotated box. Irrelevant: no more than 25 % overlap with any annotated box.

FPVG, section 3.1. Overlap is intersection / annotated area in the paper (`annotated`); the released script, and so the
published numbers, divide by the detected box's area (`detected`). Every detection can be relevant; only the first
`objects` rows, the rest being padding, can be irrelevant. Both sets must have a member, or the question is left out.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from questree.progress import watch
from questree.tables.scored import Boxes, Detected, Grounded, Relevance


def area(boxes: Boxes) -> NDArray[np.float64]:
    """[box]"""
    return np.asarray(np.trunc(boxes[..., 2] - boxes[..., 0]) * np.trunc(boxes[..., 3] - boxes[..., 1]))


def intersection(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """[first, second]"""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    sides = np.trunc(high - low)
    return np.where((sides > 0).all(axis=-1), sides.prod(axis=-1), 0.0)


def iou(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """IoU = intersection / union, overlap = intersection / area of the first box; side lengths are cut to whole pixels.

    FPVG, section 3.1. A box is x1, y1, x2, y2 and x2 - x1 wide. No overlap, or an area of zero or less, gives 0.

    [first, second]
    """
    one, two, common = area(first)[:, None], area(second)[None, :], intersection(first, second)
    return _share(common, one + two - common, (one > 0) & (two > 0))


def overlap(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """[first, second] how much of the first box the second one covers."""
    one, two = area(first)[:, None], area(second)[None, :]
    return _share(intersection(first, second), one + 0 * two, (one > 0) & (two > 0))


def _share(part: NDArray[np.float64], whole: NDArray[np.float64], defined: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(part.shape), where=defined & (whole > 0))


Irrelevant = Literal["detected", "annotated"]
RELEVANT_IOU, COVERED = 0.5, 0.25  # both strict


def relevance(grounded: Grounded, irrelevant: Irrelevant = "detected") -> list[Relevance]:
    """[question]"""
    images = grounded.questions["image"].to_list()
    pairs = zip(images, grounded.annotated, strict=True)
    return [
        relevance_of(annotated, grounded.detections.get(image), irrelevant)
        for image, annotated in watch(pairs, "relevance", len(images))
    ]


def relevance_of(annotated: Boxes, detected: Detected | None, irrelevant: Irrelevant) -> Relevance:
    if not len(annotated):
        return Relevance(left_out="no annotation")
    if detected is None:
        return Relevance(left_out="no detections")
    boxes = np.trunc(detected.boxes)  # towards zero, as the released lists were made
    near = (iou(annotated, boxes) > RELEVANT_IOU).any(axis=0)  # [detection]
    covered = overlap(annotated, boxes) if irrelevant == "annotated" else overlap(boxes, annotated).T
    far = ~(covered > COVERED).any(axis=0) & (np.arange(len(boxes)) < detected.objects)
    found = tuple(np.flatnonzero(near).tolist()), tuple(np.flatnonzero(far).tolist())
    if not found[0]:
        return Relevance(*found, left_out="nothing relevant")
    return Relevance(*found, left_out="" if found[1] else "nothing irrelevant")


def as_released(grounded: Grounded, found: list[Relevance]) -> dict[str, dict[str, dict[str, tuple[int, ...]]]]:
    """{image: {question: {"relevant": [i], "irrelevant": [i]}}} of annotated questions whose image has detections."""
    result: dict[str, dict[str, dict[str, tuple[int, ...]]]] = {}
    rows = zip(*(grounded.questions[name].to_list() for name in ("id", "image")), found, strict=True)
    for id, image, one in rows:
        if one.left_out not in ("no annotation", "no detections"):
            result.setdefault(image, {})[id] = {"relevant": one.relevant, "irrelevant": one.irrelevant}
    return result
