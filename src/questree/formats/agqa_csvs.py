"""CSV files of the kind the published baselines read: question and answer only, numbered through."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

HEADER = ",key,question,answer,vid_id,gif_name,description\n"
VALID_FROM = 0.9  # of the training questions; a video is never in both parts
KINDS = {"": "", "compo": "novel_comp", "steps_templ": "more_steps"}  # "" = every question of the set
FILES = {"train": ("Train", "Valid"), "test": ("Test",)}


def file_name(part: str, kind: str, name: str) -> str:
    """name: "balanced" or "unbalanced"."""
    return f"{part}_frameqa_question-{kind or name}.csv"


def file_names(name: str) -> list[str]:
    return [file_name(part, kind, name) for kind in KINDS for parts in FILES.values() for part in parts]


def wanted(kind: str, split: str) -> pl.Expr:
    """Is a record in this CSV? Held-out compositions and longer questions are tested, not trained on."""
    here = pl.col("split") == split
    return here & (pl.col(KINDS[kind]) == int(split == "test")) if KINDS[kind] else here


@dataclass(frozen=True)
class Numbering:
    """Where the rows of a piece are in the files of a kind and split."""

    first: int  # number of its first row
    valid: int  # rows from this number on are in the validation file


def runs(records: pl.DataFrame) -> pl.DataFrame:
    """split, video, novel_comp, more_steps of questions in order -> split, video and the rows per kind of CSV, for
    every run of questions of one video."""
    counts = (pl.any_horizontal(wanted(kind, split) for split in FILES).sum().alias(kind) for kind in KINDS)
    grouped = records.group_by(records["video"].rle_id().alias("run"), maintain_order=True)
    return grouped.agg(pl.col("split").first(), pl.col("video").first(), *counts)


def numberings(pieces: list[pl.DataFrame]) -> list[dict[tuple[str, str], Numbering]]:
    """Per piece (given as `runs`) and (kind, split)."""
    found: list[dict[tuple[str, str], Numbering]] = [{} for _ in pieces]
    for split, files in FILES.items():
        own = [piece.filter(split=split) for piece in pieces]
        for kind in KINDS:
            sizes = np.array([piece[kind].sum() for piece in own], np.int64)
            whole = pl.concat([piece.select("video", kind) for piece in own])
            valid = boundary(whole["video"], whole[kind].to_numpy()) if len(files) > 1 else int(sizes.sum())
            for places, first in zip(found, np.cumsum(sizes) - sizes, strict=True):
                places[kind, split] = Numbering(int(first), valid)
    return found


def boundary(video: pl.Series, count: NDArray[Any]) -> int:
    """The first row at or after VALID_FROM of all rows at which another video begins; [run] each."""
    there = count > 0
    begin = np.cumsum(count[there]) - count[there]
    video = video.filter(pl.Series(there))
    new = (video != video.shift(1)).fill_null(False).to_numpy()
    later = begin[new & (begin >= int(VALID_FROM * count.sum()))]
    return int(later[0] if len(later) else count.sum())


def append(records: pl.DataFrame, folder: Path, name: str, places: dict[tuple[str, str], Numbering]) -> None:
    """Add the records to the files of a folder (without headers); `places` are moved on."""
    for (kind, split), place in list(places.items()):
        rows = records.filter(wanted(kind, split) & pl.col("question").is_not_null())
        number = np.arange(place.first, place.first + len(rows))
        table = rows.select(
            pl.Series("number", number),
            key="id",
            question="question",
            answer="answer",
            vid_id="video_id",
            gif_name="video_id",
            description=pl.lit("none"),
        )
        for part, few in zip(FILES[split], (number < place.valid, number >= place.valid), strict=False):
            if few.any():
                with (folder / file_name(part, kind, name)).open("ab") as file:
                    table.filter(few).write_csv(file, include_header=False)
        places[kind, split] = Numbering(place.first + len(rows), place.valid)
