"""Loops over what is said about single things: their attributes, groups of attributes, and relations to others."""

import numpy as np
from numba import njit

from questree.domains.images.facts import Bits, Bools, Facts, Ints
from questree.domains.images.kinds import ABSENT, PADDING
from questree.domains.images.pages import size_of
from questree.program import NO_COMMON, SEVERAL


@njit(cache=True, nogil=True)
def edges_between(facts: Facts, page: Ints, thing: Ints, others: Bits) -> Ints:
    """[row, place] the informative edges from the row's thing to one of the others, each (name, target) once."""
    first_edge, link, target = facts.first_edge, facts.link, facts.target
    widest = 1
    for row in range(len(thing)):
        widest = max(widest, first_edge[thing[row] + 1] - first_edge[thing[row]])
    found = np.full((len(thing), widest), PADDING, np.int64)
    for row in range(len(thing)):
        size = 0
        for edge in range(first_edge[thing[row]], first_edge[thing[row] + 1]):
            if facts.informative[edge] and _within(facts, page[row], others[row], target[edge]):
                again = False
                for before in found[row, :size]:
                    again |= link[before] == link[edge] and target[before] == target[edge]
                if not again:
                    found[row, size] = edge
                    size += 1
    return found


@njit(cache=True, nogil=True)
def _within(facts: Facts, page: Ints, things: Ints, thing: int) -> bool:
    """Is it one of the things of a row?"""
    for at in range(len(page)):
        first, end = facts.first_thing[page[at]], facts.first_thing[page[at] + 1]
        if first <= thing < end and (things[at] >> (thing - first)) & 1:
            return True
    return False


@njit(cache=True, nogil=True)
def has_attribute(facts: Facts, thing: Ints, wanted: Ints) -> Bools:
    """[row] does the thing have the attribute?"""
    found = np.zeros(len(thing), np.bool_)
    for row in range(len(thing)):
        found[row] = _has(facts, thing[row], wanted[row])
    return found


@njit(cache=True, nogil=True)
def _has(facts: Facts, thing: int, wanted: int) -> bool:
    has = False
    for each in range(facts.first_attribute[thing], facts.first_attribute[thing + 1]):
        has |= facts.attribute[each] == wanted
    return has


@njit(cache=True, nogil=True)
def only_attribute(facts: Facts, thing: Ints, group: Ints) -> Ints:
    """[row] the thing's one attribute of the group; ABSENT, or SEVERAL."""
    found = np.full(len(thing), ABSENT, np.int64)
    for row in range(len(thing)):
        begin, end = facts.first_attribute[thing[row]], facts.first_attribute[thing[row] + 1]
        for value in facts.attribute[begin:end]:
            if facts.group_of[value] == group[row]:
                found[row] = value if found[row] == ABSENT else SEVERAL
    return found


@njit(cache=True, nogil=True)
def common_group(facts: Facts, a: Ints, b: Ints) -> Ints:
    """[row] the first group, in the order of the first thing's attributes, in which the two share one."""
    found = np.full(len(a), NO_COMMON, np.int64)
    for row in range(len(a)):
        begin, end = facts.first_attribute[a[row]], facts.first_attribute[a[row] + 1]
        for group in facts.group_of[facts.attribute[begin:end]]:
            if found[row] == NO_COMMON and group != ABSENT and _share(facts, a[row], b[row], group):
                found[row] = group
    return found


@njit(cache=True, nogil=True)
def _share(facts: Facts, a: int, b: int, group: int) -> bool:
    """Do they have the same attribute of the group?"""
    share = False
    for each in range(facts.first_attribute[a], facts.first_attribute[a + 1]):
        share |= facts.group_of[facts.attribute[each]] == group and _has(facts, b, facts.attribute[each])
    return share


@njit(cache=True, nogil=True)
def one_value(facts: Facts, page: Ints, things: Bits, group: Ints) -> Bools:
    """[row] is an attribute of the group common to all things? True without things."""
    found = np.zeros(page.shape[0], np.bool_)
    for row in range(page.shape[0]):
        first = _first(facts, page[row], things[row])
        found[row] = first == ABSENT
        begin, end = facts.first_attribute[first], facts.first_attribute[first + 1]  # of ABSENT: none
        for value in facts.attribute[begin:end]:
            if facts.group_of[value] == group[row]:
                found[row] |= _all_have(facts, page[row], things[row], value)
    return found


@njit(cache=True, nogil=True)
def _first(facts: Facts, page: Ints, things: Ints) -> int:
    for at in range(len(page)):
        if things[at]:
            first: int = facts.first_thing[page[at]]
            return first + size_of((things[at] & -things[at]) - 1)
    return ABSENT


@njit(cache=True, nogil=True)
def _all_have(facts: Facts, page: Ints, things: Ints, wanted: int) -> bool:
    for at in range(len(page)):
        left, thing = things[at], facts.first_thing[page[at]]
        while left:
            if left & 1 and not _has(facts, thing, wanted):
                return False
            left >>= 1
            thing += 1
    return True
