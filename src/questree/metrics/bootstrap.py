"""Cluster bootstrap: videos are drawn with replacement, and every numerator and denominator is summed anew.

Field and Welsh 2007, "Bootstrapping clustered data". Questions about one video are not independent, so the video is
what is drawn. A draw is a weight per video, so a resample costs one product with the per-video tallies and no scoring.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from questree.metrics.cells import Cell, evaluate
from questree.metrics.tallies import Floats, Tallies
from questree.progress import report

CHUNK = 100  # resamples at a time


@dataclass(frozen=True)
class Resampling:
    resamples: int = 1000
    seed: int = 0


def weights(videos: int, resampling: Resampling) -> Iterator[Floats]:
    """[resample, video] how often each video is drawn, in chunks; resample r depends on (seed, r) only."""
    for begin in range(0, resampling.resamples, CHUNK):
        numbers = range(begin, min(begin + CHUNK, resampling.resamples))
        report("resampling", begin, resampling.resamples)
        draws = (np.random.default_rng([resampling.seed, r]).integers(0, videos, videos) for r in numbers)
        yield np.array([np.bincount(draw, minlength=videos) for draw in draws], np.float64)
    report("resampling", resampling.resamples, resampling.resamples)


def resampled_sums(tallies: Tallies, resampling: Resampling) -> Iterator[tuple[Floats, Floats]]:
    """[resample, column] passed and total, in chunks."""
    whole = np.array([np.array_equal(column, np.rint(column)) for column in tallies.passed.T], bool)
    passed, total = tallies.passed.astype(np.float64), tallies.total.astype(np.float64)
    for weight in weights(len(total), resampling):
        sums = np.empty((len(weight), passed.shape[1]))
        sums[:, whole] = weight @ passed[:, whole]  # whole numbers: exact, in whatever order they are added
        sums[:, ~whole] = np.einsum("rv,vc->rc", weight, passed[:, ~whole])  # one fixed order of adding
        yield sums, weight @ total


def resampled(cells: Sequence[Cell], tallies: Tallies, resampling: Resampling) -> Floats:
    """[resample, cell]"""
    return np.concatenate([evaluate(cells, *sums) for sums in resampled_sums(tallies, resampling)])
