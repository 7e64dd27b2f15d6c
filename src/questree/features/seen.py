"""What facts look like to somebody who does not see well: words taken for others, boxes, and noise on numbers."""

from collections.abc import Sequence

import numpy as np

from questree.features.codes import Floats, Ints, noise
from questree.features.options import FeatureOptions
from questree.features.rows import StreamRows


def taken_for(word: Ints, draw: Ints, count: int, share: float) -> Ints:
    """[row] the word, or where the draw is less than the share any other one of so many."""
    if not share or count < 2:
        return word.astype(np.int64)
    step = 1 + (draw / share * (count - 1)).astype(np.int64)
    return np.where(draw < share, (word + step) % count, word)


def noisy(
    options: FeatureOptions, stream: str, places: Sequence[str], values: Floats, start: Ints, number: Ints | None = None
) -> StreamRows:
    """The rows of a stream; start: [place + 1]."""
    place = np.repeat(np.arange(len(places)), np.diff(start))
    if options.noise:
        item = np.arange(len(values)) - start[place]
        drawn = noise(options.seed, stream, places, place, item, values.shape[1])
        values = values + drawn * np.float32(options.noise)
    return StreamRows(values, start, np.full(len(values), -1) if number is None else number)


def summed(rows: int, row: Ints, values: Floats) -> Floats:
    """[row, width] the sum of its values."""
    found = np.zeros((rows, values.shape[1]), np.float32)
    np.add.at(found, row, values)
    return found


def sides(corner: Ints, when: Ints) -> Floats:
    """[object, SIDES] of corners x1, y1, x2, y2 as shares of the picture."""
    area = np.prod(np.maximum(corner[:, 2:] - corner[:, :2], 0), axis=1)
    return np.concatenate([corner, when[:, None], area[:, None]], axis=1).astype(np.float32)
