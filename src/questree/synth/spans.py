"""Stretches of time: drawing them from the statistics, moving and squeezing them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import erf, sqrt

import numpy as np

from questree.synth.statistics import QUANTILES, Tables

SHORTEST = 1.5  # seconds
PAUSE = 0.2  # seconds between what comes one after the other, so that no frame lies in both
AGAINST = 0.6  # how strongly a long action tends to begin early


@dataclass(slots=True, eq=False)
class Span:
    action: int
    start: float
    end: float

    @property
    def length(self) -> float:
        return self.end - self.start


def draw_spans(cast: Sequence[int], length: float, tables: Tables, rng: np.random.Generator) -> list[Span]:
    """Every action's own length and start; what would run over the end begins earlier or ends sooner."""
    spans = []
    for action in cast:
        early, other, over = rng.standard_normal(), rng.standard_normal(), rng.random()
        late = -AGAINST * early + sqrt(1 - AGAINST**2) * other
        lasting = min(float(np.interp(_share(early), QUANTILES, tables.durations[action])), length)
        start = float(np.interp(_share(late), QUANTILES, tables.starts[action])) * length
        beyond = max(start + lasting - length, 0.0)
        start = max(start - beyond * over, 0.0)
        spans.append(Span(action, start, max(min(start + lasting, length), min(start + SHORTEST, length))))
    return spans


def _share(normal: float) -> float:
    return 0.5 * (1 + erf(normal / sqrt(2)))


def squeeze(spans: Sequence[Span], low: float, high: float) -> None:
    """Move the spans together into low..high, shrinking them if there is no room."""
    if not spans:
        return
    first, last = min(s.start for s in spans), max(s.end for s in spans)
    width = min(last - first, high - low)
    scale = width / (last - first) if last > first else 0.0
    begin = min(max(first, low), high - width)
    for span in spans:
        span.start, span.end = begin + (span.start - first) * scale, begin + (span.end - first) * scale


def gather(spans: Sequence[Span]) -> list[Span]:
    """Close the gaps between the spans: each begins at the latest when those before it have ended."""
    ordered = sorted(spans, key=lambda s: (s.start, s.action))
    last = ordered[0].end if ordered else 0.0
    for span in ordered[1:]:
        if span.start > last:
            span.start, span.end = last, last + span.length
        last = max(last, span.end)
    return ordered


def keep_apart(spans: Sequence[Span], low: float, high: float) -> None:
    """Two instances of one action do not overlap."""
    for first, later in pairwise(sorted(spans, key=lambda s: (s.action, s.start))):
        if first.action == later.action and later.start < first.end + PAUSE:
            room = 0.4 * (high - low)
            middle = min(max((first.start + later.end) / 2, low + room), high - room)
            squeeze([first], low, middle - PAUSE)
            squeeze([later], middle, high)


def width(spans: Sequence[Span]) -> float:
    return max(s.end for s in spans) - min(s.start for s in spans) if spans else 0.0


def overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
