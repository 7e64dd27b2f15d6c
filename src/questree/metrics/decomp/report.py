"""Every AGQA-Decomp score of one model: its tallies per video and the cells made of them."""

import polars as pl

from questree.metrics.cells import Cell
from questree.metrics.decomp.accuracy import accuracy_cells, count_accuracy
from questree.metrics.decomp.answered import Missing, answered
from questree.metrics.decomp.composition import composition_cells, count_composition
from questree.metrics.decomp.consistency import consistency_cells, count_consistency
from questree.metrics.decomp.correlation import correlation_cell, count_correlation
from questree.metrics.decomp.names import COMPOSITIONS
from questree.metrics.scores import Scored
from questree.metrics.tallies import joined
from questree.progress import report
from questree.tables.hierarchies import Hierarchies


def score_decomp(hierarchies: Hierarchies, predictions: pl.DataFrame, missing: Missing = "error") -> Scored:
    """Predictions have the columns id and prediction; what `error` means for a missing one is the caller's matter."""
    steps = 5
    report("scoring", 0, steps)
    model = answered(hierarchies, predictions, missing)
    report("scoring", 1, steps)
    parts = [count_accuracy(model, missing == "skip")]
    for count in (count_composition, count_consistency, count_correlation):
        report("scoring", 1 + len(parts), steps)
        parts.append(count(model))
    report("scoring", steps, steps)
    tallies = joined(parts)
    own = [name for name in hierarchies.compositions if name not in COMPOSITIONS]
    compositions = [*COMPOSITIONS, *own]
    cells: list[Cell] = [
        *accuracy_cells(tallies, model.groups),
        *composition_cells(tallies, "type", model.own_groups),
        *composition_cells(tallies, "composition", compositions),
        *consistency_cells(tallies, model.own_groups, compositions),
        correlation_cell(tallies),
    ]
    return Scored(tallies, cells)
