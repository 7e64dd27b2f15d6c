"""Taking, then holding and using, then putting: the order of what is done to one thing."""

from collections.abc import Sequence
from itertools import pairwise

from questree.synth.habits import Habits, Role
from questree.synth.spans import PAUSE, Span, gather, keep_apart, squeeze, width

MIDDLE = 5.0  # seconds at least between taking and putting, if something is done then


def lay_chain(spans: Sequence[Span], length: float, habits: Habits) -> None:
    """`spans`: all that is done to things of one family; they stay inside 0..length.

    Without a taking, what is held is held from the beginning; without a putting, to the end of the video."""
    by_role = {role: [s for s in spans if habits.role[s.action] == role] for role in Role}
    takes, again = _second_takes(by_role[Role.TAKE])
    holds, uses, puts = by_role[Role.HOLD], by_role[Role.USE], by_role[Role.PUT]
    if not (takes or holds or puts):
        keep_apart(uses, 0.0, length)
        return
    end = length - (min(again[0].length, length / 4) + PAUSE if again else 0.0)
    low, high = _lay_ends(gather(takes), gather(puts), end, MIDDLE if holds or uses else 2 * PAUSE)
    for hold in holds:
        squeeze([hold], low, high)
        hold.start = low if takes or _known(habits, spans, Role.TAKE) else hold.start
        hold.end = high if puts or _known(habits, spans, Role.PUT) else hold.end
    for use in uses:
        squeeze([use], low, high)
    keep_apart(uses, low, high)
    squeeze(again, end + PAUSE, length)


def _lay_ends(takes: list[Span], puts: list[Span], end: float, least: float) -> tuple[float, float]:
    """Takes before puts with at least `least` seconds between them; when the middle begins and ends."""
    before, after = width(takes), width(puts)
    scale = min(1.0, end / (before + least + after))  # no room: everything becomes shorter
    before, least, after = before * scale, least * scale, after * scale
    low = max((s.end for s in takes), default=0.0)
    high = min((s.start for s in puts), default=end)
    short = max(least - (high - low), 0.0) / 2
    low = min(max(low - short, before), end - after - least) if takes else 0.0
    high = min(max(high + short, low + least), end - after) if puts else end
    squeeze(takes, 0.0, low)
    squeeze(puts, high, end)
    pause = min(PAUSE, least / 4)
    return low + pause * bool(takes), high - pause * bool(puts)


def _second_takes(takes: list[Span]) -> tuple[list[Span], list[Span]]:
    """The later of two takings of the same thing comes after everything else."""
    ordered = sorted(takes, key=lambda s: (s.action, s.start))
    again = [later for first, later in pairwise(ordered) if first.action == later.action]
    return [s for s in takes if s not in again], again


def _known(habits: Habits, spans: Sequence[Span], role: Role) -> bool:
    """Whether the vocabulary has such an action for this family at all."""
    family = habits.family[spans[0].action]
    return any(r == role and f == family for r, f in zip(habits.role, habits.family, strict=True))
