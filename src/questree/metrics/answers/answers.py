"""One model's answers to AGQA questions, and the flags all its tables count: accuracy = right / asked."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.cells import Cell
from questree.metrics.tallies import Tallies, joined, tally
from questree.tables.scored import QuestionRecords

Bools = NDArray[np.bool_]
KINDS = ("binary", "open", "all")  # B, O, All of Tables 3-9


@dataclass(frozen=True)
class Answers:
    asked: QuestionRecords
    correct: Bools  # [question]
    counted: Bools  # [question] has a prediction, or its absence counts as wrong

    def of_kind(self, kind: str) -> Bools:
        binary = self.asked.table["binary"].to_numpy()
        return {"binary": binary, "open": ~binary, "all": np.ones(len(binary), bool)}[kind]


def answers(asked: QuestionRecords, predictions: pl.DataFrame, skip_missing: bool) -> Answers:
    said = asked.table.select("id", "answer").join(predictions, on="id", how="left", maintain_order="left")
    right = (said["prediction"] == said["answer"]).fill_null(False).to_numpy()
    there = said["prediction"].is_not_null().to_numpy()
    return Answers(asked, np.asarray(right), np.asarray(there) if skip_missing else np.ones(len(said), bool))


def count(model: Answers, what: str, groups: Mapping[str, Bools]) -> Tallies:
    """Columns (what, group, binary or open), a question counting in every group it is in."""
    parts = []
    for name, inside in groups.items():
        rows = inside & model.counted
        column = (~model.of_kind("binary")[rows]).astype(np.int64)
        names = [(what, name, kind) for kind in KINDS[:2]]
        parts.append(tally(model.asked.video[rows], column, model.correct[rows], len(model.asked.videos), names))
    return joined(parts)


def cells(tallies: Tallies, what: str, metric: str, by: str, groups: list[str]) -> list[Cell]:
    """By `by` over all questions, by `by, binary` and by `by, open`; a group nobody asked about is N/A."""
    at = [(number, column) for number, column in enumerate(tallies.columns) if column[0] == what]
    found = []
    for kind in ("all", "binary", "open"):
        for group in groups:
            part = tuple(n for n, column in at if column[1] == group and kind in (column[2], "all"))
            found.append(Cell(metric, by if kind == "all" else f"{by}, {kind}", group, (part,)))
    return found
