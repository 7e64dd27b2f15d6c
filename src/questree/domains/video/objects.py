"""Which object? The only, the first or the last one of a relation in a window, and questions that name candidates."""

from collections.abc import Callable
from typing import Any

import numpy as np

from questree.columns.joins import ranges
from questree.columns.sets import has, sets_of, the_one
from questree.domains.video.atoms import INTERACTING, PERSON, Parts, doing, exists, question
from questree.domains.video.facts import ANY, KEY, Videos, anywhere, first_frame, last_frame, span
from questree.domains.video.kinds import VIDEO, Frames, Objects, Window
from questree.domains.video.time import localised
from questree.terms import UNKNOWN, Array, Bool, Categories, Node, Object, Op, Relation, Term
from questree.vocabulary.words import Vocabulary


def objects_between(world: Videos, relation: Array, lo: Array, hi: Array) -> Objects:
    """[row] the set of objects the relation has on frames lo <= f < hi."""
    begin, end = world.tracks_of(world.vocabulary.folded[relation])
    row, track = ranges(begin, end)
    seen = first_frame(world.bits, np.asarray(lo)[row], np.asarray(hi)[row], True, track) >= 0
    return sets_of(row[seen], world.key[track[seen]] % KEY, len(world), len(world.vocabulary.objects))


def support(world: Videos, relation: Array) -> Frames:
    return doing.run(world, relation)


@VIDEO.operator(
    phrase="{relation}{window}",
    steps=1,
    categories=Categories(("obj-rel",), "query", "object"),
    rests=lambda world, value, relation, window: support(world, relation) & world.span(window),
)
def objects(world: Videos, relation: Relation, window: Window) -> Objects:
    """All objects of the relation in the window."""
    return objects_between(world, relation, window[:, 0], window[:, 1])


@VIDEO.operator(
    phrase="interacting with{window}",
    categories=Categories((), "query", "object"),
    rests=lambda world, value, window: world.span(window),
)
def annotated(world: Videos, window: Window) -> Objects:
    """All objects annotated in the window, whatever is done with them."""
    present = np.full(len(world), world.vocabulary.relation_at[world.vocabulary.annotated])
    return objects_between(world, present, window[:, 0], window[:, 1])


def open_type(word: str, window: Term) -> str:
    label = window.op.label if isinstance(window, Node) else ""
    return f"{word} {label}".strip()


def only_parts(vocabulary: Vocabulary, found: Node) -> Parts:
    relation = found.args[0] if found.op is objects else INTERACTING
    return [("Interaction", localised(part, found.args[-1])) for part in (exists(PERSON), doing(relation))]


@VIDEO.operator(
    ask=("What is the person {objects}", "Which object is the person {objects}"),
    phrase={"": ("the object they were {objects}",)},
    steps=1,
    reference_steps=0,  # its set counts the step
    type=lambda vocabulary, found: open_type("Object", found.args[-1]),
    parts=only_parts,
)
def only(world: Videos, objects: Objects) -> Object:
    """The only member of a set of objects."""
    return the_one(objects)


def first_run(world: Videos, relation: Array, window: Array) -> tuple[Array, Array]:
    """[row] the first frames of the window on which the relation holds, lo <= f < hi; -1, -1 if it never stops."""
    at, lo, hi = world.track_at(world.vocabulary.folded[relation], ANY), window[:, 0], window[:, 1]
    begin = first_frame(world.bits, lo, hi, True, at)
    end = first_frame(world.bits, np.where(begin < 0, hi, begin), hi, False, at)
    return np.where(end < 0, -1, begin), end


def twice(world: Videos, bits: Array, window: Array) -> Array:
    """[row] are there at least two such frames in the window?"""
    return np.asarray(np.bitwise_count(bits & world.span(window)).sum(1) >= 2)


def last_run(world: Videos, relation: Array, window: Array) -> tuple[Array, Array]:
    """[row] the mirror image of `first_run`; or, on request, as the released generator widens it."""
    at, lo, hi = world.track_at(world.vocabulary.folded[relation], ANY), window[:, 0], window[:, 1]
    end = last_frame(world.bits, lo, hi, True, at)
    gap = last_frame(world.bits, lo, np.where(end < 0, lo, end), False, at)
    begin = gap + 1
    if world.released_last:  # at least two frames with the relation, and two frames before the gap count too
        begin = np.maximum(gap - 2, lo)
        gap = np.where(twice(world, world.bits[at], window), gap, -1)
    return np.where(gap < 0, -1, begin), np.where(gap < 0, -1, end + 1)


def one_frame(world: Videos, frame: Array) -> Frames:
    return span(frame, np.where(frame < 0, frame, frame + 1), world.words)


Run = Callable[[Videos, Array, Array], tuple[Array, Array]]


def superlative(name: str, run: Run, frame: Callable[[Array, Array], Array], doc: str) -> Op:
    """The operator for the only object of a run of frames with a relation; `frame` of the run shows it."""

    def found(world: Videos, relation: Relation, window: Window) -> Object:
        return the_one(objects_between(world, relation, *run(world, relation, window)))

    found.__doc__, label = doc, name.capitalize()
    return VIDEO.operator(
        name,
        ask=f"Which is the {name} object that the person is {{relation}}{{window}}",
        phrase={
            "": (
                f"the object they were {{relation}} {name}{{window}}",
                f"the {name} thing they {{relation:past}}{{window}}",
            ),
            "the": f"the {name} object that the person is {{relation}}{{window}}",
        },
        steps=2,
        categories=Categories(("superlative", "obj-rel"), "query", "object"),
        type=f"{label} Object",
        label=label,
        parts=lambda vocabulary, relation, window: [(label, only(objects(relation, window)))],
        rests=lambda world, value, relation, window: one_frame(world, frame(*run(world, relation, window))),
    )(found)


OF_RUN = "The only object of the {} run of frames with the relation; the run must {} inside the window."
first = superlative("first", first_run, lambda lo, hi: lo, OF_RUN.format("first", "end"))
last = superlative("last", last_run, lambda lo, hi: hi - 1, OF_RUN.format("last", "begin"))


def if_yes(world: Videos, value: Array, **values: Any) -> Frames:
    """A verified "no" rests on nothing."""
    return np.repeat(np.where(value, ~np.uint64(0), np.uint64(0))[:, None], world.words, axis=1)


VERIFY: dict[str, Any] = {
    "steps": 1,
    "categories": Categories((), "verify", "object"),
    "type": "Object Equals",
    "focus": if_yes,
}


@VIDEO.operator(
    ask="{object:is} {target:the}",
    phrase="{object:a} being {target:the}",
    target="target",
    parts=lambda vocabulary, object, target: [("Equals", question(object)), ("Equals", target)],
    **VERIFY,
)
def equals(world: Videos, object: Object, target: Object) -> Bool:
    """The object is the one that was asked for."""
    merged = world.vocabulary.merged_object
    return np.asarray(merged[object] == merged[target])


@VIDEO.operator(
    ask="{object:is an object} that the person is {objects}",
    phrase="{object:a} being what they are {objects}",
    parts=lambda vocabulary, object, found: [("Equals", question(object)), ("Equals", only(found))],
    **VERIFY,
)
def among(world: Videos, object: Object, objects: Objects) -> Bool:
    """The object is one of a set."""
    return has(objects, world.vocabulary.merged_object[object])


def deciding(world: Videos, item: Array, start: Array, stop: Array, both: Array) -> Array:
    """[row] the item, unless its run never ends (stop < 0) or both options are seen in the run."""
    return np.where((start < 0) | (stop < 0) | both, UNKNOWN, item)


def choice(world: Videos, relation: Array, window: Array, a: Array, b: Array, forward: bool) -> tuple[Array, Array]:
    """[row] the option that comes first (or last), and the frame that decides."""
    words = world.vocabulary
    relation, a, b = words.folded[relation], words.merged_object[a], words.merged_object[b]
    of_a, of_b = world.track(relation, a), world.track(relation, b)
    lo, hi = window[:, 0], window[:, 1]
    seek = first_frame if forward else last_frame
    found = seek(of_a | of_b, lo, hi, True)
    if world.released_last and not forward:
        found = np.where(twice(world, of_a | of_b, window), found, -1)
    at = one_frame(world, found)
    is_a = anywhere(of_a & at)
    own = np.where(is_a[:, None], of_a, of_b)
    begin, end = (found, hi) if forward else (lo, found)
    stop = seek(own, np.where(found < 0, hi, begin), np.where(found < 0, hi, end), False)
    run = span(np.minimum(found, stop), np.maximum(found, stop) + 1, world.words)
    both = anywhere(of_a & run) & anywhere(of_b & run)
    return deciding(world, np.where(is_a, a, b), found, stop, both), found


def choose_parts(target: Any) -> Any:
    def parts(vocabulary: Vocabulary, relation: Term, window: Term, a: Term, b: Term) -> Parts:
        goal = target(relation, window)
        verify = among if goal.op is objects else equals
        return [("Choose", verify(a, goal)), ("Choose", verify(b, goal))]

    return parts


def chosen(forward: bool) -> Any:
    def rests(world: Videos, value: Array, relation: Array, window: Array, a: Array, b: Array) -> Frames:
        return one_frame(world, choice(world, relation, window, a, b, forward)[1])

    return rests


CHOOSE: dict[str, Any] = {"steps": 3, "type": "Choose", "label": "Choose"}


def chosen_by(superlative: Op) -> Op:
    """The operator for which of two objects had the relation first (or last)."""
    name, forward = superlative.name, superlative is first

    def found(world: Videos, relation: Relation, window: Window, a: Object, b: Object) -> Object:
        return choice(world, relation, window, a, b, forward)[0]

    found.__doc__ = f"Which of two objects had the relation {name}?"
    return VIDEO.operator(
        f"choose_{name}",
        ask=f"{{a:is}} or {{b:a}} the {name} object that the person is {{relation}}{{window}}",
        categories=Categories(("superlative", "obj-rel"), "choose", "object"),
        parts=choose_parts(superlative),
        rests=chosen(forward),
        **CHOOSE,
    )(found)


choose_first, choose_last = chosen_by(first), chosen_by(last)


@VIDEO.operator(
    ask=("{a:is} or {b:a} the object that the person is {relation}{window}",),
    categories=Categories(("obj-rel",), "choose", "object"),
    parts=choose_parts(objects),
    rests=chosen(True),
    **CHOOSE,
)
def choose(world: Videos, relation: Relation, window: Window, a: Object, b: Object) -> Object:
    """Which of two objects has the relation in the window, if only one of them does?"""
    found = objects_between(world, relation, window[:, 0], window[:, 1])
    words = world.vocabulary.merged_object
    both = has(found, words[a]) & has(found, words[b])
    return np.where(both, UNKNOWN, choice(world, relation, window, a, b, True)[0])
