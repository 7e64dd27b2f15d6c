"""Ranking match: |top N by importance and relevant| / N, N relevant objects; the same with M irrelevant ones.

FPVG, section 3.3, Table 1 and appendix D.2, averaged over FPVG+ and over FPVG- questions.
"""

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.fpvg.grounding import OVERALL, Grounding
from questree.metrics.tallies import Tallies, joined, mean_tally
from questree.tables.scored import Relevance

SIDES = ("relevant", "irrelevant")


def match(importance: list[float], wanted: tuple[int, ...]) -> float:
    """The share of the most important detections that are wanted ones; of equal importance the first goes first."""
    top = np.argsort(-np.asarray(importance, np.float64), kind="stable")[: len(wanted)]
    return len(set(top.tolist()) & set(wanted)) / len(wanted)


def count_ranking(model: Grounding, found: list[Relevance], importance: dict[str, list[float]]) -> Tallies:
    """Columns ("ranking", side, FPVG+ or FPVG-)."""
    ids = model.questions["id"].to_list()
    scores = {side: np.full(len(ids), np.nan) for side in SIDES}
    for at in np.flatnonzero(model.evaluated).tolist():
        if ids[at] in importance:
            for side in SIDES:
                scores[side][at] = match(importance[ids[at]], getattr(found[at], side))
    return joined(
        [
            mean_tally(model.image[rows], scores[side][rows], len(model.images), ("ranking", side, sign))
            for side in SIDES
            for sign, rows in (("FPVG+", model.grounded), ("FPVG-", ~model.grounded))
        ]
    )


def ranking_cells(tallies: Tallies) -> list[Cell]:
    at = [(number, column) for number, column in enumerate(tallies.columns) if column[0] == "ranking"]
    return [
        Cell("ranking match", side, group, (tuple(n for n, c in at if c[1] == side and group in (c[2], OVERALL)),))
        for side in SIDES
        for group in ("FPVG+", "FPVG-", OVERALL)
    ]
