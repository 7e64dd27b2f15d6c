"""What is in a frame: objects, relations, interactions, actions; each says on which frames it holds."""

import numpy as np

from questree.columns.sets import FEW
from questree.domains.video.facts import ANY, Videos, anywhere, first_frame, span
from questree.domains.video.kinds import VIDEO, Frames
from questree.terms import (
    OBJECT,
    RELATION,
    UNKNOWN,
    Action,
    Array,
    Categories,
    Node,
    Object,
    Relation,
    Slot,
    Term,
    Word,
)
from questree.vocabulary.words import NONE, Vocabulary

PERSON = Word("person", OBJECT)
INTERACTING = Word("interacting with", RELATION)
Parts = list[tuple[str, Node]]


def question(object: Term) -> Node:
    """The sub-question behind an object: a reference asks itself, a plain word must exist."""
    return object if isinstance(object, Node) and object.op is not noun_of else exists(object)


def interaction_parts(relation: Term, object: Term) -> Parts:
    return [("Interaction", part) for part in (exists(PERSON), doing(relation), question(object))]


def action_parts(vocabulary: Vocabulary, action: Term) -> Parts:
    """Who, which verb, which noun; an action without an object only needs somebody to do it."""
    if alone(vocabulary, action):
        return [("Interaction", exists(PERSON))]
    if not isinstance(action, Word):
        return interaction_parts(verb_of(action), noun_of(action))
    at = vocabulary.action_at[action.name]
    verb = Word(vocabulary.relations[vocabulary.verb_of[vocabulary.merged_action[at]]].name, RELATION)
    return interaction_parts(verb, Word(vocabulary.objects[vocabulary.noun_of[at]].name, OBJECT))


def alone(vocabulary: Vocabulary, action: Term) -> bool:
    """Does the action name no object? A slot says so itself; a reference (the longest action) never names one."""
    if isinstance(action, Word):
        return bool(vocabulary.noun_of[vocabulary.action_at[action.name]] == NONE)
    return not isinstance(action, Slot) or action.alone


def action_type(vocabulary: Vocabulary, action: Term) -> str:
    return "Relation Exists" if alone(vocabulary, action) else "Interaction"


@VIDEO.operator(phrase={"": "{action:verb}"} | {form: f"{{action:{form}}}" for form in ("head", "rest", "something")})
def verb_of(world: Videos, action: Action) -> Relation:
    """The relation an action's facts are stored under."""
    words = world.vocabulary
    return np.asarray(words.verb_of[words.merged_action[action]])


@VIDEO.operator(phrase={"": "{action:noun}"} | {form: f"{{action:{form} noun}}" for form in ("a", "exists", "there")})
def noun_of(world: Videos, action: Action) -> Object:
    """The object an action's phrase names."""
    return world.vocabulary.noun_of[action]


@VIDEO.operator(
    ask="{object:exists}",
    phrase={"": "{object:a} being there", "asked in a time": "{object:there}"},
    steps=1,
    categories=Categories(("exists",), "verify", "object"),
    type="Object Exists",
    given=("object",),
)
def exists(world: Videos, object: Object) -> Frames:
    """The object is annotated, or is the object of any relation; a merged-away noun is its merged class."""
    return world.track(ANY, world.vocabulary.merged_object[object])


@VIDEO.operator(
    ask="Is the person {relation:head} {relation:something}{relation:rest}",
    phrase="{relation:head} {relation:something}{relation:rest}",
    steps=1,
    categories=Categories(("exists",), "verify", "relation"),
    type="Relation Exists",
)
def doing(world: Videos, relation: Relation) -> Frames:
    """The relation holds with some object."""
    return world.track(world.vocabulary.folded[relation], ANY)


@VIDEO.operator(
    ask="Is the person {relation:head} {object:a}{relation:rest}",
    phrase="{relation:head} {object:a}{relation:rest}",
    steps=1,
    categories=Categories(("exists", "obj-rel"), "verify", "relation"),
    type="Interaction",
    parts=lambda vocabulary, relation, object: interaction_parts(relation, object),
)
def interaction(world: Videos, relation: Relation, object: Object) -> Frames:
    """The relation holds with the object."""
    words = world.vocabulary
    return world.track(words.folded[relation], words.merged_object[object])


@VIDEO.operator(
    ask=("Is the person interacting with {object:a}", "Does the person interact with {object:a}"),
    phrase="interacting with {object:a}",
    steps=1,
    categories=Categories(("exists",), "verify", "object"),
    type="Interaction",
    parts=lambda vocabulary, object: interaction_parts(INTERACTING, object),
)
def interacting(world: Videos, object: Object) -> Frames:
    """Some contact with the object; a merged-away class is never contacted."""
    return world.track(world.vocabulary.relation_at[world.vocabulary.interacting], object)


@VIDEO.operator(
    ask="Is the person {action}",
    phrase={"": "{action}", "past": "{action:past}"},
    steps=1,
    categories=Categories(("exists",), "verify", "action"),
    type=action_type,
    parts=action_parts,
)
def happening(world: Videos, action: Action) -> Frames:
    """The frames of all instances of the action, never of its (verb, object) pair."""
    return world.doing(action)


def first_seen(world: Videos, object: Array) -> Frames:
    """[row, word] the first frame on which the object exists; empty if there is none."""
    frame = first_frame(exists.run(world, object), np.zeros(len(world), np.int64), world.frames, True)
    return span(frame, np.where(frame < 0, frame, frame + 1), world.words)


DONE = "the first thing they did to {object:a} to"


@VIDEO.operator(
    phrase={"": f"doing {DONE}", "head": f"doing {DONE}", "present": f"do {DONE}", "past": f"did {DONE}"}
    | {"Did they": f"Did they do {DONE}", "rest": "", "something": "something"},
    steps=1,
    rests=lambda world, value, object: first_seen(world, object),
)
def first_done_to(world: Videos, object: Object) -> Relation:
    """The only contact or verb that relates to the object on its first frame (AGQA 1.0)."""
    words = world.vocabulary
    at, merged = first_seen(world, object), words.merged_object[object]
    count, found = np.zeros(len(world), np.int64), np.full(len(world), UNKNOWN)
    relations = words.group("contact", "verb")
    if len(relations) > FEW:  # most of them do not occur
        relations = np.intersect1d(relations, world.tracks()[1])
    for relation in relations:
        holds = anywhere(world.track(relation, merged) & at)
        count, found = count + holds, np.where(holds, relation, found)
    return np.where(count == 1, found, UNKNOWN)
