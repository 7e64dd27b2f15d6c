"""Pearson correlation over DAGs of accuracy (right / scored answered nodes) and consistency (checks passed / applied).

AGQA-Decomp, Figure 3. No once-only rule; consistency pools all checks of a DAG (micro), and a composition is checked at
most once: a yes by its Yes side, a no by its No side, anything else fails the side its children call for. DAGs that
lack either number are left out; constant input is N/A.
"""

from collections.abc import Iterator

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.dags.answered import Answered
from questree.metrics.dags.checks import families
from questree.metrics.dags.families import Check, Family
from questree.metrics.dags.names import OVERALL
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
    for family in families(model, model.scored & model.column("parent")):
        for check in single_checks(family):
            applied += np.bincount(dag_of[check.rows], minlength=dags)
            passed += np.bincount(dag_of[check.rows[check.passes]], minlength=dags)
    return share(right, total), share(passed, applied)


def single_checks(family: Family) -> Iterator[Check]:
    """At most one check per row."""
    if family.kind == "choose":
        yield Check(family.name, family.rows, family.holds)
        return
    if family.kind == "one way":
        applies = family.yes | ~family.near
        passes = np.where(family.yes, family.holds, family.no)
    elif family.kind == "both ways":
        applies = family.yes | family.no | family.holds | ~family.near
        passes = (family.yes & family.holds) | (family.no & ~family.near)
    else:
        applies = np.ones(len(family.rows), bool)
        passes = (family.yes & family.holds) | (family.no & ~family.near)
    yield Check(family.name, family.rows[applies], passes[applies])


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
