"""The kinds of the video language, and the language itself."""

from typing import Annotated, Any

import numpy as np

from questree.columns.sets import Sets
from questree.domains.logic import both, but_not
from questree.domains.video.facts import anywhere
from questree.terms import Array, Kind, Language, kind

VIDEO = Language("video", both, but_not)


def itself(world: Any, value: Array) -> Array:
    """Frames are evidence themselves."""
    return value


def frames_in(world: Any, value: Array) -> Array:
    return np.asarray(world.span(value))


Frames = Annotated[Array, Kind("frames", askable=True, yes=anywhere, evidence=itself)]  # [row, word] when does it hold?
# [row, 4] the frames lo <= f < hi, and the moments it lies between, by which actions are judged
Window = Annotated[Array, Kind("window", evidence=frames_in, opens=True)]
Objects = Annotated[Sets, Kind("objects")]  # [row] a set of objects
Order = Annotated[Array, Kind("order", askable=True, answers=("before", "after"))]  # [row]

FRAMES, WINDOW, OBJECTS, ORDER = kind(Frames), kind(Window), kind(Objects), kind(Order)


def window(lo: Array, hi: Array, since: Array | int, until: Array | int, possible: Array | bool = True) -> Window:
    """A window per row; empty where it is not possible."""
    there = possible & (hi > lo)
    bounds = np.broadcast_arrays(lo, hi, since, until)
    return np.stack([np.where(there, bound, 0) for bound in bounds], axis=1)
