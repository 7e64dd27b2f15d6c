"""What is said about things: counts, names, attributes, choices, quantifiers, logic and comparisons."""

import numpy as np

from questree.domains.images import described, pages
from questree.domains.images.facts import Bools, Ints
from questree.domains.images.kinds import (
    ABSENT,
    IMAGES,
    NEITHER,
    NOT_THERE,
    NOT_UNIQUE,
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
from questree.domains.images.sets import ImageSets
from questree.domains.images.things import images_with
from questree.program import Bool


@IMAGES.operator()
def nothing(world: ImageSets) -> Nothing:
    """The result of a program without rows."""
    return np.full(len(world), ABSENT)


@IMAGES.operator()
def count(world: ImageSets, things: Things) -> Count:
    return pages.number_of(things)


@IMAGES.operator()
def count_images(world: ImageSets, images: Scenes) -> Count:
    return np.asarray(images.sum(1))


@IMAGES.operator()
def count_groups(world: ImageSets, groups: Groups) -> Count:
    return np.asarray(images_with(world, groups).sum(1))


@IMAGES.operator()
def exists(world: ImageSets, things: Things) -> Bool:
    return pages.any_of(things)


@IMAGES.operator()
def unique_link(world: ImageSets, links: Links) -> Link:
    """The one relation there is."""
    number = (links != PADDING).sum(1)
    return np.where(number == 1, links[:, 0], np.where(number, NOT_UNIQUE, NOT_THERE))


@IMAGES.operator()
def query_name(world: ImageSets, thing: Thing) -> Noun:
    return world.facts.name[thing].astype(np.int64)


@IMAGES.operator()
def query_link(world: ImageSets, link: Link) -> LinkName:
    """The name of a relation."""
    return world.facts.link[link].astype(np.int64)


@IMAGES.operator()
def query_attr(world: ImageSets, thing: Thing, group: Group) -> Attribute:
    """Its only attribute of the group; ABSENT if it has none."""
    return described.only_attribute(world.facts, thing, group)


@IMAGES.operator()
def query_common_attribute(world: ImageSets, a: Thing, b: Thing) -> Group:
    """The first group, in the order of the first thing's attributes, in which the two share an attribute."""
    return described.common_group(world.facts, a, b)


@IMAGES.operator()
def verify_attr(world: ImageSets, thing: Thing, attribute: Attribute) -> Bool:
    """Does it have this attribute, of whatever group?"""
    return described.has_attribute(world.facts, thing, attribute)


def _choose(x: Ints, x_holds: Bools, y: Ints, y_holds: Bools) -> Ints:
    return np.where(x_holds, x, np.where(y_holds, y, NEITHER))


@IMAGES.operator()
def choose_attr(world: ImageSets, thing: Thing, x: Attribute, y: Attribute) -> Attribute:
    has = described.has_attribute
    return _choose(x, has(world.facts, thing, x), y, has(world.facts, thing, y))


@IMAGES.operator()
def choose_name(world: ImageSets, thing: Thing, x: Noun, y: Noun) -> Noun:
    name = world.facts.name[thing]
    return _choose(x, name == x, y, name == y)


@IMAGES.operator()
def choose_relation(world: ImageSets, name: LinkName, x: LinkName, y: LinkName) -> LinkName:
    return _choose(x, name == x, y, name == y)


@IMAGES.operator(name="all")
def every(world: ImageSets, things: Things, condition: Things) -> Bool:
    """All things are among those of the condition; true if there are no things."""
    return ~pages.any_of(things & ~condition)


@IMAGES.operator()
def some(world: ImageSets, things: Things, condition: Things) -> Bool:
    return pages.any_of(things & condition)


@IMAGES.operator()
def none(world: ImageSets, things: Things, condition: Things) -> Bool:
    return ~pages.any_of(things & condition)


@IMAGES.operator()
def all_same(world: ImageSets, things: Things, group: Group) -> Bool:
    """One attribute of the group is common to all things; true if there are no things."""
    return described.one_value(world.facts, world.page, things, group)


@IMAGES.operator()
def logic_and(world: ImageSets, a: Bool, b: Bool) -> Bool:
    return a & b


@IMAGES.operator()
def logic_or(world: ImageSets, a: Bool, b: Bool) -> Bool:
    return a | b


@IMAGES.operator()
def eq(world: ImageSets, a: Count, b: Count) -> Bool:
    return np.asarray(a == b)


@IMAGES.operator()
def same_attr(world: ImageSets, a: Attribute, b: Attribute) -> Bool:
    """Equal attributes; two absent ones are equal, so a generator must not ask then."""
    return np.asarray(a == b)


@IMAGES.operator()
def same_name(world: ImageSets, a: Noun, b: Noun) -> Bool:
    """Equal names of things."""
    return np.asarray(a == b)


@IMAGES.operator()
def gt(world: ImageSets, a: Count, b: Count) -> Bool:
    return a > b


@IMAGES.operator()
def geq(world: ImageSets, a: Count, b: Count) -> Bool:
    return a >= b


@IMAGES.operator()
def lt(world: ImageSets, a: Count, b: Count) -> Bool:
    return a < b


@IMAGES.operator()
def leq(world: ImageSets, a: Count, b: Count) -> Bool:
    return a <= b


@IMAGES.operator()
def gt_half(world: ImageSets, a: Count, b: Count) -> Bool:
    """The first is more than half of the second."""
    return 2 * a > b
