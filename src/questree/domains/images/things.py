"""Which things: found by name, filtered by attribute, related to others, and what images they are in."""

import numpy as np

from questree.domains.images.kinds import (
    ANY,
    IMAGES,
    NOT_THERE,
    NOT_UNIQUE,
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
from questree.domains.images.sets import Bools, ImageSets, Ints, any_of, number_of
from questree.program import Array


@IMAGES.operator()
def scene(world: ImageSets) -> Things:
    """All things of all images."""
    return world.everything


@IMAGES.operator()
def anything(world: ImageSets) -> Things:
    """All things, where a program leaves the things out."""
    return world.everything


@IMAGES.operator()
def any_link(world: ImageSets) -> LinkName:
    """Any relation, where a program leaves the relation out."""
    return np.full(len(world), ANY)


@IMAGES.operator()
def no_choice(world: ImageSets) -> Choices:
    """The end of a list of words."""
    return np.full((len(world), 0), PADDING)


@IMAGES.operator()
def any_choice(world: ImageSets) -> Choices:
    """In place of a list of words that a program leaves out."""
    return np.full((len(world), 0), PADDING)


@IMAGES.operator()
def either(world: ImageSets, word: AnyWord, rest: Choices) -> Choices:
    """The word or one of the rest."""
    return np.hstack([word[:, None], rest])


@IMAGES.operator()
def find(world: ImageSets, name: Noun) -> Things:
    """Things of this name."""
    return np.asarray(world.names == name[:, None])


@IMAGES.operator()
def find_any(world: ImageSets, names: Choices) -> Things:
    """Things with one of the names; everything if no name is listed."""
    return _among(world.names, names) if names.shape[1] else world.everything


@IMAGES.operator(name="filter")
def only(world: ImageSets, things: Things, attribute: Attribute) -> Things:
    """Those with the attribute."""
    return things & any_of(world.attributes == attribute[:, None, None])


@IMAGES.operator(name="filter_any")
def only_any(world: ImageSets, things: Things, attributes: Choices) -> Things:
    """Those with one of the attributes."""
    return things & any_of(_among(world.attributes, attributes[:, None]))


def _among(words: Ints, choices: Ints) -> Bools:
    """Is a word, along the last axis, one of its row's choices?"""
    return any_of(words[..., None] == choices[:, None])


def related(world: ImageSets, subjects: Bools, objects: Bools, link: Ints) -> Bools:
    """[row, edge] edges of this name from one of the subjects to one of the objects."""
    names, row = world.link[world.row], np.arange(len(world))[:, None]
    fits = (names == link[:, None]) | ((link[:, None] == ANY) & (names != PADDING))
    return np.asarray(fits & subjects[row, world.subject[world.row]] & objects[row, world.object[world.row]])


def _ends(world: ImageSets, edges: Bools, end: Ints) -> Bools:
    """[row, thing] things at this end of the edges."""
    found = np.zeros(world.everything.shape, bool)
    row, edge = np.nonzero(edges)
    found[row, end[world.row[row], edge]] = True
    return found


@IMAGES.operator()
def with_relation(world: ImageSets, things: Things, others: Things, relation: LinkName) -> Things:
    """Those of the things that are related so to one of the others; a preposition is a relation too."""
    return _ends(world, related(world, things, others, relation), world.subject)


@IMAGES.operator()
def with_relation_object(world: ImageSets, things: Things, others: Things, relation: LinkName) -> Things:
    """Those of the others that one of the things is related so to."""
    return _ends(world, related(world, things, others, relation), world.object)


@IMAGES.operator()
def relation_between_nouns(world: ImageSets, thing: Thing, others: Things) -> Links:
    """The informative relations of the thing to the others, each (name, target) once."""
    subject = np.arange(others.shape[1]) == thing[:, None]
    edges = related(world, subject, others, np.full(len(world), ANY))
    link = world.link[world.row]
    edges &= ~world.preposition[world.row] & ~np.append(world.uninformative, [False, False])[link]
    row, edge = np.nonzero(edges)
    meant = np.stack([row, link[row, edge], world.object[world.row[row], edge]])
    _, first = np.unique(meant, axis=1, return_index=True)
    found = np.zeros_like(edges)
    found[row[first], edge[first]] = True
    return found


@IMAGES.operator()
def unique_images(world: ImageSets, things: Things) -> Scenes:
    """The images they are in."""
    return world.counts(things) > 0


@IMAGES.operator()
def group_by_images(world: ImageSets, things: Things) -> Groups:
    """The things, image by image; an image without any is no group."""
    return things


def _keep(world: ImageSets, groups: Bools, kept: Bools) -> Bools:
    """Things whose image is kept."""
    at = world.image_at[world.row]
    return groups & kept[np.arange(len(world))[:, None], np.where(at == PADDING, 0, at)]


@IMAGES.operator()
def keep_if_values_count_eq(world: ImageSets, groups: Groups, number: Count) -> Groups:
    """Groups of this size."""
    return _keep(world, groups, world.counts(groups) == number[:, None])


@IMAGES.operator()
def keep_if_values_count_geq(world: ImageSets, groups: Groups, number: Count) -> Groups:
    """Groups of at least this size."""
    return _keep(world, groups, world.counts(groups) >= number[:, None])


@IMAGES.operator()
def keep_if_values_count_leq(world: ImageSets, groups: Groups, number: Count) -> Groups:
    """Groups of at most this size; images without any thing are no groups."""
    return _keep(world, groups, world.counts(groups) <= number[:, None])


@IMAGES.operator()
def keys(world: ImageSets, groups: Groups) -> Scenes:
    """The images that have a group."""
    return world.counts(groups) > 0


@IMAGES.operator()
def unique(world: ImageSets, things: Things) -> Thing:
    """The one thing there is."""
    return the_one(things)


@IMAGES.operator()
def assert_unique(world: ImageSets, things: Things) -> Things:
    """The same things, if there is exactly one."""
    code = the_one(things)[:, None]
    return np.where(code < 0, code, things)


def the_one(members: Bools) -> Array:
    """[row] position of the only member, or why there is none."""
    number = number_of(members)
    return np.where(number == 1, members.argmax(1), np.where(number, NOT_UNIQUE, NOT_THERE))
