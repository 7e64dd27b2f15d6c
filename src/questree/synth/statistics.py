"""What home videos are like in numbers: lengths, how often actions occur, how long, when, and with which others."""

from functools import cache
from importlib import resources

import msgspec
import numpy as np

from questree.synth.habits import Array

QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)  # the outermost two are not in the file: see `_knots`
RARE = 72  # a pair that is not listed has fewer than 25 each of a overlaps b, a before b, b before a


class ActionCounts(msgspec.Struct, frozen=True):
    instances: int
    videos: int
    durations: tuple[float, ...]  # seconds, [quantile]
    starts: tuple[float, ...]  # share of the video's length, [quantile]


class Statistics(msgspec.Struct, frozen=True):
    videos: int
    train: int
    lengths: tuple[float, ...]  # seconds, [quantile]
    actions_per_video: dict[str, int]
    actions: dict[str, ActionCounts]
    pairs: tuple[tuple[str, str, str, int], ...]  # a, "overlaps" or "before", b, how often


class Tables(msgspec.Struct, frozen=True):
    """The same as arrays; actions in the order of the vocabulary."""

    train_share: float
    lengths: Array  # [knot]
    counts: Array  # [number of actions] cumulated share of videos
    instances: Array  # [action]
    repeats: Array  # [action] instances beyond the first, per video that has the action
    durations: Array  # [action, knot]
    starts: Array  # [action, knot]
    affinity: Array  # [action, action] how much more often than by chance two are in one video, as logarithm
    overlaps: Array  # [action, action] listed pairs that overlap, symmetric
    follows: Array  # [action, action] listed pairs where the first ends before the second begins


@cache
def statistics() -> Statistics:
    text = resources.files("questree.synth").joinpath("statistics.json").read_bytes()
    return msgspec.json.decode(text, type=Statistics)


@cache
def tables(actions: tuple[str, ...]) -> Tables:
    """`actions`: ids in the order wanted."""
    found = statistics()
    rows = [found.actions[name] for name in actions]
    overlaps, follows = _pairs(found, actions)
    videos = np.array([row.videos for row in rows], float)
    instances = np.array([row.instances for row in rows], float)
    sizes = np.zeros(1 + max(map(int, found.actions_per_video)))
    for size, count in found.actions_per_video.items():
        sizes[int(size)] = count
    return Tables(
        train_share=found.train / found.videos,
        lengths=_knots(found.lengths),
        counts=np.cumsum(sizes) / sizes.sum(),
        instances=instances,
        repeats=instances / videos - 1,
        durations=np.array([_knots(row.durations) for row in rows]),
        starts=np.array([np.clip(_knots(row.starts), 0, 0.95) for row in rows]),
        affinity=_affinity(overlaps + follows + follows.T, videos, sizes),
        overlaps=overlaps,
        follows=follows,
    )


def _knots(quantiles: tuple[float, ...]) -> Array:
    """The five quantiles with ends added: nothing is known about the tails, so they are kept short."""
    low, high = quantiles[0], quantiles[-1]
    return np.array([low - 0.25 * (quantiles[1] - low), *quantiles, high + 0.25 * (high - quantiles[-2])])


def _pairs(found: Statistics, actions: tuple[str, ...]) -> tuple[Array, Array]:
    at = {name: position for position, name in enumerate(actions)}
    overlaps, follows = np.zeros((len(actions), len(actions))), np.zeros((len(actions), len(actions)))
    for first, kind, second, count in found.pairs:
        (overlaps if kind == "overlaps" else follows)[at[first], at[second]] += count
    return overlaps + overlaps.T, follows


def _affinity(listed: Array, videos: Array, sizes: Array) -> Array:
    """Listed pairs as counted; what is left of an action's company is shared among its rare pairs."""
    number = np.arange(len(sizes))
    company = (sizes * number * (number - 1)).sum() / (sizes * number).sum()  # others in the video of an action
    left = videos * company - listed.sum(1)  # [action]
    rare = (listed == 0) & ~np.eye(len(videos), dtype=bool)
    share = np.sqrt(left)
    for _ in range(200):  # symmetric balancing: the rows of the rare pairs must sum to `left`
        among = np.where(rare, np.minimum(np.outer(share, share), RARE), 0)  # [action, action]
        share *= np.sqrt(left / among.sum(1))
    by_chance = np.outer(videos, videos) * company / videos.sum()
    found: Array = np.log(np.maximum((listed + among) / by_chance, 1e-3))
    np.fill_diagonal(found, 0)
    return found
