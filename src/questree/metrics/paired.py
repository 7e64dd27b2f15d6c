"""Whether two models differ: a paired test over videos, and the false discovery rate of many of them."""

from functools import lru_cache

import numpy as np

from questree.metrics.cells import COMBINE, Cell, Floats, Tallies, share
from questree.metrics.scores import Resampling, signs

EXACT = 12  # videos that count up to which every pattern of signs is tried
ROUNDING = 1e-9  # of all that videos add
STEP = 1e-4  # of a ratio, for slopes

Counts = tuple[Cell, Tallies]


def contributions(a: Counts, b: Counts) -> tuple[Floats, Floats]:
    """[video] what it adds to the difference B - A if both models have the same ratios, and with those they have.

    A cell is f(r_1, r_2, ...) with r_j = sum of p_vj / sum of t_vj over videos v. To first order a video adds

        u_v = sum over j of f_j (p_vj - r_j t_vj) / T_j of B - the same of A,

    f_j the slope of f in r_j and T_j the sum of t_vj (the linearisation of a ratio: Cochran 1977, section 6). With r_j
    pooled over both models the u_v add up to the difference wherever f is a ratio or a mean or difference of ratios.
    With each model's r_j they add up to nothing, and all are nothing where no resample changes the difference.
    """
    parts = [[sums(tallies, part) for part in cell.parts] for cell, tallies in (a, b)]
    counted = [np.array(own, float).reshape(-1, 2) for own in parts]
    own = [share(*each.T) for each in counted]
    if len(own[0]) == len(own[1]):
        pooled = [share(*(counted[0] + counted[1]).T)] * 2
    else:  # means over answers of which one model has none
        middle = np.nanmean([np.nanmean(each) if len(each) else np.nan for each in own])
        pooled = [np.full(len(each), middle) for each in own]
    null, free = (linear(b, at[1], counted[1][:, 1]) - linear(a, at[0], counted[0][:, 1]) for at in (pooled, own))
    return null, free


def sums(tallies: Tallies, part: tuple[int, ...]) -> tuple[float, float]:
    own = list(part)
    return float(tallies.passed[:, own].sum()), float(tallies.total[:, own].sum())


def linear(counts: Counts, at: Floats, total: Floats) -> Floats:
    """[video] slope * (passed - ratio * total) / total of all videos, added up over the parts; ratios as in `at`."""
    cell, tallies = counts
    there = total > 0
    weight = np.where(there, slopes(cell.how, np.where(there, at, np.nan)), 0.0) / np.where(there, total, 1.0)
    columns = [column for part in cell.parts for column in part]
    sizes = [len(part) for part in cell.parts]
    above, below = (np.repeat(each, sizes) for each in (weight, weight * np.where(there, at, 0.0)))
    return np.asarray(tallies.passed[:, columns] @ above - tallies.total[:, columns] @ below, float)


def slopes(how: str, at: Floats) -> Floats:
    """[part] of what is computed from the ratios, by central differences: exact where it is a mean or a difference."""
    moved = np.stack([at[:, None] + side * STEP * np.eye(len(at)) for side in (1, -1)])  # [side, ratio, moved one]
    up, down = (np.broadcast_to(COMBINE[how][1](list(each)), len(at)) for each in moved)
    return np.asarray((up - down) / (2 * STEP))


def p_values(null: Floats, free: Floats, resampling: Resampling) -> Floats:
    """[cell] of contributions [video, cell]: the share of patterns of signs that give as large a difference.

    p = |{s in {-1, 1}^k: |sum of s_v u_v| >= |sum of u_v|}| / 2^k over the k videos with u_v other than 0 (Fisher 1935,
    section 21): every pattern up to k = EXACT, beyond that (1 + those among random ones) / (1 + random ones). Where
    both models are asked the same, as in accuracy, a sign swaps their answers about a video, and p is exact. Where what
    counts depends on answers, as in CA, the u_v are those of a score bootstrap of clusters (Kline and Santos 2012),
    which is exact in the limit of many videos.

    NaN where a contribution is undefined, or no resample of videos changes the difference.
    """
    scale = np.abs(null).sum(axis=0)
    null = np.where(np.abs(null) <= ROUNDING * scale, 0.0, null)
    found, least = np.abs(null.sum(axis=0)), np.abs(null.sum(axis=0)) - ROUNDING * scale
    count = (null != 0).sum(axis=0)
    p = np.ones(len(found))
    for at in np.flatnonzero((count > 0) & (count <= EXACT)).tolist():
        own = null[null[:, at] != 0, at]
        p[at] = (np.abs(patterns(len(own)) @ own) >= least[at]).mean()
    many = count > EXACT
    if many.any():
        far = sum((np.abs(some @ null[:, many]) >= least[many]).sum(axis=0) for some in signs(len(null), resampling))
        p[many] = (1 + far) / (1 + resampling.resamples)
    varies = np.abs(free).max(axis=0, initial=0.0) > ROUNDING * scale
    return np.where(np.isnan(scale) | ~varies, np.nan, p)


@lru_cache(maxsize=EXACT)
def patterns(count: int) -> Floats:
    """[pattern, video] every pattern of signs that ends with a plus; the others are these turned round."""
    bits = np.arange(1 << (count - 1))[:, None] >> np.arange(count) & 1
    return np.asarray(1.0 - 2.0 * bits)


def benjamini_hochberg(p: Floats) -> Floats:
    """[cell] the smallest false discovery rate at which a cell is called different; NaN stays NaN."""
    q = np.full(len(p), np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    raised = p[order] * len(order) / np.arange(1, len(order) + 1)
    q[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return q
