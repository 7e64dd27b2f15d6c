"""Time localisers: windows of frames around actions, what happens inside them, and before-or-after questions."""

from typing import Any

import numpy as np

from questree.domains.logic import UNTIMED
from questree.domains.video.atoms import Parts, happening, interacting, interaction
from questree.domains.video.atoms import doing as doing_something
from questree.domains.video.facts import ALWAYS, ANY, NEVER, Bits, Videos, anywhere, span
from questree.domains.video.kinds import VIDEO, Frames, Order, Window, window
from questree.readings.parts import node_type, parts
from questree.terms import UNKNOWN, Action, Array, Categories, Node, Object, ProgramError, Relation, Term
from questree.vocabulary.words import Vocabulary


def condition(action: Term) -> Node:
    """The question whether (or which) the action of a time phrase happens."""
    if not isinstance(action, Node):
        return happening(action)
    return interaction(*action.args) if action.op.name == "to_action" else action


def event_of(action: Term) -> Node:
    """The action as something that has its time: what a condition says, or that the longest action is going on."""
    return found if (found := condition(action)).kind.yes else happening(action)


def base(event: Node) -> Node:
    """The question under an event in a window: of an action that is only described, which one it is."""
    described = event.op is happening and isinstance(event.args[0], Node)
    return condition(event.args[0]) if described else event


# A time phrase brings its own space: over the whole video it is empty, and patterns must read well when filled.
@VIDEO.operator(phrase="")
def whole(world: Videos) -> Window:
    """Every annotated frame."""
    return window(np.zeros(len(world), np.int64), world.frames, ALWAYS, NEVER)


@VIDEO.operator(phrase=" before {action}", steps=2, label="Before")
def before(world: Videos, action: Action) -> Window:
    """Up to and including the first frame of the action's first instance; up to its start."""
    first, start = world.action(action, "lo"), world.action(action, "start")
    return window(np.zeros(len(world), np.int64), first + 1, ALWAYS, start, world.action(action, "count") > 0)


@VIDEO.operator(phrase=" after {action}", steps=2, label="After")
def after(world: Videos, action: Action) -> Window:
    """Strictly after the last frame of the action's first instance; from its end."""
    behind, end = world.action(action, "hi"), world.action(action, "end")
    return window(behind, world.frames, end, NEVER, world.action(action, "count") > 0)


@VIDEO.operator("while", phrase=" while {action}", steps=2, label="While")
def during(world: Videos, action: Action) -> Window:
    """From the first to the last frame of the action's first instance."""
    return window(*(world.action(action, bound) for bound in ("lo", "hi", "start", "end")))


@VIDEO.operator(phrase={"": (" between {a} and {b}", " before {b} but after {a}")}, steps=3, label="Between")
def between(world: Videos, a: Action, b: Action) -> Window:
    """Strictly after the first instance of one action and strictly before the first instance of another."""
    both = (world.action(a, "count") > 0) & (world.action(b, "count") > 0)
    end, start = world.action(a, world.between_from + "end"), world.action(b, "start")
    return window(world.action(a, world.between_from + "hi"), world.action(b, "lo"), end, start, both)


def localised(event: Node, window: Term) -> Node:
    """The event inside the window; over the whole video it is the event itself."""
    return event if isinstance(window, Node) and window.op is whole else within(event, window)


def time_edges(event: Node, window: Term) -> Parts:
    """The time label -> the event and its condition; between -> after the one, before the other."""
    if not isinstance(window, Node):
        raise ProgramError("a time slot has no sub-questions; fill it with a window first")
    if window.op is between:
        return [("Between", within(event, after(window.args[0]))), ("Between", within(event, before(window.args[1])))]
    return [(window.op.label, base(event)), (window.op.label, condition(window.args[0]))]


def within_parts(vocabulary: Vocabulary, event: Node, window: Term) -> Parts:
    """Time edges, and for an interaction its yes/no parts asked again inside the same window."""
    if isinstance(window, Node) and window.op is whole:
        return [(edge.label, edge.part) for edge in parts(event, vocabulary)]
    if node_type(event, vocabulary) != "Interaction":
        return time_edges(event, window)
    paired = [edge.part for edge in parts(event, vocabulary) if edge.part.kind.yes]
    return time_edges(event, window) + [("Interaction", within(part, window)) for part in paired]


def within_type(vocabulary: Vocabulary, event: Node, window: Term) -> str:
    if isinstance(window, Node) and window.op is whole:
        return node_type(event, vocabulary)
    subject = "Interaction" if node_type(event, vocabulary) == "Interaction" else "Exists"
    return f"{subject} {window.op.label}" if isinstance(window, Node) else subject


@VIDEO.operator(
    ask="{event:asked in a time}{window}",
    phrase={"": "{event}{window}", UNTIMED: "{event:asked in a time}"},
    type=within_type,
    parts=within_parts,
    focus=lambda world, value, event, window: world.span(window),
)
def within(world: Videos, event: Frames, window: Window) -> Frames:
    """The frames of the event that lie inside the window."""
    return event & world.span(window)


def order_parts(event: Node, action: Term) -> Parts:
    return [("Choose", within(event, before(action))), ("Choose", within(event, after(action)))]


def sides(world: Videos, action: Array) -> tuple[Bits, Bits, Bits]:
    """[row, word] the frames strictly before the action's only instance, during it, strictly after it."""
    lo, hi = world.action(action, "lo"), world.action(action, "hi")
    zero = np.zeros(len(world), np.int64)
    return span(zero, lo, world.words), span(lo, hi, world.words), span(hi, world.frames, world.words)


def side_of(world: Videos, support: Bits, action: Array) -> Array:
    """[row] 0 before, 1 after: the support lies on exactly one side and not during the action, which occurs once."""
    early, middle, late = (anywhere(support & frames) for frames in sides(world, action))
    known = (world.action(action, "count") == 1) & ~middle & (early != late)
    return np.where(known, late, UNKNOWN)


COMPARE: dict[str, Any] = {"steps": 5, "type": "Choose", "label": "Choose"}


@VIDEO.operator(
    ask=(
        "Is the person {relation:head} {relation:something}{relation:rest} before or after {action}",
        "{relation:Did they} {relation:something} before or after {action}",
    ),
    categories=Categories(("rel-act", "sequencing"), "compare", "relation"),
    parts=lambda vocabulary, relation, action: order_parts(doing_something(relation), action),
    rests=lambda world, value, relation, action: world.track(world.vocabulary.folded[relation], ANY),
    **COMPARE,
)
def relation_order(world: Videos, relation: Relation, action: Action) -> Order:
    """Is the relation (to anything) before or after the action?"""
    return side_of(world, world.track(world.vocabulary.folded[relation], ANY), action)


@VIDEO.operator(
    ask=(
        "Is the person interacting with {object:a} before or after {action}",
        "Did they interact with {object:a} before or after {action}",
    ),
    categories=Categories(("obj-act", "sequencing"), "compare", "object"),
    parts=lambda vocabulary, object, action: order_parts(interacting(object), action),
    rests=lambda world, value, object, action: interacting.run(world, object),
    **COMPARE,
)
def object_order(world: Videos, object: Object, action: Action) -> Order:
    """Is the contact with the object before or after the action?"""
    return side_of(world, interacting.run(world, object), action)


def apart(world: Videos, a: Array, b: Array) -> tuple[Array, Array]:
    """[row] has the one action ended when the other starts, and the other way round?"""
    return world.action(a, "end") <= world.action(b, "start"), world.action(b, "end") <= world.action(a, "start")


OF_ACTIONS: dict[str, Any] = {
    "ask": ("Is the person {a} before or after {b}", "Did they {a:present} before or after {b}"),
    "categories": Categories(("sequencing",), "compare", "action"),
    "parts": lambda vocabulary, a, b: order_parts(event_of(a), b),
    "rests": lambda world, value, a, b: world.doing(a),
    **COMPARE,
}


@VIDEO.operator(**OF_ACTIONS)
def action_order(world: Videos, a: Action, b: Action) -> Order:
    """Is one action before or after another? Both occur once; the pair of the first is not seen on the other side."""
    words = world.vocabulary
    early, _, late = sides(world, b)
    frames = world.doing(a)
    counted = words.merged_action[a]
    thing = words.done_to[counted]
    pair = np.where(thing[:, None] >= 0, world.track(words.verb_of[counted], np.maximum(thing, 0)), 0)  # [row, word]
    first_of_b = span(world.action(b, "lo"), world.action(b, "lo") + 1, world.words)
    once = (world.action(a, "count") == 1) & (world.action(b, "count") == 1)
    earlier, later = apart(world, a, b)
    is_before = earlier & ~anywhere(frames & ~early) & ~anywhere(pair & late)
    # `before b` contains b's first frame, so an "after" must not be seen there either
    is_after = later & ~anywhere(frames & ~late) & ~anywhere(pair & (early | first_of_b))
    return np.where(once & (is_before != is_after), is_after, UNKNOWN)


@VIDEO.operator(**OF_ACTIONS)
def instance_order(world: Videos, a: Action, b: Action) -> Order:
    """Is one action before or after another, whatever is seen of its pair? Both occur once (AGQA 1.0)."""
    early, _, late = sides(world, b)
    frames = world.doing(a)
    once = (world.action(a, "count") == 1) & (world.action(b, "count") == 1)
    earlier, later = apart(world, a, b)
    is_before, is_after = earlier & ~anywhere(frames & ~early), later & ~anywhere(frames & ~late)
    return np.where(once & (is_before != is_after), is_after, UNKNOWN)
