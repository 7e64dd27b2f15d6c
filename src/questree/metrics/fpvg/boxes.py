"""IoU = intersection / union, overlap = intersection / area of the first box; side lengths are cut to whole pixels.

FPVG, section 3.1. A box is x1, y1, x2, y2 and x2 - x1 wide. No overlap, or an area of zero or less, gives 0.
"""

import numpy as np
from numpy.typing import NDArray

Boxes = NDArray[np.float64]  # [box, x1 y1 x2 y2]


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
    """[first, second]"""
    one, two, common = area(first)[:, None], area(second)[None, :], intersection(first, second)
    return _share(common, one + two - common, (one > 0) & (two > 0))


def overlap(first: Boxes, second: Boxes) -> NDArray[np.float64]:
    """[first, second] how much of the first box the second one covers."""
    one, two = area(first)[:, None], area(second)[None, :]
    return _share(intersection(first, second), one + 0 * two, (one > 0) & (two > 0))


def _share(part: NDArray[np.float64], whole: NDArray[np.float64], defined: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.divide(part, whole, out=np.zeros(part.shape), where=defined & (whole > 0))
