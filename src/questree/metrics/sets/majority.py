"""MAJ: the most common answer of the training set. MAJTEMPL: the most common one of the question's template there.

COVR, section 6.1 and Table 6. Of equally common answers the first in the alphabet is said; a template that training
does not have gets the answer of MAJ.
"""

import polars as pl

MAJ, MAJTEMPL = BASELINES = ("MAJ", "MAJTEMPL")


def majority(train: pl.DataFrame, questions: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Baseline -> id, prediction for every question; both tables have template and answer."""
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
