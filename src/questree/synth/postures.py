"""Standing, sitting, lying: where the body is while the hands are busy."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from questree.synth.habits import Habits, Role
from questree.synth.spans import Span, keep_apart, squeeze

LEAST = 4.0  # seconds on a seat
AT_A_TABLE = ("c011", "c059")  # sitting at a table and in a chair are one sitting


@dataclass(frozen=True)
class Rest:
    posture: str  # "sitting on", "lying on", "standing on"
    object: int
    start: float
    end: float


def lay_postures(spans: Sequence[Span], length: float, habits: Habits, rng: np.random.Generator) -> list[Rest]:
    """Put going down, resting, getting up and walking into an order a body can follow; the rests that result."""
    by_role = {role: [s for s in spans if habits.role[s.action] == role] for role in Role}
    groups = _groups(by_role[Role.SEAT], habits)
    resting = bool(groups or by_role[Role.DOWN] or by_role[Role.UP])
    low, high = _feet(by_role[Role.WALK], length) if resting else (0.0, length)
    low, high = _between(by_role[Role.DOWN], by_role[Role.UP], groups, low, high)
    _share_out(groups, low, high, bool(by_role[Role.DOWN]), bool(by_role[Role.UP]))
    rests = [_rest(span, habits) for group in groups for span in group]
    lying = next((s for s in by_role[Role.SEAT] if _posture(s, habits) == "lying on"), None)
    for awaken in by_role[Role.AWAKEN]:
        squeeze([awaken], *((lying.start, lying.end) if lying else (0.0, high)))
    if not groups:
        rests += _unnamed(by_role, low, high, habits, rng)
    sat_at = [s for s in by_role[Role.SEAT] if s.action == habits.ids[AT_A_TABLE[0]]]
    if sat_at and len(by_role[Role.SEAT]) == 1 and rng.random() < 0.6:
        rests.append(Rest("sitting on", habits.words.object_at["chair"], sat_at[0].start, sat_at[0].end))
    return rests


def _groups(seats: Sequence[Span], habits: Habits) -> list[list[Span]]:
    """Seats in order of time, those used at the same time together."""
    table = {habits.ids[name] for name in AT_A_TABLE}
    key = {s.action: (-1 if s.action in table else s.action) for s in seats}
    first = {k: min(s.start for s in seats if key[s.action] == k) for k in key.values()}
    ordered = sorted(seats, key=lambda s: (first[key[s.action]], key[s.action]))
    return [list(group) for _, group in groupby(ordered, key=lambda s: key[s.action])]


def _feet(walks: Sequence[Span], length: float) -> tuple[float, float]:
    """When the person need not be on their feet: after early and before late walks."""
    early = [w for w in walks if w.start + w.end < length]
    late = [w for w in walks if w.start + w.end >= length]
    for walk in early:
        squeeze([walk], 0.0, 0.25 * length)
    for walk in late:
        squeeze([walk], 0.75 * length, length)
    keep_apart(early, 0.0, 0.25 * length)
    keep_apart(late, 0.75 * length, length)
    return max((w.end for w in early), default=0.0), min((w.start for w in late), default=length)


def _between(
    downs: Sequence[Span], ups: Sequence[Span], groups: list[list[Span]], low: float, high: float
) -> tuple[float, float]:
    """Going down comes before the rest and getting up after it; both overlap it, as bodies move slowly."""
    share = (high - low) / (4 if groups else 2)
    squeeze(downs, low, low + share)
    squeeze(ups, high - share, high)
    begin = downs[0].start + 0.3 * downs[0].length if downs else low
    end = ups[0].start + 0.7 * ups[0].length if ups else high
    return begin, max(end, begin)


def _share_out(groups: list[list[Span]], low: float, high: float, down: bool, up: bool) -> None:
    """One seat after the other between low and high, as long as drawn or, beside going down or getting up, up to it."""
    if not groups:
        return
    total = sum(max(s.length for s in group) for group in groups)
    begin = low if down else min(max(min(s.start for s in groups[0]), low), max(high - LEAST * len(groups), low))
    scale = (high - begin) / total if total > high - begin or (down and up) else 1.0
    for place, group in enumerate(groups):
        end = begin + max(s.length for s in group) * scale
        end = high if up and place == len(groups) - 1 else end
        for span in group:
            span.start, span.end = begin, min(end, high)
        begin = end


def _posture(span: Span, habits: Habits) -> str:
    name: str = habits.words.relations[habits.words.verb_of[span.action]].name
    return name


def _rest(span: Span, habits: Habits) -> Rest:
    return Rest(_posture(span, habits), int(habits.words.noun_of[span.action]), span.start, span.end)


def _unnamed(
    by_role: dict[Role, list[Span]], low: float, high: float, habits: Habits, rng: np.random.Generator
) -> list[Rest]:
    """Who awakens has lain, who sits down or gets up has a seat, though no action names it."""
    if by_role[Role.AWAKEN]:
        awaken = by_role[Role.AWAKEN][0]
        named = int(habits.words.noun_of[awaken.action])
        return [Rest("lying on", named if named >= 0 else habits.words.object_at["bed"], 0.0, awaken.end)]
    if by_role[Role.DOWN] or by_role[Role.UP]:
        seats, chances = zip(*habits.seats, strict=True)
        return [Rest("sitting on", int(rng.choice(seats, p=chances)), low, high)]
    return []
