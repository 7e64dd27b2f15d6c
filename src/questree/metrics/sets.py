"""COVR: accuracy by template, baselines that only look at answers of the training set, and the generalization score."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from questree.columns.hashing import seed_of
from questree.metrics.catalogue import METRICS, Metric, placed, scored
from questree.metrics.cells import OVERALL, Cell, Tallies, joined, tally
from questree.metrics.scores import Scored


def score_covr(
    questions: pl.DataFrame, predictions: pl.DataFrame, templates: Sequence[str], skip_missing: bool = False
) -> Scored:
    """Accuracy = right / asked, by template and over all questions.

    COVR, section 5 and Tables 6, 13. A question about several images belongs, when images are drawn, to its first one.

    questions: id, answer, image, template; templates: the rows of the table, others come after them.
    """
    asked, images = placed(questions)
    rows = answered_by(asked, predictions, skip_missing)
    there = {*questions["template"]}
    listed = (*(name for name in templates if name in there), *sorted(there - {*templates}))
    accuracy = Metric("accuracy", "right / asked", pl.col("correct"), "template", listed=listed)
    return scored(rows, images, [accuracy, *METRICS.values()])


def answered_by(questions: pl.DataFrame, predictions: pl.DataFrame, skip_missing: bool) -> pl.DataFrame:
    """The questions with `prediction` and `correct`; those without a prediction are wrong, or left out."""
    rows = questions.join(predictions.select("id", "prediction"), on="id", how="left", maintain_order="left")
    rows = rows.drop_nulls("prediction") if skip_missing else rows
    return rows.with_columns(correct=(pl.col("prediction") == pl.col("answer")).fill_null(False))


MAJ, MAJTEMPL = BASELINES = ("MAJ", "MAJTEMPL")


def majority(train: pl.DataFrame, questions: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """MAJ: the most common answer of the training set. MAJTEMPL: the most common one of the question's template there,
    and of a question that names two options one of these, each with probability 1/2.

    COVR, section 5 and Table 6. Of equally common answers the first in the alphabet is said; a template that training
    does not have gets the answer of MAJ. The option is drawn by a hash of the question's id.

    Baseline -> id, prediction for every question; both tables have template and answer, the questions also options.
    """
    overall = _commonest(train.select(template=pl.lit(""), answer="answer"))
    most = overall["answer"].item() if len(overall) else ""
    ids = questions.select("id", "template", "options")
    own = ids.join(_commonest(train), on="template", how="left", maintain_order="left")
    drawn = pl.Series("drawn", [_one(*row) for row in ids.select("id", "options").rows()], pl.String)
    return {
        MAJ: ids.select("id", prediction=pl.lit(most)),
        MAJTEMPL: own.select("id", prediction=pl.coalesce(drawn, "answer", pl.lit(most))),
    }


def _one(id: str, options: list[str] | None) -> str | None:
    return options[int(seed_of(0, f"option {id}")) % len(options)] if options else None


def _commonest(answers: pl.DataFrame) -> pl.DataFrame:
    """template, answer: the most common answer of each."""
    counted = answers.group_by("template", "answer").len().sort(["len", "answer"], descending=[True, False])
    return counted.group_by("template", maintain_order=True).first().select("template", "answer")


ROLES = ("text", "model", "iid-size", "iid")
NAME = "generalization score"
Said = Mapping[str, Mapping[str, pl.DataFrame]]  # split -> role -> id, prediction


def score_generalization(
    questions: pl.DataFrame, held_out: Mapping[str, list[str] | None], said: Said, skip_missing: bool = False
) -> tuple[Scored, dict[str, Scored]]:
    """Generalization score = (model - text-only) / (iid-size - text-only): the part of the gap a split's model closes.

    COVR, section 6 and Tables 7, 8. All four accuracies are over the split's held-out questions; iid-size saw as many
    examples as the split's model, drawn from everything. Not clipped: a model below text-only is negative. Without a
    gap it is N/A.

    The score of every split (Overall: their mean), and per role the accuracies behind it (Overall: pooled).
    """
    asked, images = placed(questions)

    def count(split: str, role: str) -> Tallies:
        ids = held_out[split]
        own = asked if ids is None else asked.filter(pl.col("id").is_in(ids))
        rows, names = answered_by(own, said[split][role], skip_missing), [("accuracy", split, role)]
        scope, right = rows["scope"].to_numpy().astype(np.int64), rows["correct"].to_numpy()
        return tally(scope, np.zeros(len(rows), np.int64), right, images, names)

    tallies = joined([count(split, role) for split, roles in said.items() for role in roles])
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
