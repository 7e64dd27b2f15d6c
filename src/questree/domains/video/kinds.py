"""The kinds of the video language, and the language itself."""

from typing import Annotated

import numpy as np

from questree.domains.logic import LOGIC
from questree.domains.video.bits import anywhere
from questree.program import Array, Kind, Language, kind

VIDEO = Language("video", LOGIC)

Frames = Annotated[Array, Kind("frames", askable=True, yes=anywhere)]  # [row, word] when does it hold?
Window = Annotated[Array, Kind("window")]  # [row, 2] the frames lo <= f < hi
Objects = Annotated[Array, Kind("objects")]  # [row] a set of objects, bit = position in the vocabulary
Order = Annotated[Array, Kind("order", askable=True, answers=("before", "after"))]  # [row]

FRAMES, WINDOW, OBJECTS, ORDER = kind(Frames), kind(Window), kind(Objects), kind(Order)


def window(lo: Array, hi: Array, possible: Array | bool = True) -> Window:
    """A window per row; empty where it is not possible."""
    there = possible & (hi > lo)
    return np.stack([np.where(there, lo, 0), np.where(there, hi, 0)], axis=1)
