"""The grounding of a run as FPVG needs it: its questions, and the relevant and irrelevant boxes of each."""

from collections.abc import Mapping
from itertools import accumulate

import polars as pl

from questree.stages.ground.grounding import GroundOptions, ground
from questree.tables.run import Run
from questree.tables.scored import GROUNDED, Grounded, Relevance


def relevant(run: Run, options: GroundOptions, attribute_groups: Mapping[str, str]) -> tuple[Grounded, list[Relevance]]:
    """Boxes as positions among those of a question's video or images; it belongs to the first of its images."""
    tables, found = [GROUNDED.empty()], list[Relevance]()
    for table, boxes in ground(run, options, attribute_groups):
        tables.append(table.select("id", pl.col("place").list.first().alias("image"), "answer", "structural"))
        sizes = boxes.table.group_by("place", maintain_order=True).agg(first=pl.col("box").min(), size=pl.len())
        known = {place: (first, size) for place, first, size in sizes.rows()}
        for places, own, other, left in table.select("place", "relevant", "irrelevant", "left_out").iter_rows():
            at = positions([known.get(place, (0, 0)) for place in places])
            found.append(Relevance(tuple(at[box] for box in own), tuple(at[box] for box in other), left))
    return Grounded(pl.concat(tables), [], {}), found


def positions(places: list[tuple[int, int]]) -> dict[int, int]:
    """box -> its position; places: (number of the first box, how many), one after the other."""
    before = accumulate((size for _, size in places), initial=0)
    return {
        first + step: shift + step for (first, size), shift in zip(places, before, strict=False) for step in range(size)
    }
