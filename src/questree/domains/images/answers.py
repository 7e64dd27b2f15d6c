"""What is said about things: counts, names, attributes, choices, quantifiers, logic and comparisons."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from questree.domains.images import loops
from questree.domains.images import references as sub
from questree.domains.images.corpus import Bools, ImageSets, Ints
from questree.domains.images.kinds import (
    ABSENT,
    IMAGES,
    PADDING,
    Attribute,
    Count,
    Group,
    Groups,
    Link,
    LinkName,
    Links,
    Nothing,
    Noun,
    Scenes,
    Thing,
    Things,
)
from questree.domains.images.things import images_with
from questree.domains.logic import both, either
from questree.terms import NEITHER, NOT_THERE, NOT_UNIQUE, Bool, Categories, Node, Op, Term

QUERY: dict[str, Any] = {"steps": 1, "categories": Categories(structural="query")}
VERIFY: dict[str, Any] = {"steps": 1, "categories": Categories(structural="verify")}
COMPARE: dict[str, Any] = {"steps": 1, "categories": Categories(structural="compare")}
CHOOSE: dict[str, Any] = {
    "steps": 1,
    "label": "Choose",
    "options": ("x", "y"),
    "categories": Categories(structural="choose"),
}
QUANTIFIER: dict[str, Any] = {"type": "Quantifier", **VERIFY}
ASKED_SO = {"color": "What color {thing:is} {thing:the}", "shape": "What shape {thing:is} {thing:the}"}
ASKED_SO |= {"material": "What {thing:is} {thing:the} made of"}


def ask_attribute(thing: Term, group: Term) -> tuple[str, ...]:
    """Some groups of attributes have a question of their own."""
    name = "" if isinstance(group, Node) else group.name
    return (ASKED_SO.get(name, "What is the {group} of {thing:the}"),)


@IMAGES.operator(phrase="nothing")
def nothing(world: ImageSets) -> Nothing:
    """The result of a program without rows."""
    return np.full(len(world), ABSENT)


@IMAGES.operator(
    ask="How many {things:head} are {things:there}",
    phrase="the number of {things:many}",
    type="Count",
    parts=sub.of_count,
    **QUERY,
)
def count(world: ImageSets, things: Things) -> Count:
    return loops.number_of(things)


@IMAGES.operator(
    ask="How many images {images}",
    phrase="the number of images that {images}",
    type=sub.images_type,
    parts=sub.of_images,
    **QUERY,
)
def count_images(world: ImageSets, images: Scenes) -> Count:
    return np.asarray(images.sum(1))


@IMAGES.operator(
    ask="How many images show {groups}", phrase="the number of images that show {groups}", type="Count Groups", **QUERY
)
def count_groups(world: ImageSets, groups: Groups) -> Count:
    return np.asarray(images_with(world, groups).sum(1))


@IMAGES.operator(
    ask="{things:Is} there {things:a}",
    phrase="{things:a}",
    type="Exists",
    label="Modifier",
    parts=sub.of_exists,
    **VERIFY,
)
def exists(world: ImageSets, things: Things) -> Bool:
    return loops.any_of(things)


LIKE_LINKS = ("", "the", "Is", "Do", "a", "it")  # forms of what is between two things


@IMAGES.operator(phrase={form: f"{{links:{form}}}" for form in LIKE_LINKS})
def unique_link(world: ImageSets, links: Links) -> Link:
    """The one relation there is."""
    number = (links != PADDING).sum(1)
    return np.where(number == 1, links[:, 0], np.where(number, NOT_UNIQUE, NOT_THERE))


@IMAGES.operator(
    ask="{thing:What}",
    phrase="the name of {thing:the}",
    type="Query Object",
    label="Unique",
    parts=sub.of_query_name,
    **QUERY,
)
def query_name(world: ImageSets, thing: Thing) -> Noun:
    return world.facts.name[thing].astype(np.int64)


@IMAGES.operator(
    ask="How {link}", phrase={form: f"{{link:{form}}}" for form in LIKE_LINKS}, type="Query Relation", **QUERY
)
def query_link(world: ImageSets, link: Link) -> LinkName:
    """The name of a relation."""
    return world.facts.link[link].astype(np.int64)


@IMAGES.operator(
    ask=ask_attribute,
    phrase="the {group} of {thing:the}",
    type="Query Attribute",
    label="Unique",
    parts=sub.of_query_attribute,
    **QUERY,
)
def query_attr(world: ImageSets, thing: Thing, group: Group) -> Attribute:
    """Its only attribute of the group; ABSENT if it has none."""
    return loops.only_attribute(world.facts, thing, group)


@IMAGES.operator(ask="What do {a:the} and {b:the} have in common", type="Query Common Attribute", **QUERY)
def query_common_attribute(world: ImageSets, a: Thing, b: Thing) -> Group:
    """The first group, in the order of the first thing's attributes, in which the two share an attribute."""
    return loops.common_group(world.facts, a, b)


@IMAGES.operator(
    ask="{thing:Is} {thing:the} {attribute}",
    phrase="{thing:the} being {attribute}",
    type="Verify Attribute",
    label="Verify",
    parts=sub.of_verify,
    **VERIFY,
)
def verify_attr(world: ImageSets, thing: Thing, attribute: Attribute) -> Bool:
    """Does it have this attribute, of whatever group?"""
    return loops.has_attribute(world.facts, thing, attribute)


def _choose(x: Ints, x_holds: Bools, y: Ints, y_holds: Bools) -> Ints:
    return np.where(x_holds, x, np.where(y_holds, y, NEITHER))


@IMAGES.operator(
    ask="{thing:Is} {thing:the} {x} or {y}", type="Choose Attribute", parts=sub.of_choose_attribute, **CHOOSE
)
def choose_attr(world: ImageSets, thing: Thing, x: Attribute, y: Attribute) -> Attribute:
    has = loops.has_attribute
    return _choose(x, has(world.facts, thing, x), y, has(world.facts, thing, y))


@IMAGES.operator(ask="{thing:Asked} {x:a} or {y:a}", type="Choose Object", parts=sub.of_choose_name, **CHOOSE)
def choose_name(world: ImageSets, thing: Thing, x: Noun, y: Noun) -> Noun:
    name = world.facts.name[thing]
    return _choose(x, name == x, y, name == y)


def ask_relation(name: Term, x: Term, y: Term) -> tuple[str, ...]:
    """Verbs of their own are asked with "does"; relations that are not asked alike are told."""
    if sub.asked_together(x, y):
        return (f"{{name:{'Do' if sub.is_finite(x) else 'Is'}}} {{x}} or {{y}} {{name:a}}",)
    are = sub.are_of(name)
    return (f"Which is true: {{name:the}} {{x:{are}}} {{name:a}} or {{y:{are}}} {{name:it}}",)


@IMAGES.operator(ask=ask_relation, type="Choose Relation", parts=sub.of_choose_relation, **CHOOSE)
def choose_relation(world: ImageSets, name: LinkName, x: LinkName, y: LinkName) -> LinkName:
    return _choose(x, name == x, y, name == y)


def ask_quantifier(which: str, are: str) -> Callable[[Term, Term], tuple[str, ...]]:
    """Of attributes and relations that follow "is", of verbs, or of both."""

    def ask(things: Term, condition: Term) -> tuple[str, ...]:
        how = sub.asked_with(condition, are)
        told = f"Is it true that {which} of the {{things:many}} {{condition:{are} ...}}"
        return (f"{how.capitalize()} {which} of the {{things:many}} {{condition:predicate}}" if how else told,)

    return ask


@IMAGES.operator(name="all", ask=ask_quantifier("all", "are"), label="All", parts=sub.of_all, **QUANTIFIER)
def every(world: ImageSets, things: Things, condition: Things) -> Bool:
    """All things are among those of the condition; true if there are no things."""
    return ~loops.any_of(things & ~condition)


@IMAGES.operator(
    ask=ask_quantifier("at least one", "is"),
    label="Some",
    parts=sub.of_quantifier("Some"),
    **QUANTIFIER,
)
def some(world: ImageSets, things: Things, condition: Things) -> Bool:
    return loops.any_of(things & condition)


@IMAGES.operator(ask=ask_quantifier("none", "are"), label="No", parts=sub.of_quantifier("No"), **QUANTIFIER)
def none(world: ImageSets, things: Things, condition: Things) -> Bool:
    return ~loops.any_of(things & condition)


@IMAGES.operator(
    ask="Do all of the {things:many} share the same {group}",
    type="All Same",
    label="All Same",
    parts=sub.sayable(lambda things, group: [("All Same", exists(things))]),
    **VERIFY,
)
def all_same(world: ImageSets, things: Things, group: Group) -> Bool:
    """One attribute of the group is common to all things; true if there are no things."""
    return loops.one_value(world.facts, world.page, things, group)


logic_and = IMAGES.add(replace(both, name="logic_and", type="Logic", parts=sub.each("And")))
logic_or = IMAGES.add(replace(either, name="logic_or", type="Logic", parts=sub.each("Or")))


def comparison(name: str, said: str, label: str, holds: np.ufunc) -> Op:
    """Is one count so to another? A family of operators that differ in a word and a sign."""

    @IMAGES.operator(
        name,
        ask=f"Is {{a}} {said} {{b}}",
        type=sub.comparison_type,
        label=label,
        parts=sub.each(label),
        given=("a", "b"),
        **COMPARE,
    )
    def compare(world: ImageSets, a: Count, b: Count) -> Bool:
        return np.asarray(holds(a, b))

    return compare


eq = comparison("eq", "equal to", "Equal", np.equal)


@IMAGES.operator(
    ask="Is {a} the same as {b}",
    type="Same Attribute",
    label="Same Attribute",
    parts=sub.each("Same Attribute"),
    **COMPARE,
)
def same_attr(world: ImageSets, a: Attribute, b: Attribute) -> Bool:
    """Equal attributes; two absent ones are equal, so a generator must not ask then."""
    return np.asarray(a == b)


@IMAGES.operator(ask="Is {a} the same as {b}", type="Same Name", **COMPARE)
def same_name(world: ImageSets, a: Noun, b: Noun) -> Bool:
    """Equal names of things."""
    return np.asarray(a == b)


gt = comparison("gt", "greater than", "More", np.greater)
geq = comparison("geq", "at least", "At Least", np.greater_equal)
lt = comparison("lt", "less than", "Less", np.less)
leq = comparison("leq", "at most", "At Most", np.less_equal)


@IMAGES.operator(ask="Is {a} more than half of {b}", type="More Than Half", **COMPARE)
def gt_half(world: ImageSets, a: Count, b: Count) -> Bool:
    """The first is more than half of the second."""
    return 2 * a > b
