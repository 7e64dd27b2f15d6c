"""A bot: right about what can be answered yes or no, silent or wrong about the rest."""

import polars as pl

from questree.plugins import bot


@bot("half-blind", says="right about yes and no; names a chair, or nothing, when it must name something")
def half_blind(table: pl.DataFrame) -> pl.Series:
    """`answer` is the truth, `random` a number from 0 to 1 that depends on seed and question; null is silence."""
    decided = pl.col("answer").is_in(["yes", "no"])
    guessed = pl.when(pl.col("random") < 0.5).then(pl.lit("chair"))
    return table.select(pl.when(decided).then("answer").otherwise(guessed)).to_series()
