"""COVR: accuracy by template, baselines that only look at answers of the training set, and the generalization score."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.hashing import seed_of
from questree.metrics.catalogue import METRICS, REST, Metric, cells, counted, placed
from questree.metrics.cells import OVERALL, Cell, Tallies, joined, tally
from questree.metrics.scores import Scored


def score_covr(
    questions: pl.DataFrame, predictions: pl.DataFrame, templates: Sequence[str], skip_missing: bool = False
) -> Scored:
    """Accuracy = right / asked, by template and over all questions.

    COVR, section 5 and Tables 6, 13. A question about several images belongs, when images are drawn, to its first one.

    questions: id, answer, image, template, perhaps images (how many, for accuracy by their number); templates: the rows
    of the table, others come after them.
    """
    tallies = covr_tallies(questions, predictions, skip_missing)
    return Scored(tallies, covr_cells(tallies, templates))


def covr_tallies(questions: pl.DataFrame, predictions: pl.DataFrame, skip_missing: bool = False) -> Tallies:
    """What every COVR score of one model is computed from."""
    asked, images = placed(questions)
    return counted(answered_by(asked, predictions, skip_missing), images, covr_metrics({*questions["template"]}))


def covr_cells(tallies: Tallies, templates: Sequence[str]) -> list[Cell]:
    """Every COVR score over the columns that were counted."""
    there = {str(group) for name, label, group, _ in tallies.columns if (name, label) == ("accuracy", "template")}
    return cells(tallies.columns, covr_metrics(there, templates))


def covr_metrics(there: Collection[str], templates: Sequence[str] = ()) -> list[Metric]:
    """Of questions of these templates, those of the table first; questions without one are in no row but Overall."""
    listed = (*(name for name in templates if name in there), *sorted({*there} - {*templates, REST}))
    accuracy = Metric("accuracy", "right / asked", pl.col("correct"), "template", listed=listed)
    by_size = Metric("accuracy", "right / asked", pl.col("correct"), "images", overall=False)
    return [accuracy, by_size, *METRICS.values()]


def answered_by(questions: pl.DataFrame, predictions: pl.DataFrame, skip_missing: bool) -> pl.DataFrame:
    """The questions with `prediction` and `correct`; those without a prediction are wrong, or left out."""
    rows = questions.join(predictions.select("id", "prediction"), on="id", how="left", maintain_order="left")
    rows = rows.drop_nulls("prediction") if skip_missing else rows
    return rows.with_columns(correct=(pl.col("prediction") == pl.col("answer")).fill_null(False))


MAJ, MAJTEMPL = BASELINES = ("MAJ", "MAJTEMPL")


class Commonest(NamedTuple):
    """The most common answers of a training set."""

    overall: str
    templates: dict[str, str]  # template -> its own

    @classmethod
    def of(cls, counted: pl.DataFrame) -> "Commonest":
        """Of how often there is which template and answer, perhaps in several rows of `len`."""
        return cls(_commonest(counted.with_columns(template=pl.lit(""))).get("", ""), _commonest(counted))


def answers_in(train: pl.DataFrame) -> pl.DataFrame:
    """template, answer, len"""
    return train.group_by("template", "answer").len()


def majority(train: pl.DataFrame, questions: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """MAJ and MAJTEMPL of a training set."""
    return guessed(Commonest.of(answers_in(train)), questions)


def guessed(known: Commonest, questions: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """MAJ: the most common answer of the training set. MAJTEMPL: the most common one of the question's template there,
    and of a question that names two options one of these, each with probability 1/2.

    COVR, section 5 and Table 6. Of equally common answers the first in the alphabet is said; a template that training
    does not have gets the answer of MAJ. The option is drawn by a hash of the question's id.

    Baseline -> id, prediction for every question; questions have id, template and options.
    """
    own = pl.col("template").replace_strict(known.templates, default=known.overall, return_dtype=pl.String)
    drawn = pl.Series("drawn", [_one(*row) for row in questions.select("id", "options").rows()], pl.String)
    return {
        MAJ: questions.select("id", prediction=pl.lit(known.overall)),
        MAJTEMPL: questions.select("id", prediction=pl.coalesce(drawn, own)),
    }


def _one(id: str, options: list[str] | None) -> str | None:
    return options[int(seed_of(0, f"option {id}")) % len(options)] if options else None


def _commonest(counted: pl.DataFrame) -> dict[str, str]:
    """Template -> its most common answer."""
    summed = counted.group_by("template", "answer").agg(pl.col("len").sum())
    ordered = summed.sort(["len", "answer"], descending=[True, False])
    return dict(ordered.group_by("template", maintain_order=True).first().select("template", "answer").rows())


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
    tallies = tallied(questions, held_out, said, skip_missing)
    compared = ("model", "text", "iid-size")
    parts = {split: tuple(_column(tallies, split, role) for role in compared) for split in said}
    scores = [Cell(NAME, "split", split, own, "score", False) for split, own in parts.items()]
    every = tuple(one for cell in scores for one in cell.parts)
    scores.append(Cell(NAME, "split", OVERALL, every, "mean score", False))
    return Scored(tallies, scores), {role: _accuracy(tallies, list(said), role) for role in ROLES}


def score_curve(
    questions: pl.DataFrame, held_out: Mapping[str, list[str] | None], said: Said, skip_missing: bool = False
) -> dict[str, Scored]:
    """Accuracy = right / asked on what a split holds out, of models that saw more and more examples of it.

    COVR, App. H and Figure 13. Number of examples -> the accuracy on every split that has such a model.
    """
    tallies = tallied(questions, held_out, said, skip_missing)
    counts = dict.fromkeys(count for models in said.values() for count in models)
    return {c: _accuracy(tallies, [split for split in said if c in said[split]], c, pooled=False) for c in counts}


def tallied(
    questions: pl.DataFrame, held_out: Mapping[str, list[str] | None], said: Said, skip_missing: bool
) -> Tallies:
    """Right and asked of every model of every split, over the split's own questions."""
    asked, images = placed(questions)

    def count(split: str, role: str) -> Tallies:
        ids = held_out[split]
        own = asked if ids is None else asked.filter(pl.col("id").is_in(ids))
        rows, names = answered_by(own, said[split][role], skip_missing), [("accuracy", split, role)]
        scope, right = rows["scope"].to_numpy().astype(np.int64), rows["correct"].to_numpy()
        return tally(scope, np.zeros(len(rows), np.int64), right, images, names)

    return joined([count(split, role) for split, roles in said.items() for role in roles])


def _column(tallies: Tallies, split: str, role: str) -> tuple[int, ...]:
    name = ("accuracy", split, role)
    return (tallies.columns.index(name),) if name in tallies.columns else ()


def _accuracy(tallies: Tallies, splits: Sequence[str], role: str, pooled: bool = True) -> Scored:
    """Of one role on every split, and on all of them together."""
    parts = [_column(tallies, split, role) for split in splits]
    cells = [Cell("accuracy", "split", split, (part,)) for split, part in zip(splits, parts, strict=True)]
    together = [Cell("accuracy", "split", OVERALL, (tuple(n for part in parts for n in part),))] if pooled else []
    return Scored(tallies, [*cells, *together])
