"""The script of one video: which actions, and when each begins and ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from questree.synth.cast import draw_cast
from questree.synth.chains import lay_chain
from questree.synth.habits import Habits, Role
from questree.synth.postures import Rest, lay_postures
from questree.synth.spans import PAUSE, SHORTEST, Span, draw_spans, keep_apart, overlap, squeeze
from questree.synth.statistics import QUANTILES, Tables

CHAIN = (Role.TAKE, Role.HOLD, Role.USE, Role.PUT)
OPENED, CLOSED = "v012", "v001"
BEYOND = 0.3  # chance that the end of an action that lasts to the end is stamped later than the video is long


@dataclass(frozen=True)
class Script:
    length: float
    spans: tuple[Span, ...]  # sorted by start; stamps have two decimals
    rests: tuple[Rest, ...]


def write_script(tables: Tables, habits: Habits, rng: np.random.Generator) -> Script:
    length = round(float(np.interp(rng.random(), QUANTILES, tables.lengths)), 2)
    spans = draw_spans(draw_cast(tables, habits, rng), length, tables, rng)
    rests = lay_postures(spans, length, habits, rng)
    families: dict[int, list[Span]] = {}
    for span in spans:
        if habits.role[span.action] in CHAIN:
            families.setdefault(habits.family[span.action], []).append(span)
    for family in families.values():
        lay_chain(family, length, habits)
    _seek_company(spans, length, tables, habits, rng)
    _open_before_closing(spans, length, habits)
    keep_apart([s for s in spans if habits.role[s.action] in (Role.FREE, Role.WALK)], 0.0, length)
    return Script(length, tuple(_stamp(spans, length, rng)), tuple(rests))


def _seek_company(
    spans: Sequence[Span], length: float, tables: Tables, habits: Habits, rng: np.random.Generator
) -> None:
    """Free actions go where the action they are most often seen with is, as often as the two overlap."""
    for span in spans:
        if habits.role[span.action] != Role.FREE:
            continue
        counts = [tables.overlaps[span.action, other.action] if other is not span else 0 for other in spans]
        best = int(np.argmax(counts))
        both = counts[best] + tables.follows[span.action, spans[best].action]
        both += tables.follows[spans[best].action, span.action]
        if counts[best] and rng.random() < counts[best] / both and not overlap(span, spans[best]):
            target, lasting = spans[best], span.length
            begin = rng.uniform(target.start - 0.7 * lasting, target.end - 0.3 * min(lasting, target.length))
            span.start, span.end = begin, begin + lasting
            squeeze([span], 0.0, length)


def _open_before_closing(spans: Sequence[Span], length: float, habits: Habits) -> None:
    """What is opened and closed is opened first: the two change places if need be."""
    actions = habits.words.actions
    for opened in (s for s in spans if actions[s.action].verb == OPENED):
        for closed in spans:
            same = actions[closed.action].object == actions[opened.action].object
            if same and actions[closed.action].verb == CLOSED and closed.start < opened.start:
                first, last = closed.start, max(opened.end, closed.end)
                opened.start, opened.end = first, first + opened.length
                closed.start, closed.end = last - closed.length, last


def _stamp(spans: list[Span], length: float, rng: np.random.Generator) -> list[Span]:
    """Two decimals; nothing shorter than a frame or two; some ends run over the video's, as people stamp them."""
    for span in spans:
        span.start = round(max(span.start, 0.0), 2)
        span.end = round(min(max(span.end, span.start + PAUSE), length), 2)
        if span.end - span.start < PAUSE:
            span.start = max(round(span.end - SHORTEST, 2), 0.0)
        if rng.random() < BEYOND and length - span.end < 0.05:
            span.end = float(ceil(length))
    return sorted(spans, key=lambda s: (s.start, s.end, s.action))
