"""The direct twin of an indirect question: the same arguments and key, with nothing referred to (section 8)."""

import numpy as np
import polars as pl

from questree.benchmarks.agqa.held_out import INDIRECT
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.tables.table import Table

TWINS = Table("twins", {"video": pl.UInt32, "number": pl.UInt32, "twin": pl.UInt32})  # twin: number in the same video
TIMED = np.array(["{time}" in template.local for template in TEMPLATES])  # a time phrase makes another raw key
SAME = ["video", "template", "relation", "x", "y", "key time"]


def twins(questions: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """For every indirect question of `asked` its twin, if it has one; `questions` are all questions of their videos."""

    def keyed(table: pl.DataFrame) -> pl.DataFrame:
        timed = pl.Series(TIMED).gather(table["template"])
        return table.with_columns(pl.when(timed).then("time").otherwise(0).alias("key time"))

    direct = keyed(questions.filter(pl.col("flags") & INDIRECT == 0)).group_by(SAME).agg(twin=pl.col("number").min())
    indirect = keyed(asked.filter(pl.col("flags") & INDIRECT > 0))
    return TWINS.frame(indirect.join(direct, on=SAME).sort("video", "number"))
