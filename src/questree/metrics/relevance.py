"""Relevant: IoU > 0.5 with an annotated box. Irrelevant: no more than 25 % overlap with any annotated box.

FPVG, section 3.1. Overlap is intersection / annotated area in the paper (`annotated`); the released script, and so the
published numbers, divide by the detected box's area (`detected`). Every detection can be relevant; only the first
`objects` rows, the rest being padding, can be irrelevant. Both sets must have a member, or the question is left out.
"""

from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.joins import listed
from questree.metrics.scores import Score
from questree.tables.scored import REASONS, RELEVANCE, Annotated, Boxes, Detections, Ints

Box = tuple[float, float, float, float]  # x1, y1, x2, y2
Irrelevant = Literal["detected", "annotated"]
RELEVANT_IOU, COVERED = 0.5, 0.25  # both strict
NEAR, SHOWN = 1, 2  # bits of a mark


def relevance(asked: Annotated, found: Detections, irrelevant: Irrelevant = "detected") -> pl.DataFrame:
    """RELEVANCE of every question."""
    place = pl.DataFrame({"image": pl.Series(found.images, dtype=pl.String)}).with_row_index("at")
    at = asked.questions.join(place, on="image", how="left", maintain_order="left")["at"]
    image = at.cast(pl.Int64).fill_null(-1).to_numpy()
    size, about = np.append(np.diff(found.start), 0), np.diff(asked.start)  # the last of `size`: without an image
    most = int(size[image].sum())
    near, far = np.empty(most + 1, np.uint32), np.empty(most + 1, np.uint32)  # a place more: written before it is known
    annotated, detected = (asked.boxes, asked.about, asked.start), (found.boxes, found.start, found.objects)
    ends = _sets(*annotated, *detected, image, irrelevant == "detected", near, far)
    none = ends[:, 1:] == ends[:, :-1]
    code = np.select([about == 0, image < 0, *none], [1, 2, 3, 4], 0)
    return RELEVANCE.frame(
        {
            "relevant": listed(near[: ends[0, -1]], ends[0]),
            "irrelevant": listed(far[: ends[1, -1]], ends[1]),
            "boxes": np.minimum(np.append(found.objects, 0), size)[image],
            "left_out": pl.Series(REASONS).gather(code),
        }
    )


@njit(cache=True)
def corners(row: NDArray[np.float64]) -> Box:
    return row[0], row[1], row[2], row[3]


@njit(cache=True)
def area(box: Box) -> float:
    """A box is x2 - x1 wide; side lengths are cut to whole pixels."""
    return float(np.trunc(box[2] - box[0]) * np.trunc(box[3] - box[1]))


@njit(cache=True)
def intersection(one: Box, two: Box) -> float:
    wide = np.trunc(min(one[2], two[2]) - max(one[0], two[0]))
    high = np.trunc(min(one[3], two[3]) - max(one[1], two[1]))
    return wide * high if wide > 0 and high > 0 else 0.0


@njit(cache=True)
def iou(one: Box, two: Box) -> float:
    """IoU = intersection / union, overlap = intersection / area of the first box.

    FPVG, section 3.1. No overlap, or an area of zero or less, gives 0.
    """
    common = intersection(one, two)
    union = area(one) + area(two) - common
    return common / union if area(one) > 0 and area(two) > 0 and union > 0 else 0.0


@njit(cache=True)
def overlap(one: Box, two: Box) -> float:
    """How much of the first box the second one covers."""
    return intersection(one, two) / area(one) if area(one) > 0 and area(two) > 0 else 0.0


@njit(cache=True)
def _mark(box: NDArray[np.float64], detected: Boxes, by_detected: bool, marks: NDArray[np.uint8]) -> None:
    """[row] what a detection is to an annotated box: near, shown by it."""
    one = corners(box)
    for row in range(len(detected)):
        two = corners(detected[row])
        if intersection(one, two) > 0:
            shown = overlap(two, one) if by_detected else overlap(one, two)
            marks[row] = (NEAR if iou(one, two) > RELEVANT_IOU else 0) | (SHOWN if shown > COVERED else 0)


@njit(cache=True)
def _sets(
    boxes: Boxes,
    about: Ints,
    start: Ints,
    detected: Boxes,
    first: Ints,
    objects: Ints,
    image: Ints,
    by_detected: bool,
    near: NDArray[np.uint32],
    far: NDArray[np.uint32],
) -> Ints:
    """Fills relevant and irrelevant detections, question by question; [side, question + 1] where each one's begin."""
    ends, kept, most, count = np.zeros((2, len(image) + 1), np.int64), np.full(len(boxes), -1), 0, 0
    for question in range(len(image)):
        if image[question] >= 0:
            size = first[image[question] + 1] - first[image[question]]
            most = max(most, size)
            for box in about[start[question] : start[question + 1]]:
                if kept[box] < 0:  # one box serves many questions about its image
                    kept[box] = count
                    count += size
    marks, done, own = np.zeros(count, np.uint8), np.zeros(len(boxes), np.bool_), np.zeros(most, np.uint8)
    for question in range(len(image)):
        ends[0, question + 1], ends[1, question + 1] = ends[0, question], ends[1, question]
        at = image[question]
        if at < 0 or start[question] == start[question + 1]:
            continue
        size = first[at + 1] - first[at]
        own[:size] = 0
        for box in about[start[question] : start[question + 1]]:
            if not done[box]:
                _mark(boxes[box], detected[first[at] : first[at + 1]], by_detected, marks[kept[box] :])
                done[box] = True
            for row in range(size):
                own[row] |= marks[kept[box] + row]
        for row in range(size):
            near[ends[0, question + 1]] = row
            ends[0, question + 1] += own[row] & NEAR != 0
            far[ends[1, question + 1]] = row
            ends[1, question + 1] += own[row] & SHOWN == 0 and row < objects[at]
    return ends


def as_released(asked: pl.DataFrame, found: pl.DataFrame) -> dict[str, dict[str, dict[str, list[int]]]]:
    """{image: {question: {"relevant": [i], "irrelevant": [i]}}} of annotated questions whose image has detections."""
    result: dict[str, dict[str, dict[str, list[int]]]] = {}
    known = found.with_columns(asked["id"], asked["image"]).filter(
        ~pl.col("left_out").is_in(["no annotation", "no detections"])
    )
    for id, image, near, far in known.select("id", "image", "relevant", "irrelevant").iter_rows():
        result.setdefault(image, {})[id] = {"relevant": near, "irrelevant": far}
    return result


def box_rows(found: pl.DataFrame, detector: str) -> list[Score]:
    """Boxes of the evaluated questions: the most that one of them has, and how many it has on average.

    FPVG, Table 5: of all that were found, of the relevant and of the irrelevant ones.
    """
    here = found.filter(left_out="").select("boxes", pl.col("relevant", "irrelevant").list.len())
    mean = dict(zip(("all", "relevant", "irrelevant"), here.mean().row(0), strict=True))
    values = {("most boxes", "all"): here["boxes"].max()} | {("boxes", name): value for name, value in mean.items()}
    return [
        Score(metric, "detector", group, None if value is None else float(value), len(here), None, None, detector)
        for (metric, group), value in values.items()
    ]
