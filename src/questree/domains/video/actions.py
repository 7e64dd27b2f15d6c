"""Which action? By length, by order in time, or by the object it is done to; everything here goes by seconds."""

from typing import Any

import numpy as np

from questree.domains.video.atoms import Parts
from questree.domains.video.facts import DEED, Videos
from questree.domains.video.kinds import VIDEO, Frames, Window
from questree.domains.video.objects import open_type
from questree.domains.video.time import between, condition, time_edges, whole
from questree.program import UNKNOWN, Action, Array, Bool, Categories, Node, Object, Op, Relation, Term
from questree.vocabulary.words import Vocabulary

MARGIN = 7.0  # seconds two lengths must differ by
NEAR = 5.0  # seconds around the edge of a window in which a second action makes "first" or "last" unclear
SLACK = 1.0  # seconds an action may end before the window and still count as going on


def pick(world: Videos, row: Array, instance: Array, order: Array, margin: float = 0.0) -> Array:
    """[row] the action of the instance with the smallest `order`; UNKNOWN if there is none or the runner-up is near."""
    ranked = np.lexsort((order, row))
    row, instance, order = row[ranked], instance[ranked], order[ranked]
    begin = np.searchsorted(row, np.arange(len(world)))
    size = np.searchsorted(row, np.arange(len(world)), side="right") - begin
    order, action = np.append(order, [0.0, 0.0]), np.append(world.instances["action"][instance], 0)
    clear = (size == 1) | (order[np.minimum(begin + 1, len(order) - 1)] - order[begin] > margin)
    return np.where((size > 0) & clear, action[begin], UNKNOWN)


def only_action(world: Videos, row: Array, instance: Array) -> Array:
    """[row] the action of the only candidate instance."""
    count = np.bincount(row, minlength=len(world))
    return np.where(count == 1, pick(world, row, instance, np.zeros(len(row)), margin=-1.0), UNKNOWN)


def frame_actions(world: Videos, lo: Array, hi: Array) -> Array:
    """[row] how many different actions are seen on frames lo <= f < hi."""
    row, instance = world.pairs()
    first, last = world.instances["first"][instance], world.instances["last"][instance]
    seen = (first < hi[row]) & (last >= lo[row])
    keys = np.unique(row[seen] * DEED + world.instances["action"][instance[seen]])
    return np.bincount(keys // DEED, minlength=len(world))


def frames_near(world: Videos, window: Array, first: bool) -> tuple[Array, Array]:
    """[row] the frames of the window within NEAR seconds of its first or last frame."""
    lo, hi = window[:, 0], window[:, 1]
    if first:
        return lo, np.minimum(hi, world.frames_until(world.seconds_at(lo) + NEAR, side="right"))
    return np.maximum(lo, world.frames_until(world.seconds_at(hi - 1) - NEAR, side="left")), hi


def from_start(world: Videos, window: Array) -> Array:
    """[row] seconds from which actions count: the window's first frame less SLACK; 0 at the start of the video."""
    lo = window[:, 0]
    return np.where(lo == 0, 0.0, world.seconds_at(lo) - SLACK)


def last_second(world: Videos, window: Array) -> Array:
    return world.seconds_at(window[:, 1] - 1)


def candidates(world: Videos, keep: Any) -> tuple[Array, Array]:
    """Every (row, instance) for which keep(row, instance) is true."""
    row, instance = world.pairs()
    kept = keep(row, instance)
    return row[kept], instance[kept]


def going_on(world: Videos, window: Array) -> tuple[Array, Array]:
    """(row, instance): what has not ended when the window begins."""
    start = from_start(world, window)
    return candidates(world, lambda row, i: world.instances["end"][i] >= start[row])


def ended(world: Videos, window: Array) -> tuple[Array, Array]:
    """(row, instance): what has ended before the window's last frame; everything, if that is the video's last."""
    stop = np.where(window[:, 1] == world.frames, np.inf, last_second(world, window))
    return candidates(world, lambda row, i: world.instances["end"][i] < stop[row])


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
    """The only action that has not ended when the window begins."""
    crowded = frame_actions(world, window[:, 0], window[:, 0] + 1) > 1
    found = only_action(world, *going_on(world, window))
    return np.where(crowded | (window[:, 1] == window[:, 0]), UNKNOWN, found)


@VIDEO.operator(ask="What is the person doing{window}", phrase="the action they do{window}", **RECOGNISE)
def action_before(world: Videos, window: Window) -> Action:
    """The only action that has ended when the window ends."""
    crowded = frame_actions(world, window[:, 1] - 1, window[:, 1]) > 1
    found = only_action(world, *ended(world, window))
    return np.where(crowded | (window[:, 1] == window[:, 0]), UNKNOWN, found)


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
    crowded = frame_actions(world, *frames_near(world, window, first=True)) > 1
    start = from_start(world, window)
    row, instance = candidates(world, lambda row, i: world.instances["start"][i] >= start[row])
    found = pick(world, row, instance, world.instances["start"][instance])
    return np.where(crowded | (window[:, 1] == window[:, 0]), UNKNOWN, found)


@VIDEO.operator(
    ask="What is the last action that the person does{window}",
    phrase="the last action they do{window}",
    type="Last Action",
    label="Last",
    parts=lambda vocabulary, window: [("Last", which(window, last=True))],
    **EXTREME,
)
def last_action(world: Videos, window: Window) -> Action:
    """The action that ends last before the window's last frame, when its end shows no second one."""
    crowded = frame_actions(world, *frames_near(world, window, first=False)) > 1
    stop = last_second(world, window)
    row, instance = candidates(world, lambda row, i: world.instances["end"][i] < stop[row])
    found = pick(world, row, instance, -world.instances["end"][instance])
    return np.where(crowded | (window[:, 1] == window[:, 0]), UNKNOWN, found)


def by_length(name: str, time: str, sign: float) -> Op:
    """The operator for the action whose length beats all others by more than MARGIN; another action must be there."""

    def found(world: Videos) -> Action:
        row, instance = world.pairs()
        length = world.instances["end"][instance] - world.instances["start"][instance]
        action = world.instances["action"][instance]
        most, least = np.full(len(world), -1), np.full(len(world), len(world.vocabulary.actions))
        np.maximum.at(most, row, action)
        np.minimum.at(least, row, action)
        return np.where(most > least, pick(world, row, instance, sign * length, MARGIN), UNKNOWN)

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


longest = by_length("longest", "longest", -1.0)
shortest = by_length("shortest", "least", 1.0)


def of_two(name: str, took: str) -> Op:
    """The operator for the longer (or shorter) of two actions that occur once each and differ clearly."""

    def found(world: Videos, a: Action, b: Action) -> Action:
        difference = world.action(a, "length") - world.action(b, "length")
        once = (world.action(a, "count") == 1) & (world.action(b, "count") == 1)
        merged = world.vocabulary.merged_action
        winner = np.where((difference > 0) == (name == "longer"), merged[a], merged[b])
        return np.where(once & (np.abs(difference) > MARGIN), winner, UNKNOWN)

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
    """The only action of the video with this verb done to this object; never one that no reference may stand in."""
    words = world.vocabulary
    row, instance = world.pairs()
    action = world.instances["action"][instance]
    fits = (words.verb_of[action] == words.folded[verb][row]) & (
        words.done_to[action] == words.merged_object[object][row]
    )
    fits &= ~np.isin(action, [words.action_at[name] for name in words.lists.never_localised_actions])
    keys = np.unique(row[fits] * DEED + action[fits])
    row, action = keys // DEED, keys % DEED
    found = np.full(len(world), UNKNOWN)
    found[row] = action
    return np.where(np.bincount(row, minlength=len(world)) == 1, found, UNKNOWN)
