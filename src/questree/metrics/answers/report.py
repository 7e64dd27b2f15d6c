"""Every AGQA score of one model."""

import polars as pl

from questree.metrics.answers.answers import Answers, answers, cells, count
from questree.metrics.answers.categories import groups
from questree.metrics.answers.indirect import references
from questree.metrics.answers.steps import step_groups
from questree.metrics.catalogue import with_metrics
from questree.metrics.cells import Cell
from questree.metrics.dags.answered import Missing
from questree.metrics.scores import Scored
from questree.metrics.tallies import joined
from questree.tables.scored import QuestionRecords


def score_agqa(asked: QuestionRecords, predictions: pl.DataFrame, missing: Missing = "error") -> Scored:
    model = answers(asked, predictions.select("id", "prediction"), missing == "skip")
    tables = groups(asked)
    recall, precision = references(model)
    steps = step_groups(model)
    parts = [count(model, name, rows) for name, rows in tables.items()]
    parts += [count(model, "recall", recall), count(model, "precision", precision), count(model, "steps", steps)]
    tallies = joined(parts)
    found: list[Cell] = []
    for name, rows in tables.items():
        found += cells(tallies, name, "accuracy", name, list(rows))
    for name in ("precision", "recall"):
        found += cells(tallies, name, name, "indirect reference", list(recall))
    found += [cell for cell in cells(tallies, "steps", "accuracy", "steps", list(steps)) if cell.by == "steps"]
    every = tuple(at for at, column in enumerate(tallies.columns) if column[0] == "steps")
    found.append(Cell("accuracy", "steps", "Overall", (every,)))
    return with_metrics(Scored(tallies, found), lambda: _questions(model, predictions))


def _questions(model: Answers, predictions: pl.DataFrame) -> pl.DataFrame:
    """What metrics of plugins count: a row per question that counts, with all its columns."""
    said = model.asked.table.join(predictions.select("id", "prediction"), on="id", how="left", maintain_order="left")
    return said.with_columns(scope=model.asked.video, correct=model.correct).filter(model.counted)


def baseline(asked: QuestionRecords) -> Answers:
    """What the Most-Likely baseline is counted on: the questions alone."""
    return answers(asked, pl.DataFrame(schema={"id": pl.String, "prediction": pl.String}), False)
