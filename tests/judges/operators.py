"""The judge: what programs about videos mean, with plain sets and loops over one video, written from the papers.

Nothing here looks at the operators' own code. Numbers in brackets are sections of the description of AGQA (answers 6.2,
windows 4, truth of sub-questions 13.2). Words are vocabulary ids; what has no answer raises `Undefined`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from judges.action_seconds import Unseen, ends_last, in_order, only_finished, only_one, starts_first
from judges.facts import (
    ACTIONS,
    ANNOTATED,
    INTERACTING,
    OBJECTS,
    RELATIONS,
    WORDS,
    Frames,
    Undefined,
    Video,
    Window,
    after,
    before,
    between,
    counted,
    during,
    exists,
    folded,
    happening,
    merged,
    named,
    noun,
    once,
    pair,
    seen,
    the_one,
    things,
)
from questree.terms import BOOL, Node, Slot, Term, Word

LISTS: dict[str, Any] = {"object": WORDS.objects, "relation": WORDS.relations, "action": WORDS.actions}


def meaning(term: Term, video: Video, slots: Mapping[str, int]) -> Any:
    """The value of a program: a set of frames, an id, a set of ids, True or False, "before" or "after"."""
    if isinstance(term, Slot):
        return LISTS[term.kind.name][slots[term.name]].id
    if isinstance(term, Word):
        name = "phrase" if term.kind.name == "action" else "name"
        return next(word.id for word in LISTS[term.kind.name] if term.name in (word.id, getattr(word, name)))
    values = [meaning(arg, video, slots) for arg in term.args]
    for at, (want, arg) in enumerate(zip(term.op.params.values(), term.args, strict=True)):
        if want == BOOL and arg.kind != BOOL:
            values[at] = bool(values[at])  # "when?" asked as "ever?"
    return MEANINGS[term.op.name](video, *values)


def verdict(node: Node, video: Video, slots: Mapping[str, int]) -> str | None:
    """The printed answer (6.1), None if there is none."""
    try:
        value = meaning(node, video, slots)
    except Undefined:
        return None
    if isinstance(value, (bool, set)):
        return "yes" if value else "no"
    if value in ACTIONS:
        return ACTIONS[value].phrase
    return OBJECTS[value].name if value in OBJECTS else str(value)


# Before or after (6.2, 13.3)


def one_side(video: Video, support: Frames, action: str) -> str:
    """On exactly one side of the action's only instance, and not during it."""
    only = once(video, action).frames
    early, late = {f for f in support if f < only[0]}, {f for f in support if f > only[-1]}
    if support & set(only) or bool(early) == bool(late):
        raise Undefined
    return "before" if early else "after"


def action_order(video: Video, a: str, b: str) -> str:
    mine, other, apart = once(video, a).frames, once(video, b).frames, in_order(video.done, counted(a), counted(b))
    about = pair(a)
    traces = seen(video, *about) if about else set()
    if apart == "before" and mine[-1] < other[0] and not any(f > other[-1] for f in traces):
        return "before"
    if apart == "after" and mine[0] > other[-1] and not any(f <= other[0] for f in traces):
        return "after"
    raise Undefined


def instance_order(video: Video, a: str, b: str) -> str:
    """As in edition 1.0 (0.1.10): whatever is seen of its pair."""
    mine, other, apart = once(video, a).frames, once(video, b).frames, in_order(video.done, counted(a), counted(b))
    if apart == "before" and mine[-1] < other[0]:
        return "before"
    if apart == "after" and mine[0] > other[-1]:
        return "after"
    raise Undefined


# Which relation (5.2)


def first_done_to(video: Video, thing: str) -> str:
    """The only relation that is not spatial on the first frame with the thing, annotated or related to (3.0)."""
    there = exists(video, thing)
    if not there:
        raise Undefined
    facts = video.facts[min(there)]
    return the_one({r for r, o in facts if o == merged(thing) and RELATIONS[r].group in ("contact", "verb")})


# Which object (6.2)


def objects(video: Video, relation: str, window: Frames) -> set[str]:
    return {thing for frame in window for thing in things(video, relation, frame)}


def first(video: Video, relation: str, window: Frames) -> str:
    """f1 the first frame with the relation, f2 the next without it; the only object of f1..f2."""
    holds = seen(video, relation) & window
    if not holds:
        raise Undefined
    f1 = min(holds)
    stops = {f for f in window if f > f1} - holds
    if not stops:
        raise Undefined
    return the_one(objects(video, relation, {f for f in window if f1 <= f <= min(stops)}))


def last(video: Video, relation: str, window: Frames) -> str:
    """The mirror image; as released it needs two frames, and goes two frames of the window further back."""
    holds = seen(video, relation) & window
    if not holds or (video.released_last and len(holds) < 2):
        raise Undefined
    l1 = max(holds)
    stops = {f for f in window if f < l1} - holds
    if not stops:
        raise Undefined
    l0 = max(stops) - 2 if video.released_last else max(stops)
    return the_one(objects(video, relation, {f for f in window if l0 <= f <= l1}))


def either(video: Video, relation: str, window: Frames, a: str, b: str, direction: int) -> str:
    """The option seen first (or last, direction -1), unless its run never stops or shows the other one too."""
    options = {merged(a), merged(b)}
    line = sorted(window, reverse=direction < 0)
    hits = [f for f in line if things(video, relation, f) & options]
    if not hits or (direction < 0 and video.released_last and len(hits) < 2):
        raise Undefined
    item = the_one(things(video, relation, hits[0]) & options) if len(options) == 2 else the_one(set())
    run = line[line.index(hits[0]) :]
    stops = [f for f in run if item not in things(video, relation, f)]
    if not stops or options <= objects(video, relation, set(run[: run.index(stops[0]) + 1])):
        raise Undefined
    return item


def choose(video: Video, relation: str, window: Frames, a: str, b: str) -> str:
    if {merged(a), merged(b)} <= objects(video, relation, window):
        raise Undefined
    return either(video, relation, window, a, b, 1)


# Which action (6.2): by seconds


def by_seconds(how: Callable[..., str | None]) -> Callable[[Video, Window], str]:
    """The answer of a judge that knows no frames; a window without frames is no time to ask about."""

    def found(video: Video, window: Window) -> str:
        answer = how(video.done, window.since, window.until) if window else None
        if answer is None or isinstance(answer, Unseen):
            raise Undefined
        return answer

    return found


action_after, action_before = by_seconds(only_one), by_seconds(only_finished)
first_action, last_action = by_seconds(starts_first), by_seconds(ends_last)


def extreme(video: Video, sign: int) -> str:
    """Longest (sign 1) or shortest (-1) instance, by more than 7 seconds, and another action is there."""
    line = sorted(((end - start, action) for action, start, end in video.done), key=lambda each: -sign * each[0])
    if len({action for _, action in line}) < 2 or abs(line[0][0] - line[1][0]) <= 7 or isinstance(line[0][1], Unseen):
        raise Undefined
    return line[0][1]


def extreme_in_all(video: Video, sign: int) -> str:
    """The same of the sum of each action's instances."""
    sums: dict[str, float] = {}
    for action, start, end in video.done:
        sums[action] = sums.get(action, 0.0) + end - start
    line = sorted(sums, key=lambda action: -sign * sums[action])
    shown = {instance.action for instance in video.instances}
    if len(line) < 2 or abs(sums[line[0]] - sums[line[1]]) <= 7 or line[0] not in shown:
        raise Undefined
    return line[0]


def compared(video: Video, a: str, b: str, sign: int) -> str:
    lead = sign * (once(video, a).length - once(video, b).length)
    if abs(lead) <= 7:
        raise Undefined
    return counted(a) if lead > 0 else counted(b)


def compared_in(video: Video, a: str, b: str, sign: int, window: Window) -> str:
    """The same of two actions that begin and end in a time; a time without frames is no time to ask about. One that is
    no stretch of seconds has their frames."""
    done = [once(video, x) for x in (a, b)]
    if window.since < window.until:
        inside = all(window.since <= each.start and each.over <= window.until for each in done)
    else:
        inside = all({*each.frames} <= window for each in done)
    if not (window and inside):
        raise Undefined
    return compared(video, a, b, sign)


def to_action(video: Video, verb: str, thing: str) -> str:
    """The only action of the video with this verb and object; never taking something from a box (5.3). If it is done to
    none like that, the object may be its place or tool."""
    verbed = {i.action for i in video.instances if folded(ACTIONS[i.action].verb) == folded(verb)} - {"c044"}
    done_to = {action for action in verbed if pair(action) == (folded(verb), merged(thing))}
    return the_one(done_to or {action for action in verbed if named(action) == merged(thing)})


MEANINGS: dict[str, Callable[..., Any]] = {
    "both": lambda video, a, b: a and b,
    "but_not": lambda video, a, b: a and not b,
    "verb_of": lambda video, action: folded(ACTIONS[counted(action)].verb),
    "noun_of": lambda video, action: the_one({noun(action)} - {""}),
    "exists": exists,
    "doing": seen,
    "interaction": lambda video, relation, thing: seen(video, relation, merged(thing)),
    "interacting": lambda video, thing: seen(video, INTERACTING, thing),  # a merged-away class is never seen (12.19)
    "happening": happening,
    "first_done_to": first_done_to,
    "whole": lambda video: video.frames,
    "before": before,
    "after": after,
    "while": during,
    "between": between,
    "within": lambda video, event, window: event & window,
    "relation_order": lambda video, relation, action: one_side(video, seen(video, relation), action),
    "object_order": lambda video, thing, action: one_side(video, seen(video, INTERACTING, thing), action),
    "action_order": action_order,
    "instance_order": instance_order,
    "objects": objects,
    "annotated": lambda video, window: objects(video, ANNOTATED, window),
    "only": lambda video, found: the_one(found),
    "first": first,
    "last": last,
    "equals": lambda video, thing, target: merged(thing) == merged(target),
    "among": lambda video, thing, found: merged(thing) in found,
    "choose_first": lambda video, relation, window, a, b: either(video, relation, window, a, b, 1),
    "choose_last": lambda video, relation, window, a, b: either(video, relation, window, a, b, -1),
    "choose": choose,
    "action_after": action_after,
    "action_before": action_before,
    "first_action": first_action,
    "last_action": last_action,
    "longest": lambda video: extreme(video, 1),
    "shortest": lambda video: extreme(video, -1),
    "longer": lambda video, a, b: compared(video, a, b, 1),
    "shorter": lambda video, a, b: compared(video, a, b, -1),
    "longer_in": lambda video, a, b, window: compared_in(video, a, b, 1, window),
    "shorter_in": lambda video, a, b, window: compared_in(video, a, b, -1, window),
    "same_action": lambda video, action, target: counted(action) == counted(target),
    "to_action": to_action,
}
