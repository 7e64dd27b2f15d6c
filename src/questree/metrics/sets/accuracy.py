"""Accuracy = right / asked, by template and over all questions.

COVR, section 5 and Tables 6, 13. A question about several images belongs, when images are drawn, to its first one.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from questree.metrics.catalogue import with_metrics
from questree.metrics.cells import Cell
from questree.metrics.scores import Scored
from questree.metrics.tallies import Column, tally

METRIC, BY, OVERALL = "accuracy", "template", "Overall"


def score_covr(
    questions: pl.DataFrame, predictions: pl.DataFrame, templates: Sequence[str], skip_missing: bool = False
) -> Scored:
    """questions: id, answer, image, template; templates: the rows of the table, others come after them."""
    images = questions["image"].unique(maintain_order=True)
    place = pl.DataFrame({"image": images, "place": np.arange(len(images))})
    rows = questions.join(place, on="image", how="left", maintain_order="left")
    rows = rows.join(predictions.select("id", "prediction"), on="id", how="left", maintain_order="left")
    rows = rows.drop_nulls("prediction") if skip_missing else rows
    groups = [*templates, *sorted(set(questions["template"].to_list()) - {*templates})]
    number = {name: at for at, name in enumerate(groups)}
    column = np.array([number[name] for name in rows["template"].to_list()], np.int64)
    right = np.asarray((rows["prediction"] == rows["answer"]).fill_null(False).to_numpy(), bool)
    names: list[Column] = [(name,) for name in groups]
    tallies = tally(rows["place"].to_numpy().astype(np.int64), column, right, len(images), names)
    at = {column[0]: number for number, column in enumerate(tallies.columns)}
    asked = [name for name in groups if name in set(questions["template"].to_list())]
    cells = [Cell(METRIC, BY, name, (tuple(at[name] for name in [name] if name in at),)) for name in asked]
    scored = Scored(tallies, [*cells, Cell(METRIC, BY, OVERALL, (tuple(range(len(tallies.columns))),))])
    return with_metrics(scored, lambda: rows.with_columns(scope="place", correct=right).drop("place"))
