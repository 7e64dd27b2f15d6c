"""What questions are about, among boxes of a detector: those that overlap what programs rest on."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from questree.columns.joins import Ints, listed, ranges, starts
from questree.metrics.relevance import Irrelevant, relevance
from questree.stages.ground.boxes import SIDES, VIEW, Boxes
from questree.stages.ground.grounding import GroundOptions, ground
from questree.tables.run import Run
from questree.tables.scored import GROUNDED, REASONS, RELEVANCE, Annotated, Detections

NO_DETECTIONS, NOTHING_RELEVANT, NOTHING_IRRELEVANT = (
    REASONS.index(text) for text in ("no detections", "nothing relevant", "nothing irrelevant")
)


def relevant_detections(
    run: Run, options: GroundOptions, attribute_groups: Mapping[str, str], found: Detections, irrelevant: Irrelevant
) -> pl.DataFrame:
    """RELEVANCE of every question: detections as positions among those of its images or frames, one after the other."""
    parts = [RELEVANCE.empty()]
    for table, boxes in ground(run, options, attribute_groups):
        parts.append(among_detections(table, boxes, found, irrelevant))
    return pl.concat(parts)


def among_detections(table: pl.DataFrame, boxes: Boxes, found: Detections, irrelevant: Irrelevant) -> pl.DataFrame:
    """table: of GROUNDS. Every view of a question is judged alone; one without anything relevant is irrelevant."""
    views = _views(table)
    question = views["question"].to_numpy().astype(np.int64)
    asked = _annotated(table, boxes, views)
    judged = relevance(asked, found, irrelevant)
    known = pl.DataFrame({"view": pl.Series(found.images, dtype=pl.String)}).with_row_index("at")
    at = views.join(known, on="view", how="left", maintain_order="left")["at"].cast(pl.Int64).fill_null(-1).to_numpy()
    size = np.append(np.diff(found.start), 0)[at]  # [view] rows of detections
    before = np.cumsum(size) - size
    shift = before - before[np.searchsorted(question, question)]  # [view] those of the views before it
    near = _positions(judged["relevant"], shift)
    far = _positions(judged["irrelevant"], shift)
    bare = np.flatnonzero(np.diff(asked.start) == 0)
    view, own = ranges(np.zeros(len(bare), np.int64), np.append(found.objects, 0)[at[bare]])
    far = np.append(far[0], bare[view]), np.append(far[1], own + shift[bare[view]])
    return _joined(len(table), question, (near, far), np.bincount(question, size, len(table)), at)


def _views(table: pl.DataFrame) -> pl.DataFrame:
    """question, view: the images of every question, or the annotated frames of its video."""
    frames = pl.concat_list("relevant_frames", "irrelevant_frames").list.sort()
    places = table.select("place", frame=frames).with_row_index("question").explode("place")
    return places.explode("frame", empty_as_null=True).select("question", VIEW)


def _annotated(table: pl.DataFrame, boxes: Boxes, views: pl.DataFrame) -> Annotated:
    """Views of questions as questions of their own, with the relevant annotated boxes of each."""
    first = int(boxes.table["box"][0]) if len(boxes.table) else 0
    about = table.select(box="relevant").with_row_index("question").explode("box").drop_nulls("box")
    shown = boxes.table.select(VIEW).to_series().gather(about["box"].cast(pl.Int64) - first)
    asked = views.with_row_index("row")
    own = about.with_columns(view=shown).join(asked, on=["question", "view"], how="inner").sort("row", "box")
    questions = GROUNDED.frame(
        views.select(id=pl.int_range(pl.len()).cast(pl.String), image="view", answer=pl.lit(""), structural=pl.lit(""))
    )
    start = starts(own["row"].to_numpy(), len(views))
    corners = boxes.table.select(SIDES).to_numpy().astype(np.float64)
    return Annotated(questions, corners, own["box"].to_numpy().astype(np.int64) - first, start)


def _positions(lists: pl.Series, shift: Ints) -> tuple[Ints, Ints]:
    """(view, position among all detections of its question) of every entry."""
    view = np.repeat(np.arange(len(lists)), lists.list.len().to_numpy())
    return view, lists.explode(empty_as_null=False).to_numpy().astype(np.int64) + shift[view]


def _joined(
    count: int, question: Ints, sides: tuple[tuple[Ints, Ints], tuple[Ints, Ints]], boxes: Ints, at: Ints
) -> pl.DataFrame:
    """Views of a question together; [question] why it is left out."""
    columns, some = [], []
    for view, position in sides:
        own = question[view]
        order = np.lexsort((position, own))
        columns.append(listed(position[order].astype(np.uint32), starts(own[order], count)))
        some.append(np.bincount(own, minlength=count) > 0)
    seen = np.bincount(question[at >= 0], minlength=count) > 0
    why = [~seen, ~some[0], ~some[1]]
    code = np.select(why, [NO_DETECTIONS, NOTHING_RELEVANT, NOTHING_IRRELEVANT], 0)
    left = pl.Series(REASONS).gather(code)
    return RELEVANCE.frame({"relevant": columns[0], "irrelevant": columns[1], "boxes": boxes, "left_out": left})
