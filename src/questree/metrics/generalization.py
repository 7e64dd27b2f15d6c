"""Generalization score = (model - text-only) / (iid-size - text-only): the part of the gap a split's model closes.

COVR, section 6 and Tables 7, 8. All four accuracies are over the split's held-out questions; iid-size saw as many
examples as the split's model, drawn from everything. Not clipped: a model below text-only is negative. Without a gap
it is N/A.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from questree.metrics.cells import Cell
from questree.metrics.scores import Scored
from questree.metrics.tallies import Column, Tallies, joined, tally

ROLES = ("text", "model", "iid-size", "iid")
NAME, OVERALL = "generalization score", "Overall"
Said = Mapping[str, Mapping[str, pl.DataFrame]]  # split -> role -> id, prediction


def score_generalization(
    questions: pl.DataFrame, held_out: Mapping[str, list[str] | None], said: Said, skip_missing: bool = False
) -> tuple[Scored, dict[str, Scored]]:
    """The score of every split (Overall: their mean), and per role the accuracies behind it (Overall: pooled)."""
    images = questions["image"].unique(maintain_order=True)
    place = pl.DataFrame({"image": images, "place": range(len(images))})
    rows = questions.join(place, on="image", how="left", maintain_order="left")
    parts = [
        _count(rows, held_out[split], split, role, answers, len(images), skip_missing)
        for split, roles in said.items()
        for role, answers in roles.items()
    ]
    tallies = joined(parts)
    at = {column: number for number, column in enumerate(tallies.columns)}

    def part(split: str, role: str) -> tuple[int, ...]:
        return tuple(at[name] for name in [("accuracy", split, role)] if name in at)

    scores = [
        Cell(NAME, "split", split, tuple(part(split, role) for role in ("model", "text", "iid-size")), "score", False)
        for split in said
    ]
    every = tuple(one for cell in scores for one in cell.parts)
    scores.append(Cell(NAME, "split", OVERALL, every, "mean score", False))
    accuracies = {
        role: Scored(
            tallies,
            [
                *(Cell("accuracy", "split", split, (part(split, role),)) for split in said),
                Cell("accuracy", "split", OVERALL, (tuple(n for split in said for n in part(split, role)),)),
            ],
        )
        for role in ROLES
    }
    return Scored(tallies, scores), accuracies


def _count(
    questions: pl.DataFrame,
    held_out: list[str] | None,
    split: str,
    role: str,
    answers: pl.DataFrame,
    images: int,
    skip_missing: bool,
) -> Tallies:
    asked = questions if held_out is None else questions.filter(pl.col("id").is_in(held_out))
    rows = asked.join(answers.select("id", "prediction"), on="id", how="left", maintain_order="left")
    rows = rows.drop_nulls("prediction") if skip_missing else rows
    right = np.asarray((rows["prediction"] == rows["answer"]).fill_null(False).to_numpy(), bool)
    names: list[Column] = [("accuracy", split, role)]
    return tally(rows["place"].to_numpy().astype(np.int64), np.zeros(len(rows), np.int64), right, images, names)
