"""Sufficiency = p_all - p_rel, comprehensiveness = p_all - p_irrel, p being of the class predicted with all objects.

DeYoung et al. 2020 as used in FPVG, section 3.4 and Figure 3: sufficiency is good below 0.01; comprehensiveness is bad
below 0.2 and good from 0.4 on. Best has both good; worst is neither sufficient nor better than bad.
Figure 4: how often the answer flips within a category.
"""

import numpy as np

from questree.metrics.cells import Cell
from questree.metrics.fpvg.grounding import OVERALL, Grounding
from questree.metrics.tallies import Column, Tallies, joined, mean_tally, tally

SUFFICIENT, BAD, GOOD = 0.01, 0.2, 0.4
METRICS = ("sufficiency", "comprehensiveness")
LEVELS = ("good", "medium", "bad")
SHARES = ("sufficient", "comprehensive", "not comprehensive", "best", "worst")


def count_faithfulness(model: Grounding) -> Tallies | None:
    """Columns (metric,); None when no question has its three probabilities."""
    p = model.probability
    drops = (p["all"] - p["rel"], p["all"] - p["irrel"])
    rows = model.evaluated & ~np.isnan(drops[0]) & ~np.isnan(drops[1])
    if not rows.any():
        return None
    sufficiency, comprehensiveness = (drop[rows] for drop in drops)
    image, images = model.image[rows], len(model.images)
    parts = [
        mean_tally(image, value, images, (name,))
        for name, value in zip(METRICS, (sufficiency, comprehensiveness), strict=True)
    ]
    enough, bad, good = sufficiency < SUFFICIENT, comprehensiveness < BAD, comprehensiveness >= GOOD
    for name, flag in zip(SHARES, (enough, good, bad, enough & good, ~enough & bad), strict=True):
        names: list[Column] = [(name,)]
        parts.append(tally(image, np.zeros(len(image), np.int64), flag, images, names))
    flips = (
        ("flip rel", "sufficiency", np.where(enough, 0, 1), ("good", "bad"), ~model.same_rel[rows]),
        ("flip irrel", "comprehensiveness", np.where(good, 0, np.where(bad, 2, 1)), LEVELS, ~model.same_irrel[rows]),
    )
    for metric, by, level, levels, flipped in flips:
        parts.append(tally(image, level, flipped, images, [(metric, by, one) for one in levels]))
    return joined(parts)


def faithfulness_cells(tallies: Tallies) -> list[Cell]:
    at = {column: number for number, column in enumerate(tallies.columns)}
    means = [Cell(name, "all", OVERALL, ((at[name,],),)) for name in (*METRICS, *SHARES)]
    flips = [
        Cell(metric, by, level, (tuple(at[c] for c in [(metric, by, level)] if c in at),))
        for metric, by, levels in (("flip rel", METRICS[0], LEVELS[::2]), ("flip irrel", METRICS[1], LEVELS))
        for level in levels
    ]
    return means + flips
