"""Most-Likely: the share of questions that have the most common answer; 50 % where every question is binary.

AGQA, section 4 "Models" and supplement 6.1: a binary question offers two answers, after balancing equally common; a
category with open questions has one most common answer over all its questions.
"""

import numpy as np
import polars as pl

from questree.metrics.answers.answers import KINDS, Answers, Bools
from questree.metrics.scores import Score

MODEL = "Most-Likely"


def most_likely(model: Answers, tables: dict[str, dict[str, Bools]]) -> list[Score]:
    """Rows like those of a model, for every table, row and kind of question; needs no predictions."""
    rows = []
    for by, groups in tables.items():
        for kind in ("all", *KINDS[:2]):
            for group, inside in groups.items():
                here = inside & model.of_kind(kind)
                name = by if kind == "all" else f"{by}, {kind}"
                rows.append(Score("accuracy", name, group, _share(model, here), int(here.sum()), None, None, MODEL))
    return rows


def _share(model: Answers, here: Bools) -> float | None:
    if not here.any():
        return None
    table = model.asked.table
    if np.asarray(table["binary"].to_numpy())[here].all():
        return 0.5
    answers = table["answer"].filter(pl.Series(here))
    return int(answers.value_counts()["count"].max()) / len(answers)  # type: ignore[arg-type]
