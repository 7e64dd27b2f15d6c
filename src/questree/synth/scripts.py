"""The script of one video: which actions it shows, in which order, and when each begins and ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil, erf, sqrt

import numpy as np

from questree.synth.habits import Array, Habits, Rng, Role
from questree.synth.statistics import QUANTILES, Tables
from questree.vocabulary.words import DONE_TO

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


def draw_spans(cast: Sequence[int], length: float, tables: Tables, rng: Rng) -> list[Span]:
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


LEAST = 4.0  # seconds on a seat


@dataclass(frozen=True)
class Rest:
    posture: str  # "sitting on", "lying on", "standing on"
    object: int
    start: float
    end: float


def lay_postures(spans: Sequence[Span], length: float, habits: Habits, rng: Rng) -> list[Rest]:
    """Put going down, resting, getting up and walking into an order a body can follow; the rests that result."""
    by_role = {role: [s for s in spans if habits.role[s.action] == role] for role in Role}
    groups = _groups(by_role[Role.SEAT], habits)
    resting = bool(groups or by_role[Role.DOWN] or by_role[Role.UP])
    low, high = _feet(by_role[Role.WALK], length) if resting else (0.0, length)
    low, high = _between(by_role[Role.DOWN], by_role[Role.UP], groups, low, high)
    _share_out(groups, low, high, bool(by_role[Role.DOWN]), bool(by_role[Role.UP]))
    rests = [
        Rest(_posture(span, habits), _seat(span, habits), span.start, span.end) for group in groups for span in group
    ]
    lying = next((s for s in by_role[Role.SEAT] if _posture(s, habits) == "lying on"), None)
    for awaken in by_role[Role.AWAKEN]:
        squeeze([awaken], *((lying.start, lying.end) if lying else (0.0, high)))
    if not groups:
        rests += _unnamed(by_role, low, high, habits, rng)
    return rests


def _seat(span: Span, habits: Habits) -> int:
    """What a body rests on: what the action names, unless it names the place."""
    named = habits.words.actions[span.action].role == DONE_TO
    return int(habits.words.noun_of[span.action]) if named else habits.words.object_at["chair"]


def _groups(seats: Sequence[Span], habits: Habits) -> list[list[Span]]:
    """Seats in order of time, those used at the same time together."""
    table = {habits.ids[name] for name in habits.lists["at_a_table"]}
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


def _unnamed(by_role: dict[Role, list[Span]], low: float, high: float, habits: Habits, rng: Rng) -> list[Rest]:
    """Who awakens has lain, who sits down or gets up has a seat, though no action names it."""
    if by_role[Role.AWAKEN]:
        awaken = by_role[Role.AWAKEN][0]
        named = int(habits.words.noun_of[awaken.action])
        return [Rest("lying on", named if named >= 0 else habits.words.object_at["bed"], 0.0, awaken.end)]
    if by_role[Role.DOWN] or by_role[Role.UP]:
        seats, chances = zip(*habits.seats, strict=True)
        return [Rest("sitting on", int(rng.choice(seats, p=chances)), low, high)]
    return []


REPEAT = 0.035  # chance that the next action is one that is there already, if one can be repeated
TRIES = 50  # before a video is content with fewer actions
SOCIABLE = 0.8  # how much company counts: at 1 actions that go together would be together too often
COMPLETE = 0.2  # chance that what is held is also taken, and that it is also put away or thrown
PARTNER = 0.25  # chance that an action brings the one it shares verb and object with
ALONE = 0.3  # chance that a taking or putting of something not held is passed over


def draw_cast(tables: Tables, habits: Habits, rng: Rng) -> list[int]:
    """Actions (positions in the vocabulary); one that occurs twice in the list is done twice."""
    number = int(np.searchsorted(tables.counts, rng.random(), side="right"))
    cast: list[int] = []
    for _ in range(number * TRIES):
        if len(cast) >= number:
            break
        again = [a for a in cast if _repeatable(a, cast, habits)] if rng.random() < REPEAT else []
        action = _pick(again, tables.repeats, rng) if again else _next(cast, tables, rng)
        if again or (action not in cast and not _passed_over(action, cast, habits, rng)):
            cast += [action, *_brought(action, cast, tables, habits, rng)]
    return cast[:number]


def _next(cast: list[int], tables: Tables, rng: Rng) -> int:
    """Somebody new, often seen, and often seen with those who are there."""
    likely = np.log(tables.instances) + SOCIABLE * tables.affinity[cast].sum(0)
    likely[cast] = -np.inf
    chances = np.cumsum(np.exp(likely - likely.max()))
    return int(np.searchsorted(chances, rng.random() * chances[-1], side="right"))


def _passed_over(action: int, cast: list[int], habits: Habits, rng: Rng) -> bool:
    held = any(habits.role[a] == Role.HOLD and habits.family[a] == habits.family[action] for a in cast)
    noun = habits.words.noun_of
    holdable = any(r == Role.HOLD and noun[a] == noun[action] for a, r in enumerate(habits.role))
    return habits.role[action] in (Role.TAKE, Role.PUT) and not held and holdable and rng.random() < ALONE


def _brought(action: int, cast: list[int], tables: Tables, habits: Habits, rng: Rng) -> list[int]:
    """The taking and putting that go with a holding of the same thing, or an action's partner."""
    if action in cast:
        return []
    noun, ends = habits.words.noun_of, []
    for role in (Role.TAKE, Role.PUT) if habits.role[action] == Role.HOLD else ():
        same = [a for a, r in enumerate(habits.role) if r == role and noun[a] == noun[action] and a not in cast]
        if same and rng.random() < COMPLETE:
            ends.append(_pick(same, tables.instances, rng))
    partner = habits.partners.get(action)
    return [*ends, partner] if partner is not None and partner not in cast and rng.random() < PARTNER else ends


def _pick(actions: list[int], chances: Array, rng: Rng) -> int:
    weights = chances[actions] + 1e-3
    return int(rng.choice(actions, p=weights / weights.sum()))


def _repeatable(action: int, cast: list[int], habits: Habits) -> bool:
    """Done at most twice; something is taken again only if it was put away."""
    role = habits.role[action]
    if cast.count(action) > 1 or role not in (Role.FREE, Role.USE, Role.WALK, Role.TAKE):
        return False
    family = habits.family[action]
    again = any(cast.count(a) > 1 and habits.family[a] == family for a in cast if habits.role[a] == Role.TAKE)
    put = any(habits.role[a] == Role.PUT and habits.family[a] == family for a in cast)
    return role != Role.TAKE or (put and not again)


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


CHAIN = (Role.TAKE, Role.HOLD, Role.USE, Role.PUT)
BEYOND = 0.3  # chance that the end of an action that lasts to the end is stamped later than the video is long


@dataclass(frozen=True)
class Script:
    length: float
    spans: tuple[Span, ...]  # sorted by start; stamps have two decimals
    rests: tuple[Rest, ...]


def write_script(tables: Tables, habits: Habits, rng: Rng) -> Script:
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


def _seek_company(spans: Sequence[Span], length: float, tables: Tables, habits: Habits, rng: Rng) -> None:
    """Free actions go where the action they are most often seen with is, as often as the two overlap."""
    for span in spans:
        if habits.role[span.action] != Role.FREE:
            continue
        counts = [tables.overlaps[span.action, other.action] if other is not span else 0 for other in spans]
        best = int(np.argmax(counts))
        both = counts[best] + tables.follows[span.action, spans[best].action]
        both += tables.follows[spans[best].action, span.action]
        target, lasting = spans[best], span.length
        apart = span.start >= target.end or target.start >= span.end
        if counts[best] and rng.random() < counts[best] / both and apart:
            begin = rng.uniform(target.start - 0.7 * lasting, target.end - 0.3 * min(lasting, target.length))
            span.start, span.end = begin, begin + lasting
            squeeze([span], 0.0, length)


def _open_before_closing(spans: Sequence[Span], length: float, habits: Habits) -> None:
    """What is opened and closed is opened first: the two change places if need be."""
    actions = habits.words.actions
    for opened in (s for s in spans if actions[s.action].verb in habits.lists["opening"]):
        for closed in spans:
            same = actions[closed.action].object == actions[opened.action].object
            if same and actions[closed.action].verb in habits.lists["closing"] and closed.start < opened.start:
                first, last = closed.start, max(opened.end, closed.end)
                opened.start, opened.end = first, first + opened.length
                closed.start, closed.end = last - closed.length, last


def _stamp(spans: list[Span], length: float, rng: Rng) -> list[Span]:
    """Two decimals; nothing shorter than a frame or two; some ends run over the video's, as people stamp them."""
    for span in spans:
        span.start = round(max(span.start, 0.0), 2)
        span.end = round(min(max(span.end, span.start + PAUSE), length), 2)
        if span.end - span.start < PAUSE:
            span.start = max(round(span.end - SHORTEST, 2), 0.0)
        if rng.random() < BEYOND and length - span.end < 0.05:
            span.end = float(ceil(length))
    return sorted(spans, key=lambda s: (s.start, s.end, s.action))
