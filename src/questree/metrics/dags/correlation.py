"""Pearson correlation over DAGs of accuracy (right / scored answered nodes) and consistency (checks passed / applied).

AGQA-Decomp, Figure 3. No once-only rule; consistency pools all checks of a DAG (micro), and a composition is checked at
most once: a yes by its Yes side, a no by its No side, anything else fails the side its children call for. DAGs that
lack either number are left out; constant input is N/A.
"""

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.dags.answered import OVERALL, Answered
from questree.metrics.tallies import Floats, Tallies, joined, mean_tally, share

NAME = "IC-accuracy correlation"
MOMENTS = ("x", "y", "xx", "yy", "xy")


def dag_scores(model: Answered) -> tuple[Floats, Floats]:
    """[dag] accuracy, [dag] consistency; NaN where a DAG has none."""
    found = model.hierarchies
    dag, dags = model.column("dag"), len(found.dags)
    rows = model.scored & model.answered
    total = np.bincount(dag[rows], minlength=dags)
    right = np.bincount(dag[rows & model.correct], minlength=dags)
    dag_of = dag[found.composed["parent"].to_numpy()]
    applied, passed = np.zeros(dags), np.zeros(dags)
    for rule, rows, case in model.read:
        applies, passes = case.at_most_one(rule.ways)
        applied += np.bincount(dag_of[rows[applies]], minlength=dags)
        passed += np.bincount(dag_of[rows[applies & passes]], minlength=dags)
    return share(right, total), share(passed, applied)


def count_correlation(model: Answered) -> Tallies:
    """Columns ("correlation", moment): means over DAGs of x = accuracy, y = consistency (centred) and products."""
    accuracy, consistency = dag_scores(model)
    here = ~np.isnan(accuracy) & ~np.isnan(consistency)
    video = model.hierarchies.dags["video"].to_numpy()[here].astype(np.int64)
    x, y = accuracy[here], consistency[here]
    if len(x):  # centred, so that products keep their digits
        x, y = x - x.mean(), y - y.mean()
    videos = len(model.hierarchies.videos)
    values = dict(zip(MOMENTS, (x, y, x * x, y * y, x * y), strict=True))
    return joined([mean_tally(video, value, videos, ("correlation", name)) for name, value in values.items()])


def correlation_cell(tallies: Tallies) -> Cell:
    at = {column: number for number, column in enumerate(tallies.columns)}
    return Cell(NAME, "dag", OVERALL, tuple((at["correlation", name],) for name in MOMENTS), "correlation")
