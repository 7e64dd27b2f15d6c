"""Accuracy against steps: weighted least squares over (steps, accuracy) with weight n; R^2; an 80 % band of the line.

AGQA, Figure 5. R^2 = 1 - sum w (y - fit)^2 / sum w (y - mean)^2. The band holds 80 % of the lines fitted to resamples
of videos. Fewer than two different numbers of steps have no line, and equal accuracies no R^2.
"""

import numpy as np
from numpy.typing import NDArray

from questree.metrics.answers.answers import Answers, Bools
from questree.metrics.bootstrap import Resampling, resampled_sums
from questree.metrics.scores import Score, bounds, interval, number
from questree.metrics.tallies import Floats, Tallies, share

BAND = 0.8
FLAT = 1e-12  # a spread below this is rounding


def step_groups(model: Answers) -> dict[str, Bools]:
    """Number of steps -> [question]."""
    steps = model.asked.table["steps"].to_numpy()
    return {str(n): steps == n for n in np.unique(steps).tolist()}


def line(x: Floats, passed: Floats, total: Floats) -> tuple[Floats, Floats, Floats]:
    """[...] slope, intercept, R^2 of the fit over the last axis; points without questions have no weight."""
    y = np.divide(passed, total, out=np.zeros(total.shape), where=total > 0)
    whole = total.sum(axis=-1)
    mean_x, mean_y = (share((total * v).sum(axis=-1), whole) for v in (x, y))
    dx, dy = x - mean_x[..., None], y - mean_y[..., None]
    slope = share((total * dx * dy).sum(axis=-1), (total * dx * dx).sum(axis=-1), FLAT)
    intercept = mean_y - slope * mean_x
    rest = dy - slope[..., None] * dx
    unexplained, spread = ((total * v * v).sum(axis=-1) for v in (rest, dy))
    return slope, intercept, 1 - share(unexplained, spread, FLAT)


def fit_rows(tallies: Tallies, name: str, resampling: Resampling | None) -> list[Score]:
    """slope, intercept, R^2 with 95 % intervals, and the line at every number of steps with its 80 % band."""
    steps = [str(column[1]) for column in tallies.columns if column[0] == "steps"]
    points = list(dict.fromkeys(steps))
    if not points:
        return []
    pool = np.array([[column[:2] == ("steps", point) for point in points] for column in tallies.columns], float)
    x = np.array([float(point) for point in points])  # [point]
    passed, total = (sums @ pool for sums in tallies.summed())
    known = values(x, passed, total)
    low = high = band_low = band_high = np.full(len(known), np.nan)
    if resampling is not None and len(tallies.total) > 1:
        draws = np.concatenate([values(x, p @ pool, t @ pool) for p, t in resampled_sums(tallies, resampling)])
        (low, high), (band_low, band_high) = interval(draws), interval(draws, BAND)
    names = [("slope", low, high), ("intercept", low, high), ("R^2", low, high)]
    rows = [
        Score(metric, "steps", "Overall", number(known[at]), int(total.sum()), *bounds(known[at], lo[at], hi[at]), name)
        for at, (metric, lo, hi) in enumerate(names)
    ]
    for at, point in enumerate(points, len(names)):
        room = bounds(known[at], band_low[at], band_high[at])
        rows.append(
            Score("fit, 80 % band", "steps", point, number(known[at]), int(total[at - len(names)]), *room, name)
        )
    return rows


def values(x: NDArray[np.float64], passed: Floats, total: Floats) -> Floats:
    """[..., slope intercept R^2 fit at every point]"""
    slope, intercept, r2 = line(x, passed, total)
    fitted = intercept[..., None] + slope[..., None] * x
    return np.concatenate([np.stack([slope, intercept, r2], axis=-1), fitted], axis=-1)
