"""Videos needed for a half-width h of the 95 % interval: videos * (1.96 * s / h)^2, s the bootstrap standard error.

The standard error of a mean over clusters falls with the square root of their number (Kish 1965, section 5).
"""

import math

import msgspec
import numpy as np

from questree.metrics.bootstrap import Resampling, resampled
from questree.metrics.scores import Scored, number

NORMAL = 1.959963984540054  # 97.5 % quantile


class Need(msgspec.Struct, frozen=True):
    metric: str
    by: str
    group: str
    value: float | None
    half_width: float | None  # with the videos there are
    videos: int | None  # needed for the wanted half-width


def needs(scored: Scored, wanted: float, resampling: Resampling) -> list[Need]:
    """For every cell; None where it has no value or no spread to go by."""
    values, draws = scored.values(), resampled(scored.cells, scored.tallies, resampling)
    known = (~np.isnan(draws)).sum(axis=0)
    enough = (known > 1) & ~np.isnan(values)
    half = np.full(len(values), np.nan)
    half[enough] = NORMAL * np.nanstd(draws[:, enough], axis=0, ddof=1)
    here = len(scored.tallies.total)
    return [
        Need(*cell.name, number(value), number(width), _videos(here, width, wanted))
        for cell, value, width in zip(scored.cells, values, half, strict=True)
    ]


def _videos(here: int, width: float, wanted: float) -> int | None:
    """No spread at all says nothing about how many are needed."""
    return None if np.isnan(width) or width == 0 else max(2, math.ceil(here * (width / wanted) ** 2))
