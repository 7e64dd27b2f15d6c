"""What scores are computed from: AGQA questions with their flags; questions about images with their boxes."""

from collections.abc import Callable
from dataclasses import dataclass

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
    texts: Callable[[], pl.DataFrame] | None = None  # id, question: of these and perhaps others, read when called


Boxes = NDArray[np.float64]  # [box, x1 y1 x2 y2]
Ints = NDArray[np.int64]
REASONS = ("", "no annotation", "no detections", "nothing relevant", "nothing irrelevant")
GROUNDED = Table("grounded", {"id": pl.String, "image": pl.String, "answer": pl.String, "structural": pl.String})
# per question: the boxes it needs and those that say nothing about it, as positions among its boxes; how many these are
RELEVANCE = Table(
    "relevance",
    {
        "relevant": pl.List(pl.UInt32),
        "irrelevant": pl.List(pl.UInt32),
        "boxes": pl.UInt32,
        "left_out": pl.String,  # why the question is not evaluated, one of REASONS
    },
)


@dataclass(frozen=True)
class Annotated:
    """Questions about images, and the boxes of the objects each is about."""

    questions: pl.DataFrame  # of GROUNDED
    boxes: Boxes
    about: Ints  # boxes, question by question
    start: Ints  # [question + 1] where its own begin


@dataclass(frozen=True)
class Detections:
    """What a detector found, image by image."""

    images: list[str]
    boxes: Boxes  # in whole pixels
    start: Ints  # [image + 1] where its own begin
    objects: Ints  # [image] the first so many are objects, the rest padding
