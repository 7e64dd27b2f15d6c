"""What grounding is judged from: questions with the boxes of the objects they are about, and detections per image."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.table import Table

Boxes = NDArray[np.float64]  # [box, x1 y1 x2 y2]
REASONS = ("no annotation", "no detections", "nothing relevant", "nothing irrelevant")
Reason = Literal["", "no annotation", "no detections", "nothing relevant", "nothing irrelevant"]

GROUNDED = Table("grounded", {"id": pl.String, "image": pl.String, "answer": pl.String, "structural": pl.String})


@dataclass(frozen=True)
class Detected:
    boxes: Boxes
    objects: int  # the first so many rows are objects, the rest padding


@dataclass(frozen=True)
class Grounded:
    """Questions about images; `annotated` holds the boxes each is about, row by row."""

    questions: pl.DataFrame
    annotated: list[Boxes]
    detections: dict[str, Detected]


@dataclass(frozen=True)
class Relevance:
    """Of one question: detections it needs and detections that say nothing about it, as positions."""

    relevant: tuple[int, ...] = ()
    irrelevant: tuple[int, ...] = ()
    left_out: Reason = ""  # why the question is not evaluated
