"""How near a made-up world is to the statistics it follows."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.habits import habits
from questree.synth.statistics import statistics, tables

ENOUGH = 20  # instances of an action before its quantiles are compared


def closeness(lengths: NDArray[Any], rows: NDArray[Any]) -> dict[str, float]:
    """`lengths`: [video] seconds; `rows`: [instance, 4] video, action, start, end."""
    known = statistics()
    ids = tuple(action.id for action in habits().words.actions)
    there = tables(ids)
    counts = np.bincount(rows[:, 1].astype(int), minlength=len(ids))
    sizes = {int(size): count for size, count in known.actions_per_video.items()}
    mean = sum(size * count for size, count in sizes.items()) / sum(sizes.values())
    found = {f"length, {q} % quantile": _quantile(lengths, q) / v for q, v in _named(known.lengths)}
    listed = there.overlaps + there.follows + there.follows.T
    together, overlapping = _pairs(rows, len(ids))
    upper = np.triu(listed > 0, 1)
    return found | {
        "actions per video": len(rows) / len(lengths) / mean,
        "videos without action": (1 - len(np.unique(rows[:, 0])) / len(lengths)) / (sizes[0] / known.videos),
        "rank correlation of action frequencies": _rank_correlation(counts, there.instances),
        "rank correlation of listed pairs": _rank_correlation(together[upper], listed[upper]),
        "rank correlation of overlapping pairs": _rank_correlation(overlapping[upper], there.overlaps[upper]),
        **_times(lengths, rows, ids),
    }


def _named(quantiles: tuple[float, ...]) -> list[tuple[int, float]]:
    return list(zip((5, 25, 50, 75, 95), quantiles, strict=True))


def _quantile(values: NDArray[Any], percent: int) -> float:
    return float(np.quantile(values, percent / 100))


def _times(lengths: NDArray[Any], rows: NDArray[Any], ids: tuple[str, ...]) -> dict[str, float]:
    """Duration ratios and distances between relative starts: means over actions, weighted by their instances."""
    lasting = rows[:, 3] - rows[:, 2]
    begun = rows[:, 2] / lengths[rows[:, 0].astype(int)]
    ratios: dict[int, list[float]] = {25: [], 50: [], 75: []}
    apart, weights = [], []
    for action, name in enumerate(ids):
        mine = rows[:, 1] == action
        if mine.sum() < ENOUGH:
            continue
        weights.append(int(mine.sum()))
        wanted = dict(_named(statistics().actions[name].durations))
        for q in ratios:
            ratios[q].append(_quantile(lasting[mine], q) / wanted[q])
        apart.append(abs(_quantile(begun[mine], 50) - dict(_named(statistics().actions[name].starts))[50]))
    if not weights:
        return {}
    found = {f"duration, {q} % quantile": float(np.average(ratios[q], weights=weights)) for q in ratios}
    return found | {"relative start, distance of medians": float(np.average(apart, weights=weights))}


def _pairs(rows: NDArray[Any], actions: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """How often two actions are in one video, and how often they overlap there, [action, action] symmetric."""
    together, overlapping = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    for video in np.split(rows, np.flatnonzero(np.diff(rows[:, 0])) + 1):
        spans = [(int(a), s, e) for _, a, s, e in video.tolist()]
        for place, (one, begin, end) in enumerate(spans):
            for other, start, stop in spans[place + 1 :]:
                together[one, other] += 1
                overlapping[one, other] += begin < stop and start < end
    matrices = np.zeros((2, actions, actions))
    for matrix, counted in zip(matrices, (together, overlapping), strict=True):
        for (one, other), count in counted.items():
            matrix[one, other] += count
    matrices += matrices.transpose(0, 2, 1)
    return matrices[0], matrices[1]


def _rank_correlation(one: NDArray[Any], other: NDArray[Any]) -> float:
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: NDArray[Any]) -> NDArray[Any]:
    """Equal values share the mean of their ranks."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])
