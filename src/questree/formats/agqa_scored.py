"""Reads AGQA's question files, {question id: record}, as far as scoring needs them."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.formats.json_records import JsonPiece, decoded
from questree.tables.scored import ASKED, FLAGS, QuestionRecords
from questree.tables.store import content


class AgqaRecord(msgspec.Struct, gc=False):
    """expected {question id: AGQA record}"""

    answer: str
    video_id: str
    ans_type: str
    reasoning: list[str] = msgspec.field(name="global", default_factory=list)
    semantic: str = ""
    structural: str = ""
    steps: int = 0
    direct_equiv: str | None = None
    novel_comp: int | bool = 0
    more_steps: int | bool = 0
    nc_seq: int | bool = 0
    nc_sup: int | bool = 0
    nc_dur: int | bool = 0
    nc_objrel: int | bool = 0
    i_obj: int | bool = 0
    i_rel: int | bool = 0
    i_act: int | bool = 0
    i_temp: int | bool = 0


def read_questions(path: Path) -> QuestionRecords:
    """Flags a record does not have (train files lack most) are not set."""
    records = decoded(path, JsonPiece(content(path), 0), AgqaRecord)
    rows = list(records.values())
    columns: dict[str, list[Any]] = {
        "id": list(records),
        "video": [row.video_id for row in rows],
        "answer": [row.answer for row in rows],
        "reasoning": [row.reasoning for row in rows],
        "semantic": [row.semantic for row in rows],
        "structural": [row.structural for row in rows],
        "binary": [row.ans_type != "open" for row in rows],
        "steps": [row.steps for row in rows],
        "direct": [row.direct_equiv for row in rows],
        **{flag: [bool(getattr(row, flag)) for row in rows] for flag in FLAGS},
    }
    table = pl.DataFrame(columns, schema=dict(ASKED.columns))
    videos = table["video"].unique(maintain_order=True).to_list()
    place = {video: at for at, video in enumerate(videos)}
    return QuestionRecords(table, videos, np.array([place[video] for video in columns["video"]], np.int64))
