"""What scores are computed from: AGQA questions with their flags; questions about images with their boxes."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.table import Table

FLAGS = ("novel_comp", "more_steps", "nc_seq", "nc_sup", "nc_dur", "nc_objrel", "i_obj", "i_rel", "i_act", "i_temp")
ASKED = Table(
    "asked",
    {
        "id": pl.String,
        "video": pl.String,
        "answer": pl.String,
        "reasoning": pl.List(pl.String),  # `global` of the released records
        "semantic": pl.String,
        "structural": pl.String,
        "binary": pl.Boolean,
        "steps": pl.Int32,
        "direct": pl.String,  # id of the question with direct references only, null if there is none
        **dict.fromkeys(FLAGS, pl.Boolean),
    },
    optional=frozenset({"direct"}),
)


@dataclass(frozen=True)
class QuestionRecords:
    table: pl.DataFrame
    videos: list[str]
    video: NDArray[np.int64]  # [question] position in `videos`


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
