"""Which things: found by name, filtered by attribute, related to others, and what images they are in."""

from typing import Any

import numpy as np

from questree.domains.images import loops
from questree.domains.images.corpus import ImageSets
from questree.domains.images.kinds import (
    ANY,
    IMAGES,
    PADDING,
    AnyWord,
    Attribute,
    Choices,
    Count,
    Groups,
    LinkName,
    Links,
    Noun,
    Scenes,
    Thing,
    Things,
)
from questree.domains.images.references import said

STEP: dict[str, Any] = {"steps": 1, "phrase": said}  # things that a reference describes
FORMS = (
    "",
    "a",
    "the",
    "many",
    "head",
    "there",
    "this",
    "is",
    "Is",
    "do",
    "Do",
    "it",
    "What",
    "Asked",
)  # of things in English
LIKE_THINGS = {form: f"{{things:{form}}}" for form in FORMS}


def found_so(world: ImageSets, value: Things, **values: object) -> Things:
    """The things themselves. What is narrowed down from them lies among them, so only these operators rest on things;
    everything there is, is no finding."""
    return value


@IMAGES.operator(phrase=said)
def scene(world: ImageSets) -> Things:
    """All things of all images."""
    return loops.everything(world.facts, world.page)


@IMAGES.operator(phrase=said)
def anything(world: ImageSets) -> Things:
    """All things, where a program leaves the things out."""
    return loops.everything(world.facts, world.page)


@IMAGES.operator(phrase="related to")
def any_link(world: ImageSets) -> LinkName:
    """Any relation, where a program leaves the relation out."""
    return np.full(len(world), ANY)


@IMAGES.operator(phrase="nothing else")
def no_choice(world: ImageSets) -> Choices:
    """The end of a list of words."""
    return np.full((len(world), 0), PADDING)


@IMAGES.operator(phrase="anything")
def any_choice(world: ImageSets) -> Choices:
    """In place of a list of words that a program leaves out."""
    return np.full((len(world), 0), PADDING)


@IMAGES.operator(phrase="{word} or {rest}")
def either(world: ImageSets, word: AnyWord, rest: Choices) -> Choices:
    """The word or one of the rest."""
    return np.hstack([word[:, None], rest])


@IMAGES.operator(rests=found_so, **STEP)
def find(world: ImageSets, name: Noun) -> Things:
    """Things of this name."""
    return loops.named(world.facts, world.page, name[:, None])


@IMAGES.operator(rests=lambda world, value, names: value if names.shape[1] else np.zeros_like(value), **STEP)
def find_any(world: ImageSets, names: Choices) -> Things:
    """Things with one of the names; everything if no name is listed."""
    if not names.shape[1]:
        return loops.everything(world.facts, world.page)
    return loops.named(world.facts, world.page, names)


@IMAGES.operator(name="filter", **STEP)
def only(world: ImageSets, things: Things, attribute: Attribute) -> Things:
    """Those with the attribute."""
    return loops.attributed(world.facts, world.page, things, attribute[:, None])


@IMAGES.operator(name="filter_any", **STEP)
def only_any(world: ImageSets, things: Things, attributes: Choices) -> Things:
    """Those with one of the attributes."""
    return loops.attributed(world.facts, world.page, things, attributes)


@IMAGES.operator(**STEP)
def with_relation(world: ImageSets, things: Things, others: Things, relation: LinkName) -> Things:
    """Those of the things that are related so to one of the others; a preposition is a relation too."""
    return loops.related(world.facts, world.page, things, others, relation, False)


@IMAGES.operator(rests=found_so, **STEP)
def with_relation_object(world: ImageSets, things: Things, others: Things, relation: LinkName) -> Things:
    """Those of the others that one of the things is related so to."""
    return loops.related(world.facts, world.page, things, others, relation, True)


@IMAGES.operator(
    steps=1,
    phrase={
        "": "{thing:is} {thing:the} related to {others:a}",
        "the": "{thing:the}",
        "Is": "{thing:Is} {thing:the}",
        "Do": "{thing:Do} {thing:the}",
        "a": "{others:a}",
        "it": "{others:it}",
    },
)
def relation_between_nouns(world: ImageSets, thing: Thing, others: Things) -> Links:
    """The informative relations of the thing to the others, each (name, target) once; prepositions are not told."""
    return loops.edges_between(world.facts, world.page, thing, others)


def images_with(world: ImageSets, things: Things) -> Scenes:
    """The images that have some of the things."""
    return (loops.per_image(world.facts, world.page, things) > 0) & ~world.facts.is_next[world.page]


@IMAGES.operator(steps=1, phrase="show {things:a}")
def unique_images(world: ImageSets, things: Things) -> Scenes:
    """The images they are in."""
    return images_with(world, things)


@IMAGES.operator(steps=1, phrase={"": "{things:a}", "many": "{things:many}"})
def group_by_images(world: ImageSets, things: Things) -> Groups:
    """The things, image by image; an image without any is no group."""
    return things


def kept(sign: str, said: str, holds: np.ufunc, doc: str) -> None:
    """Groups of a size: a family of operators that differ in a word and a sign."""

    def keep(world: ImageSets, groups: Groups, number: Count) -> Groups:
        return np.where(holds(loops.per_image(world.facts, world.page, groups), number[:, None]), groups, 0)

    keep.__doc__ = doc
    IMAGES.operator(f"keep_if_values_count_{sign}", steps=1, phrase=said + " {groups:many}")(keep)


kept("eq", "exactly {number}", np.equal, "Groups of this size.")
kept("geq", "at least {number}", np.greater_equal, "Groups of at least this size.")
kept("leq", "{number:up to}", np.less_equal, "Groups of at most this size; images without any thing are no groups.")


@IMAGES.operator(phrase="show {groups}")
def keys(world: ImageSets, groups: Groups) -> Scenes:
    """The images that have a group."""
    return images_with(world, groups)


@IMAGES.operator(phrase=LIKE_THINGS)
def unique(world: ImageSets, things: Things) -> Thing:
    """The one thing there is."""
    return loops.the_one(world.facts, world.page, things)


@IMAGES.operator(phrase=LIKE_THINGS)
def assert_unique(world: ImageSets, things: Things) -> Things:
    """The same things, if there is exactly one."""
    code = loops.the_one(world.facts, world.page, things)[:, None]
    return np.where(code < 0, code, things)
