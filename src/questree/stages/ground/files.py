"""The inputs of a grounding test as files: the boxes, and per question which of them are kept in each condition."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import polars as pl

from questree.stages.ground.boxes import BOXES, Boxes
from questree.stages.ground.grounding import GROUNDS, GroundOptions, ground
from questree.tables.growing import TableWriter
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier

Format = Literal["jsonl", "parquet"]
VIEW = ["place", "frame"]
FILES = {form: {f"questions.{form}", f"boxes.{form}"} for form in ("jsonl", "parquet")}


@dataclass
class GroundCounts:
    questions: int = 0
    boxes: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    relevant: int = 0  # boxes, over all questions
    irrelevant: int = 0

    def see(self, table: pl.DataFrame) -> None:
        self.questions += len(table)
        self.left_out.update(text for text in table["left_out"].to_list() if text)
        self.relevant += int(table["relevant"].list.len().sum())
        self.irrelevant += int(table["irrelevant"].list.len().sum())


def write(
    run: Run, options: GroundOptions, attribute_groups: Mapping[str, str], out: Path, format: Format
) -> GroundCounts:
    """Write OUT/questions and OUT/boxes; an earlier grounding that is there is replaced."""
    earlier = next((own for own in FILES.values() if any((out / name).exists() for name in own)), set())
    only_earlier(out, earlier.__contains__, earlier, "grounding")
    made, found = GroundCounts(), ground(run, options, attribute_groups)
    with new_folder(out) as folder:
        if format == "parquet":
            _parquet(found, folder, made)
        else:
            _jsonl(found, folder, made)
    return made


def _parquet(found: Iterator[tuple[pl.DataFrame, Boxes]], folder: Path, made: GroundCounts) -> None:
    with (
        TableWriter(folder / "questions.parquet", GROUNDS) as rows,
        TableWriter(folder / "boxes.parquet", BOXES) as boxes,
    ):
        for table, _, new in _counted(found, made):
            rows.write(table)
            boxes.write(new)


def _jsonl(found: Iterator[tuple[pl.DataFrame, Boxes]], folder: Path, made: GroundCounts) -> None:
    with (folder / "questions.jsonl").open("wb") as rows, (folder / "boxes.jsonl").open("wb") as boxes:
        for table, known, new in _counted(found, made):
            by_view(table, known.table).write_ndjson(rows)
            new.write_ndjson(boxes)


def _counted(
    found: Iterator[tuple[pl.DataFrame, Boxes]], made: GroundCounts
) -> Iterator[tuple[pl.DataFrame, Boxes, pl.DataFrame]]:
    """With the boxes of places that were not asked about before."""
    written: set[str] = set()
    for table, boxes in found:
        new = set(table["place"].explode().to_list()) - written
        few = boxes.table.filter(pl.col("place").is_in(list(new)))
        written |= new
        made.see(table)
        made.boxes += len(few)
        yield table, boxes, few


def by_view(table: pl.DataFrame, boxes: pl.DataFrame) -> pl.DataFrame:
    """Per question a list of views, frames or images, each with the boxes that are kept there."""
    views = pl.concat([_frames(table, "relevant", True), _frames(table, "irrelevant", False)])
    if views.is_empty():
        views = table.select("id", frame=pl.lit(None, pl.UInt32), place="place", rests=pl.lit(None, pl.Boolean))
        views = views.explode("place")
    for name in ("relevant", "irrelevant"):
        kept = table.select("id", box=name).explode("box").drop_nulls().join(boxes.select("box", *VIEW), on="box")
        kept = kept.group_by("id", *VIEW).agg(pl.col("box").sort().alias(name))
        views = views.join(kept, on=["id", *VIEW], how="left", nulls_equal=True, maintain_order="left")
    views = views.with_columns(pl.col("relevant", "irrelevant").fill_null([])).sort("frame", maintain_order=True)
    fields = (
        [*VIEW, "rests", "relevant", "irrelevant"]
        if views["frame"].is_not_null().any()
        else ["place", "relevant", "irrelevant"]
    )
    grouped = views.group_by("id").agg(pl.struct(fields).alias("views"))
    return table.select("id", "answer", "left_out").join(grouped, on="id", how="left", maintain_order="left")


def _frames(table: pl.DataFrame, name: str, rests: bool) -> pl.DataFrame:
    """id, frame, place, rests: whether the answer rests on the frame."""
    rows = table.select("id", frame=f"{name}_frames", place=pl.col("place").list.first()).explode("frame")
    return rows.drop_nulls("frame").with_columns(rests=pl.lit(rests))
