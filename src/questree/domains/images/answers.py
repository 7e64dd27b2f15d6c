"""What is said about things: counts, names, attributes, choices, quantifiers, logic and comparisons."""

import numpy as np

from questree.domains.images.kinds import (
    ABSENT,
    IMAGES,
    NEITHER,
    NO_COMMON,
    SEVERAL,
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
from questree.domains.images.sets import Bools, ImageSets, Ints, any_of, number_of
from questree.domains.images.things import the_one
from questree.program import Bool


@IMAGES.operator()
def nothing(world: ImageSets) -> Nothing:
    """The result of a program without rows."""
    return np.full(len(world), ABSENT)


@IMAGES.operator()
def count(world: ImageSets, things: Things) -> Count:
    return number_of(things)


@IMAGES.operator()
def count_images(world: ImageSets, images: Scenes) -> Count:
    return number_of(images)


@IMAGES.operator()
def count_groups(world: ImageSets, groups: Groups) -> Count:
    return number_of(world.counts(groups) > 0)


@IMAGES.operator()
def exists(world: ImageSets, things: Things) -> Bool:
    return any_of(things)


@IMAGES.operator()
def unique_link(world: ImageSets, links: Links) -> Link:
    """The one relation there is."""
    return the_one(links)


@IMAGES.operator()
def query_name(world: ImageSets, thing: Thing) -> Noun:
    return world.name_of[world.corpus_thing(thing)]


@IMAGES.operator()
def query_link(world: ImageSets, link: Link) -> LinkName:
    """The name of a relation."""
    return world.link[world.row, link]


def _values(world: ImageSets, thing: Ints) -> tuple[Ints, Ints]:
    """[row, place] the attributes of a thing, and the groups they belong to."""
    values = world.attributes_of[world.corpus_thing(thing)]
    return values, _groups(world, values)


def _groups(world: ImageSets, values: Ints) -> Ints:
    """The group of each attribute; ABSENT for padding and attributes of no group."""
    return np.append(world.group_of, [ABSENT, ABSENT])[values]


@IMAGES.operator()
def query_attr(world: ImageSets, thing: Thing, group: Group) -> Attribute:
    """Its only attribute of the group; ABSENT if it has none."""
    values, groups = _values(world, thing)
    fits = groups == group[:, None]
    number, first = fits.sum(1), values[np.arange(len(world)), fits.argmax(1)]
    return np.where(number == 1, first, np.where(number, SEVERAL, ABSENT))


@IMAGES.operator()
def query_common_attribute(world: ImageSets, a: Thing, b: Thing) -> Group:
    """The first group in which the two share an attribute."""
    values, groups = _values(world, a)
    others, _ = _values(world, b)
    shared = (values[:, :, None] == others[:, None]).any(2) & (groups != ABSENT)
    first = np.where(shared, groups, len(world.groups)).min(1)
    return np.where(first < len(world.groups), first, NO_COMMON)


def _has(world: ImageSets, thing: Ints, attribute: Ints) -> Bools:
    return any_of(world.attributes_of[world.corpus_thing(thing)] == attribute[:, None])


@IMAGES.operator()
def verify_attr(world: ImageSets, thing: Thing, attribute: Attribute) -> Bool:
    """Does it have this attribute, of whatever group?"""
    return _has(world, thing, attribute)


def _choose(x: Ints, x_holds: Bools, y: Ints, y_holds: Bools) -> Ints:
    return np.where(x_holds, x, np.where(y_holds, y, NEITHER))


@IMAGES.operator()
def choose_attr(world: ImageSets, thing: Thing, x: Attribute, y: Attribute) -> Attribute:
    return _choose(x, _has(world, thing, x), y, _has(world, thing, y))


@IMAGES.operator()
def choose_name(world: ImageSets, thing: Thing, x: Noun, y: Noun) -> Noun:
    name = world.name_of[world.corpus_thing(thing)]
    return _choose(x, name == x, y, name == y)


@IMAGES.operator()
def choose_relation(world: ImageSets, name: LinkName, x: LinkName, y: LinkName) -> LinkName:
    return _choose(x, name == x, y, name == y)


@IMAGES.operator(name="all")
def every(world: ImageSets, things: Things, condition: Things) -> Bool:
    """All things are among those of the condition; true if there are no things."""
    return ~any_of(things & ~condition)


@IMAGES.operator()
def some(world: ImageSets, things: Things, condition: Things) -> Bool:
    return any_of(things & condition)


@IMAGES.operator()
def none(world: ImageSets, things: Things, condition: Things) -> Bool:
    return ~any_of(things & condition)


@IMAGES.operator()
def all_same(world: ImageSets, things: Things, group: Group) -> Bool:
    """One attribute of the group is common to all things; true if there are no things."""
    attributes = world.attributes
    of_first = attributes[np.arange(len(world)), things.argmax(1)]  # [row, place] only these can be common to all
    candidate = _groups(world, of_first) == group[:, None]
    same = ~any_of(things)
    for place in range(of_first.shape[1]):
        has = (attributes == of_first[:, place, None, None]).any(2)
        same |= candidate[:, place] & (has | ~things).all(1)
    return same


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
