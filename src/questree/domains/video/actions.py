"""Which action? By length, by order in time, or by the object it is done to; everything here goes by seconds."""

from typing import Any

import numpy as np

from questree.domains.video.atoms import Parts
from questree.domains.video.facts import ALWAYS, DEED, NEVER, Videos, moment
from questree.domains.video.kinds import VIDEO, Frames, Window
from questree.domains.video.objects import open_type
from questree.domains.video.time import between, condition, time_edges, whole
from questree.terms import UNKNOWN, Action, Array, Bool, Categories, Node, Object, Op, Relation, Term
from questree.vocabulary.words import Vocabulary

MARGIN = 7.0  # seconds two lengths must differ by
NEAR = 5.0  # seconds around the edge of a window in which a second action makes "first" or "last" unclear
SLACK = 1.0  # seconds before a window in which the start of an action makes "first" unclear


def pick(world: Videos, row: Array, instance: Array, order: Array, margin: int = 0) -> Array:
    """[row] the action of the instance with the smallest `order`; UNKNOWN if there is none or the runner-up is near.

    Nor can it be one that no frame shows: nothing else that is asked would know of it.
    """
    ranked = np.lexsort((order, row))
    row, instance, order = row[ranked], instance[ranked], order[ranked]
    begin = np.searchsorted(row, np.arange(len(world)))
    size = np.searchsorted(row, np.arange(len(world)), side="right") - begin
    shown = world.instances["last"][instance] >= 0
    action = np.append(np.where(shown, world.instances["action"][instance], UNKNOWN), UNKNOWN)
    order = np.append(order, [0, 0])
    clear = (size == 1) | (order[np.minimum(begin + 1, len(order) - 1)] - order[begin] > margin)
    return np.where((size > 0) & clear, action[begin], UNKNOWN)


def only_action(world: Videos, row: Array, instance: Array) -> Array:
    """[row] the action of the only candidate instance."""
    count = np.bincount(row, minlength=len(world))
    return np.where(count == 1, pick(world, row, instance, np.zeros(len(row), np.int64), margin=-1), UNKNOWN)


def bounds(world: Videos, window: Array) -> tuple[Array, Array]:
    """[row] the moments the window lies between; of one that says its frames alone, those of the frames beside it."""
    if window.shape[1] > 2:
        return window[:, 2], window[:, 3]
    lo, hi = window[:, 0], window[:, 1]
    since = np.where(lo == 0, ALWAYS, moment(world.seconds_at(lo - 1)))
    return since, np.where(hi == world.frames, NEVER, moment(world.seconds_at(hi)))


def candidates(world: Videos, keep: Any) -> tuple[Array, Array]:
    """Every (row, instance) for which keep(row, start, end) is true."""
    row, instance = world.pairs()
    kept = keep(row, world.instances["start"][instance], world.instances["end"][instance])
    return row[kept], instance[kept]


def going_on(world: Videos, window: Array) -> tuple[Array, Array]:
    """(row, instance): what is done in the window, or some part of it."""
    since, until = bounds(world, window)
    return candidates(world, lambda row, start, end: (end > since[row]) & (start < until[row]))


def ended(world: Videos, window: Array) -> tuple[Array, Array]:
    """(row, instance): what ends in the window."""
    since, until = bounds(world, window)
    return candidates(world, lambda row, start, end: (end > since[row]) & (end <= until[row]))


def crowded(world: Videos, window: Array, first: bool) -> Array:
    """[row] is more than one action seen within NEAR seconds of the window's beginning, or of its end?

    The action at whose start a window ends counts, as `before` shows its first frame.
    """
    (since, until), near = bounds(world, window), moment(NEAR)
    row, instance = world.pairs()
    start, end = world.instances["start"][instance], world.instances["end"][instance]
    edge = np.full(len(world), NEVER if first else ALWAYS)  # of the whole video: where its actions begin or end
    if first:
        np.minimum.at(edge, row, start)
        edge = np.maximum(edge, since)
        seen = (start < until[row]) & (start <= edge[row] + near) & (end >= edge[row])
    else:
        np.maximum.at(edge, row, end)
        edge = np.minimum(edge, until)
        seen = (start <= edge[row]) & (end >= edge[row] - near)
    seen &= end > since[row]
    keys = np.unique(row[seen] * DEED + world.instances["action"][instance[seen]])
    return np.bincount(keys // DEED, minlength=len(world)) > 1


def empty(window: Array) -> Array:
    return np.asarray(window[:, 1] <= window[:, 0])


def frames_of_answer(world: Videos, value: Array, window: Array) -> Frames:
    return world.doing(value) & world.span(window)


def action_parts(vocabulary: Vocabulary, window: Term) -> Parts:
    """The condition of the time phrase; over the whole video there is nothing to ask."""
    assert isinstance(window, Node)
    if window.op is whole:
        return []
    if window.op is between:
        return [("Between", condition(action)) for action in window.args]
    return time_edges(window, window)[1:]


RECOGNISE: dict[str, Any] = {
    "steps": 1,
    "categories": Categories(("sequencing", "activity-recognition"), "query", "action"),
    "type": lambda vocabulary, window: open_type("Action", window),
    "parts": action_parts,
    "rests": frames_of_answer,
}


@VIDEO.operator(ask="What is the person doing{window}", phrase="the action they do{window}", **RECOGNISE)
def action_after(world: Videos, window: Window) -> Action:
    """The only action that is done in the window, from before it perhaps."""
    return np.where(empty(window), UNKNOWN, only_action(world, *going_on(world, window)))


@VIDEO.operator(ask="What is the person doing{window}", phrase="the action they do{window}", **RECOGNISE)
def action_before(world: Videos, window: Window) -> Action:
    """The only action that is done in the window, if it ends there."""
    found, (row, _) = only_action(world, *going_on(world, window)), ended(world, window)
    return np.where(empty(window) | (np.bincount(row, minlength=len(world)) == 0), UNKNOWN, found)


def which(window: Term, last: bool) -> Node:
    """The open question under first and last: which action is done in this window?"""
    ended_in = last and isinstance(window, Node) and window.op is not whole
    return action_before(window) if ended_in else action_after(window)


EXTREME: dict[str, Any] = {
    "steps": 1,
    "categories": Categories(("superlative", "activity-recognition"), "query", "action"),
    "rests": frames_of_answer,
}


@VIDEO.operator(
    ask="What is the first action that the person does{window}",
    phrase="the first action they do{window}",
    type="First Action",
    label="First",
    parts=lambda vocabulary, window: [("First", which(window, last=False))],
    **EXTREME,
)
def first_action(world: Videos, window: Window) -> Action:
    """The action that starts first in the window, when its beginning shows no second one."""
    (since, until), slack = bounds(world, window), moment(SLACK)
    row, instance = candidates(world, lambda row, start, end: (start >= since[row]) & (start < until[row]))
    found = pick(world, row, instance, world.instances["start"][instance])
    late, _ = candidates(
        world, lambda row, start, end: (start < since[row]) & (start > since[row] - slack) & (end > since[row])
    )
    unclear = crowded(world, window, first=True) | (np.bincount(late, minlength=len(world)) > 0)
    return np.where(unclear | empty(window), UNKNOWN, found)


@VIDEO.operator(
    ask="What is the last action that the person does{window}",
    phrase="the last action they do{window}",
    type="Last Action",
    label="Last",
    parts=lambda vocabulary, window: [("Last", which(window, last=True))],
    **EXTREME,
)
def last_action(world: Videos, window: Window) -> Action:
    """The action that ends last in the window, when its end shows no second one."""
    row, instance = ended(world, window)
    found = pick(world, row, instance, -world.instances["end"][instance])
    return np.where(crowded(world, window, first=False) | empty(window), UNKNOWN, found)


def extreme(world: Videos, row: Array, instance: Array, length: Array, sign: int) -> Array:
    """[row] the action of the instance whose length beats all others by more than MARGIN, of two actions or more."""
    action = world.instances["action"][instance]
    most, least = np.full(len(world), -1), np.full(len(world), len(world.vocabulary.actions))
    np.maximum.at(most, row, action)
    np.minimum.at(least, row, action)
    return np.where(most > least, pick(world, row, instance, sign * length, int(moment(MARGIN))), UNKNOWN)


def lengths(world: Videos, instance: Array) -> Array:
    return np.asarray(world.instances["end"][instance] - world.instances["start"][instance])


def in_all(world: Videos, sign: int) -> Array:
    """[row] the same of what an action's instances last together: one that is done again may be meant so."""
    row, instance = world.pairs()
    shown_first = np.argsort(world.instances["last"][instance] < 0, kind="stable")
    row, instance = row[shown_first], instance[shown_first]
    deeds = row * DEED + world.instances["action"][instance]
    _, one, own = np.unique(deeds, return_index=True, return_inverse=True)
    total = np.zeros(len(one), np.int64)
    np.add.at(total, own, lengths(world, instance))
    return extreme(world, row[one], instance[one], total, sign)


def by_length(name: str, time: str, sign: int) -> Op:
    """The operator for the action that has the longest (or shortest) single time."""

    def found(world: Videos) -> Action:
        row, instance = world.pairs()
        return extreme(world, row, instance, lengths(world, instance), sign)

    found.__doc__ = f"The action instance that lasts {name}, by a clear margin."
    return VIDEO.operator(
        name,
        ask=f"What does the person do for the {name} amount of time",
        phrase={
            "": (f"doing the {name} action", f"doing the thing they did for the {time} time"),
            "present": f"do the {name} action",
            "past": f"did the {name} action",
        },
        steps=2,
        categories=Categories(("superlative", "duration-comparison"), "query", "action"),
        type=f"{name.capitalize()} Action",
    )(found)


longest = by_length("longest", "longest", -1)
shortest = by_length("shortest", "least", 1)
BY_LENGTH = {longest: -1, shortest: 1}  # the sign of the lengths they go by


def lengths_differ(world: Videos, op: Op) -> Array:
    """[row] is the action with the longest (or shortest) single time not that of the most (or least) time in all?"""
    return np.asarray((op.run(world) != in_all(world, BY_LENGTH[op])) & (not world.released_between))


def of_two(name: str, took: str) -> Op:
    """The operator for the longer (or shorter) of two actions that occur once each and differ clearly."""

    def found(world: Videos, a: Action, b: Action) -> Action:
        difference = world.action(a, "length") - world.action(b, "length")
        once = (world.action(a, "count") == 1) & (world.action(b, "count") == 1)
        merged = world.vocabulary.merged_action
        winner = np.where((difference > 0) == (name == "longer"), merged[a], merged[b])
        return np.where(once & (np.abs(difference) > moment(MARGIN)), winner, UNKNOWN)

    found.__doc__, label = f"Which of two actions lasts {name}?", f"{name.capitalize()} Choose"
    return VIDEO.operator(
        name,
        ask=f"Was the person {{a}} or {{b}} for a {name} amount of time",
        phrase={"": f"{{a}} or {{b}}, whichever took {took}", "the": f"for a {name} amount of time than {{b}}"},
        steps=5,
        categories=Categories(("duration-comparison",), "compare", "action"),
        type=label,
        label=label,
        parts=lambda vocabulary, a, b: [(label, condition(a)), (label, condition(b))],
    )(found)


longer = of_two("longer", "longer")
shorter = of_two("shorter", "less time")


def of_two_in(whole_video: Op) -> Op:
    """The same of two actions that are done in a time (AGQA 1.0)."""

    def compare_in(world: Videos, a: Action, b: Action, window: Window) -> Action:
        since, until = bounds(world, window)
        inside = ~empty(window)
        for action in (a, b):
            inside &= (world.action(action, "start") >= since) & (world.action(action, "end") <= until)
        return np.where(inside, whole_video.run(world, a, b), UNKNOWN)

    name = whole_video.name
    compare_in.__doc__ = f"Which of two actions that begin and end in the window lasts {name}?"
    return VIDEO.operator(
        f"{name}_in",
        ask=f"Was the person {{a}} or {{b}} for a {name} amount of time{{window}}",
        phrase={
            "": f"{{a}} or {{b}}, whichever took {name}{{window}}",
            "the": f"for a {name} amount of time than {{b}}{{window}}",
        },
        steps=5,
        categories=Categories(("duration-comparison",), "compare", "action"),
        type=f"{name.capitalize()} Choose",
    )(compare_in)


longer_in, shorter_in = of_two_in(longer), of_two_in(shorter)


@VIDEO.operator(
    ask="Was the person {action} {target:the}",
    target="target",
    categories=Categories((), "compare", "action"),
    type="Action Equals",
    label="Equals",
    parts=lambda vocabulary, action, target: [("Equals", condition(action)), ("Equals", target)],
)
def same_action(world: Videos, action: Action, target: Action) -> Bool:
    """The action is the one the length choice gives."""
    merged = world.vocabulary.merged_action
    return np.asarray(merged[action] == merged[target])


@VIDEO.operator(
    phrase={"": "{verb} {object:a}", "present": "{verb:present} {object:a}", "past": "{verb:past} {object:a}"},
    reference_steps=0,
)
def to_action(world: Videos, verb: Relation, object: Object) -> Action:
    """The only action with this verb done to this object, else at or with it; never one that no reference stands in."""
    words = world.vocabulary
    row, instance = world.pairs()
    action = world.instances["action"][instance]
    fits = (words.verb_of[action] == words.folded[verb][row]) & (
        words.object_of[action] == words.merged_object[object][row]
    )
    fits &= ~np.isin(action, words.never_localised) & (world.instances["last"][instance] >= 0)
    done_to = words.done_to[action] == words.object_of[action]
    fits &= done_to | ~np.isin(row, row[fits & done_to])
    keys = np.unique(row[fits] * DEED + action[fits])
    row, action = keys // DEED, keys % DEED
    found = np.full(len(world), UNKNOWN)
    found[row] = action
    return np.where(np.bincount(row, minlength=len(world)) == 1, found, UNKNOWN)
