"""AGQA questions as scored: answer, categories and flags of every record."""

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
