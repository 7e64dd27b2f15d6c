"""Which time a phrase means: where it may be read in several ways, what depends on the way is not asked.

*Before*, *after* and *while* an action may mean any of its instances; *between* two actions each of them and the next
one of the other, and the first or the last one of each. Each of these also goes by seconds: *before* without the frame
on which the action begins; an action that is shown by a frame beside it lies between that one and the next. Questions
are answered in one way, with first instances and by frames.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from questree.columns.joins import Ints, ranges, starts
from questree.domains.video import Videos
from questree.domains.video.facts import ALWAYS, DEED, NEVER, moment
from questree.stages.generate.references import AFTER, ALL, BEFORE, BETWEEN, WHILE, Spans

FIRST, LAST = "", "last_"  # prefixes of the columns of an action


@dataclass(frozen=True)
class OtherReadings:
    """The windows that spans with a repeated action may mean besides their own, sorted by span."""

    start: Ints  # [span + 1]
    spans: Spans  # as if each reading were a span


def other_readings(world: Videos, spans: Spans) -> OtherReadings:
    """Windows without a frame are no reading, but while an action that lies before the first frame or beyond the last
    one, though this shows it; nor is there another reading of a time that is read as released."""
    timed = np.flatnonzero((spans.kind != ALL) & (not world.released_between))
    precise, beside = by_seconds(world)
    several = np.zeros(len(timed), bool)
    for action in (spans.a[timed], spans.b[timed]):
        several |= _repeated(world, spans.video[timed], action) | np.isin(spans.video[timed] * DEED + action, beside)
    pair = spans.kind[timed] == BETWEEN
    alone, pairs = timed[(several | (spans.kind[timed] == BEFORE)) & ~pair], timed[several & pair]
    found = [_any_instance(world, spans, alone, 1), _any_instance(precise, spans, alone, 0)]
    found.append(_frame_on_the_other_side(world, precise, spans, alone))
    for each in (world, precise):
        found += [_ends(each, spans, pairs, early, late) for early, late in product((FIRST, LAST), repeat=2)]
        found.append(_neighbours(each, spans, pairs))
    own, *bounds = np.unique(np.concatenate(found, axis=1), axis=1)
    window = np.stack(bounds, axis=1)
    outside = (window[:, 0] == 0) | (window[:, 0] == world.length[spans.video[own]])
    kept = (window[:, 1] > window[:, 0]) | (outside & (spans.kind[own] == WHILE))
    kept &= (window != spans.window[own]).any(1)
    own, window = own[kept], window[kept]
    video, kind, a, b = (getattr(spans, name)[own] for name in ("video", "kind", "a", "b"))
    begin = starts(video, len(world.ids))
    read = Spans(begin, video, kind, a, b, window, spans.objects[own], spans.verbs[own], spans.every)
    return OtherReadings(starts(own, len(spans.video)), read)


def by_seconds(world: Videos) -> tuple[Videos, Ints]:
    """The facts with actions that a frame beside them shows between it and the next one, and the keys of these actions:
    `first` is the frame before which they begin, `last` the one after which they have ended."""
    known, video = world.instances, np.repeat(np.arange(len(world.ids)), np.diff(world.instance_start))
    second, shown = moment(world.ask(video).seconds_at(known["first"])), known["last"] >= 0
    early, late = shown & (second < known["start"]), shown & (second >= known["end"])
    moved = {"first": known["first"] + early, "last": known["last"] - late}
    at = np.flatnonzero(shown)
    key = video[at] * DEED + known["action"][at]
    order = np.argsort(key, kind="stable")
    actions = dict(world.actions)
    begin = np.searchsorted(key[order], world.action_key)
    until = np.searchsorted(key[order], world.action_key, side="right")
    for which, place in ((FIRST, begin), (LAST, until - 1)):
        one = at[order][place]
        for name, shift in (("lo", early[one]), ("hi", -late[one].astype(np.int64))):
            actions[which + name] = actions[which + name] + np.append(shift, 0)
    return replace(world, instances=known | moved, actions=actions), np.unique(key[(early | late)[at]])


def _repeated(world: Videos, video: Ints, action: Ints) -> Ints:
    """[row] is there such an action, and does it occur more than once?"""
    return (action >= 0) & (world.ask(video).action(np.maximum(action, 0), "count") > 1)


def _instances(world: Videos, video: Ints, action: Ints) -> tuple[Ints, Ints]:
    """(row, instance of its action), in the order they start."""
    every = np.repeat(np.arange(len(world.ids)), np.diff(world.instance_start)) * DEED + world.instances["action"]
    order, wanted = np.argsort(every, kind="stable"), video * DEED + action
    row, place = ranges(*(np.searchsorted(every[order], wanted, side=side) for side in ("left", "right")))
    return row, order[place]


def _any_instance(world: Videos, spans: Spans, at: Ints, more: int) -> Ints:
    """Rows span, lo, hi, since, until: before, after or while each instance; `before` has so many more frames."""
    row, instance = _instances(world, spans.video[at], spans.a[at])
    of = at[row]
    lo, hi, start, end = (world.instances[name][instance] for name in ("first", "last", "start", "end"))
    hi, kind = hi + 1, spans.kind[of]
    return np.stack(
        [
            of,
            np.where(kind == BEFORE, 0, np.where(kind == AFTER, hi, lo)),
            np.where(kind == BEFORE, lo + more, np.where(kind == AFTER, world.length[spans.video[of]], hi)),
            np.where(kind == BEFORE, ALWAYS, np.where(kind == AFTER, end, start)),
            np.where(kind == BEFORE, start, np.where(kind == AFTER, NEVER, end)),
        ]
    )


def _frame_on_the_other_side(world: Videos, precise: Videos, spans: Spans, at: Ints) -> Ints:
    """Rows span, lo, hi, since, until: while each instance between two frames, by the one which does not show it."""
    during = at[spans.kind[at] == WHILE]
    row, instance = _instances(world, spans.video[during], spans.a[during])
    early, late = (precise.instances[name][instance] - world.instances[name][instance] for name in ("first", "last"))
    lo = world.instances["first"][instance] + early + late
    kept = (early != late) & (lo >= 0) & (lo < world.length[spans.video[during[row]]])
    start, end = (world.instances[name][instance] for name in ("start", "end"))
    return np.stack([during[row], lo, lo + 1, start, end])[:, kept]


def _ends(world: Videos, spans: Spans, at: Ints, early: str, late: str) -> Ints:
    """Rows span, lo, hi, since, until: between the first or last instance of one action and that of the other."""
    asked = world.ask(spans.video[at])
    since = (asked.action(spans.a[at], early + name) for name in ("hi", "end"))
    until = (asked.action(spans.b[at], late + name) for name in ("lo", "start"))
    (lo, start), (hi, end) = since, until
    return np.stack([at, lo, hi, start, end])


def _neighbours(world: Videos, spans: Spans, at: Ints) -> Ints:
    """Rows span, lo, hi, since, until: between every instance of one action and the next one of the other with a frame
    in between, and between every one of that and the one before it. What is so in these and in the longest time is so
    between any two.
    """
    one, other = (_instances(world, spans.video[at], action[at]) for action in (spans.a, spans.b))
    row, instance = np.concatenate([one, other], axis=1)
    late, known = np.arange(len(row)) >= len(one[0]), world.instances
    order = np.lexsort((~late, np.where(late, known["first"][instance], known["last"][instance] + 1), row))
    row, instance, late, place = row[order], instance[order], late[order], np.arange(len(row))
    early = np.maximum.accumulate(np.where(late, -1, place))
    until = np.minimum.accumulate(np.where(late, place, len(row))[::-1])[::-1]
    pairs = np.stack([early, until], axis=1)[(early >= 0) & (until < len(row))]
    first, last = np.unique(pairs[row[pairs[:, 0]] == row[pairs[:, 1]]], axis=0).T
    of, first, last = at[row[first]], instance[first], instance[last]
    return np.stack([of, known["last"][first] + 1, known["first"][last], known["end"][first], known["start"][last]])
