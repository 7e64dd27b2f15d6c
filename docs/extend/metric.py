"""A metric: does a model answer yes more often than it should? One table by question type, with intervals."""

import polars as pl

from questree.plugins import metric


@metric(
    "yes bias",
    formula="share of yes among predictions - share of yes among answers",
    by="type",
    how="difference",
)
def yes_bias(table: pl.DataFrame) -> list[pl.Series]:
    """Two parts, put together by `how`: second minus first. Null means that a question does not count."""
    yes_or_no = table["answer"].is_in(["yes", "no"])
    return [
        pl.select(pl.when(yes_or_no).then(table[column] == "yes")).to_series() for column in ("answer", "prediction")
    ]
