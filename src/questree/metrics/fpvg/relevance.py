"""Relevant: IoU > 0.5 with an annotated box. Irrelevant: no more than 25 % overlap with any annotated box.

FPVG, section 3.1. Overlap is intersection / annotated area in the paper (`annotated`); the released script, and so the
published numbers, divide by the detected box's area (`detected`). Every detection can be relevant; only the first
`objects` rows, the rest being padding, can be irrelevant. Both sets must have a member, or the question is left out.
"""

from typing import Literal

import numpy as np

from questree.metrics.fpvg.boxes import iou, overlap
from questree.progress import watch
from questree.tables.scored import Boxes, Detected, Grounded, Relevance

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
