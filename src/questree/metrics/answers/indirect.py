"""Recall = accuracy on questions with an indirect reference; precision = the same where the direct question was right.

AGQA, section 3.4 and Tables 5 and 7. A question whose direct equivalent is not in the file, or was not answered right,
counts for recall only.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answers.answers import Answers

REFERENCES = {"Object": "i_obj", "Relationship": "i_rel", "Action": "i_act", "Temporal": "i_temp"}
Bools = NDArray[np.bool_]


def references(model: Answers) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """Row -> [question] for recall; row -> [question] for precision; Overall is any kind of reference."""
    table = model.asked.table
    recall = {row: np.asarray(table[flag].to_numpy()) for row, flag in REFERENCES.items()}
    recall["Overall"] = np.logical_or.reduce(list(recall.values()))
    known = pl.DataFrame({"direct": table["id"], "right": model.correct & model.counted})
    right = table.select("direct").join(known, on="direct", how="left", maintain_order="left")["right"]
    direct = np.asarray(right.fill_null(False).to_numpy(), bool)
    return recall, {row: inside & direct for row, inside in recall.items()}
