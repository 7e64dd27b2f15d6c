"""Every AGQA-Decomp score of one model: its tallies per video and the cells made of them."""

import polars as pl

from questree.metrics.catalogue import with_metrics
from questree.metrics.cells import Cell
from questree.metrics.dags.accuracy import accuracy_cells, count_accuracy
from questree.metrics.dags.answered import Answered, Missing, ModelAnswers, answered
from questree.metrics.dags.composition import composition_cells, count_composition
from questree.metrics.dags.consistency import consistency_cells, count_consistency
from questree.metrics.dags.correlation import correlation_cell, count_correlation
from questree.metrics.dags.questions import questions_of
from questree.metrics.scores import Scored
from questree.metrics.tallies import joined
from questree.progress import report
from questree.tables.hierarchies import Hierarchies

STEPS = 5  # of the work, as it is watched


def score_decomp(
    hierarchies: Hierarchies, predictions: pl.DataFrame | ModelAnswers, missing: Missing = "error"
) -> Scored:
    """Predictions have the columns id and prediction, or are by key; what `error` means is the caller's matter."""
    report("scoring", 0, STEPS)
    return score_answered(answered(hierarchies, predictions, missing), missing == "skip")


def score_answered(model: Answered, skip_missing: bool = False) -> Scored:
    """The same of predictions that stand beside their hierarchies already."""
    report("scoring", 1, STEPS)
    parts = [count_accuracy(model, skip_missing)]
    for count in (count_composition, count_consistency, count_correlation):
        report("scoring", 1 + len(parts), STEPS)
        parts.append(count(model))
    report("scoring", STEPS, STEPS)
    tallies = joined(parts)
    cells: list[Cell] = [
        *accuracy_cells(tallies, model.groups),
        *composition_cells(tallies, "type", model.own_groups),
        *composition_cells(tallies, "composition", model.compositions),
        *consistency_cells(tallies, model),
        correlation_cell(tallies),
    ]
    return with_metrics(Scored(tallies, cells), lambda: questions_of(model))
