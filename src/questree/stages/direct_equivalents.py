"""The question of a video that asks directly what another asks by references (section 8 of the sheet)."""

from collections.abc import Iterable, Mapping

import numpy as np
import polars as pl

from questree.benchmarks.agqa.editions import Edition
from questree.benchmarks.agqa.held_out import INDIRECT as REFERRED
from questree.columns.joins import Ints
from questree.tables.questions import QUESTIONS

SAME = ("template", "relation", "x", "y")  # of questions that ask the same directly


def direct_equivalent(row: Mapping[str, int], columns: Mapping[str, Ints], edition: Edition) -> int | None:
    """Number of the first question that asks the same directly; `columns` are all questions of the video, by number."""
    timed = "{time}" in edition.by_code[row["template"]].local
    found = columns["flags"] & REFERRED == 0
    for name in (*SAME, *(("time",) if timed else ())):
        found &= columns[name] == row[name]
    at = np.flatnonzero(found)
    return int(columns["number"][at[0]]) if len(at) else None


DIRECT_COLUMNS = QUESTIONS.only("video", "number", *SAME, "time", "flags")
KEYED = ["video", *SAME, "key time"]  # template, direct arguments, raw key


def direct_questions(pieces: Iterable[pl.DataFrame], edition: Edition) -> pl.DataFrame:
    """KEYED and `equivalent`: the number of the first question of a video that asks this directly.

    `pieces` are together all questions of their videos (section 8), with DIRECT_COLUMNS.
    """
    first = pl.col("number").min().alias("equivalent")
    found = [keyed(some.filter(pl.col("flags") & REFERRED == 0), edition).group_by(KEYED).agg(first) for some in pieces]
    return found[0] if len(found) == 1 else pl.concat(found).group_by(KEYED).agg(pl.col("equivalent").min())


def keyed(table: pl.DataFrame, edition: Edition) -> pl.DataFrame:
    """With `key time`: a time makes another raw key where the template has one."""
    timed = pl.Series(["{time}" in template.local for template in edition.by_code]).gather(table["template"])
    return table.with_columns(pl.when(timed).then("time").otherwise(0).alias("key time"))


def direct_equivalents(asked: pl.DataFrame, direct: pl.DataFrame, edition: Edition) -> pl.Series:
    """[asked] number of the first question of its video that asks the same directly; null if there is none."""
    return keyed(asked, edition).join(direct, on=KEYED, how="left", maintain_order="left")["equivalent"]
