"""COVR: accuracy by template, baselines that only look at answers of the training set, and the generalization score."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from questree.metrics.catalogue import with_metrics
from questree.metrics.cells import OVERALL, Cell, Column, Tallies, joined, tally
from questree.metrics.scores import Scored

METRIC, BY = "accuracy", "template"


def score_covr(
    questions: pl.DataFrame, predictions: pl.DataFrame, templates: Sequence[str], skip_missing: bool = False
) -> Scored:
    """Accuracy = right / asked, by template and over all questions.

    COVR, section 5 and Tables 6, 13. A question about several images belongs, when images are drawn, to its first one.

    questions: id, answer, image, template; templates: the rows of the table, others come after them.
    """
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


MAJ, MAJTEMPL = BASELINES = ("MAJ", "MAJTEMPL")


def majority(train: pl.DataFrame, questions: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """MAJ: the most common answer of the training set. MAJTEMPL: the most common one of the question's template there.

    COVR, section 6.1 and Table 6. Of equally common answers the first in the alphabet is said; a template that training
    does not have gets the answer of MAJ.

    Baseline -> id, prediction for every question; both tables have template and answer.
    """
    overall = _commonest(train.select(template=pl.lit(""), answer="answer"))
    most = overall["answer"].item() if len(overall) else ""
    ids = questions.select("id", "template")
    own = ids.join(_commonest(train), on="template", how="left", maintain_order="left")
    return {
        MAJ: ids.select("id", prediction=pl.lit(most)),
        MAJTEMPL: own.select("id", prediction=pl.col("answer").fill_null(most)),
    }


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
