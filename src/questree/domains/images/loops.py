"""Loops over sets of things as bits, and over what is said about single things: attributes and relations."""

import numpy as np

from questree.columns.compiled import njit
from questree.domains.images.corpus import Bits, Bools, ImageFacts, Ints
from questree.domains.images.kinds import ABSENT, ANY, PADDING
from questree.terms import NO_COMMON, NOT_THERE, NOT_UNIQUE, SEVERAL


@njit(cache=True, nogil=True)
def everything(facts: ImageFacts, page: Ints) -> Bits:
    """[row, page] all things."""
    found = np.zeros(page.shape, np.int64)
    for row in range(page.shape[0]):
        for at in range(page.shape[1]):
            things = facts.first_thing[page[row, at] + 1] - facts.first_thing[page[row, at]]
            found[row, at] = (np.int64(1) << things) - 1
    return found


@njit(cache=True, nogil=True)
def named(facts: ImageFacts, page: Ints, wanted: Ints) -> Bits:
    """[row, page] things with one of the row's names; wanted is [row, choice]."""
    found = np.zeros(page.shape, np.int64)
    for row in range(page.shape[0]):
        for at in range(page.shape[1]):
            first, end = facts.first_thing[page[row, at]], facts.first_thing[page[row, at] + 1]
            bits = np.int64(0)
            for word in wanted[row]:
                bit = np.int64(1)
                for name in facts.name[first:end]:
                    if name == word:
                        bits |= bit
                    bit <<= 1
            found[row, at] = bits
    return found


@njit(cache=True, nogil=True)
def attributed(facts: ImageFacts, page: Ints, things: Bits, wanted: Ints) -> Bits:
    """[row, page] those of the things with one of the row's attributes; wanted is [row, choice]."""
    found = np.zeros(page.shape, np.int64)
    for row in range(page.shape[0]):
        for at in range(page.shape[1]):
            if not things[row, at]:
                continue
            begin, end = facts.first_attribute_on[page[row, at]], facts.first_attribute_on[page[row, at] + 1]
            bits = np.int64(0)
            for word in wanted[row]:
                for each in range(begin, end):
                    if facts.attribute[each] == word:
                        bits |= np.int64(1) << np.int64(facts.bearer[each])
            found[row, at] = bits & things[row, at]
    return found


@njit(cache=True, nogil=True)
def related(facts: ImageFacts, page: Ints, things: Bits, others: Bits, wanted: Ints, at_target: bool) -> Bits:
    """[row, page] the one or the other end of the edges of this name from one of the things to one of the others."""
    found = np.zeros(page.shape, np.int64)
    for row in range(page.shape[0]):
        for at in range(page.shape[1]):
            here = page[row, at]
            alone = not facts.is_next[here] and not facts.is_next[here + 1]  # all targets are on this page
            if not things[row, at] or (alone and not others[row, at]):
                continue
            for edge in range(facts.first_edge_on[here], facts.first_edge_on[here + 1]):
                if facts.link[edge] == wanted[row] or wanted[row] == ANY:
                    there = at + facts.target_page[edge]
                    one, other = (
                        np.int64(1) << np.int64(facts.subject[edge]),
                        np.int64(1) << np.int64(facts.target_bit[edge]),
                    )
                    if things[row, at] & one and others[row, there] & other:
                        if at_target:
                            found[row, there] |= other
                        else:
                            found[row, at] |= one
    return found


@njit(cache=True, nogil=True)
def number_of(things: Bits) -> Ints:
    """[row] how many things."""
    found = np.zeros(things.shape[0], np.int64)
    for row in range(things.shape[0]):
        for at in range(things.shape[1]):
            found[row] += size_of(things[row, at])
    return found


@njit(cache=True, nogil=True)
def size_of(bits: int) -> int:
    size = 0
    while bits:
        bits &= bits - 1
        size += 1
    return size


@njit(cache=True, nogil=True)
def any_of(things: Bits) -> Bools:
    """[row] is there a thing?"""
    found = np.zeros(things.shape[0], np.bool_)
    for row in range(things.shape[0]):
        for at in range(things.shape[1]):
            if things[row, at]:
                found[row] = True
    return found


@njit(cache=True, nogil=True)
def per_image(facts: ImageFacts, page: Ints, things: Bits) -> Ints:
    """[row, page] how many of the things are in the image of each page, the same number on all its pages."""
    found = np.zeros(page.shape, np.int64)
    for row in range(page.shape[0]):
        for at in range(page.shape[1]):
            first = at
            while facts.is_next[page[row, first]]:
                first -= 1
            found[row, first : at + 1] = found[row, first] + size_of(things[row, at])
    return found


@njit(cache=True, nogil=True)
def the_one(facts: ImageFacts, page: Ints, things: Bits) -> Ints:
    """[row] the only thing, or why there is none."""
    found = np.full(things.shape[0], NOT_THERE, np.int64)
    for row in range(things.shape[0]):
        for at in range(things.shape[1]):
            bits = things[row, at]
            if bits:
                alone = found[row] == NOT_THERE and not bits & (bits - 1)
                found[row] = facts.first_thing[page[row, at]] + size_of(bits - 1) if alone else NOT_UNIQUE
    return found


@njit(cache=True, nogil=True)
def edges_between(facts: ImageFacts, page: Ints, thing: Ints, others: Bits) -> Ints:
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
def _within(facts: ImageFacts, page: Ints, things: Ints, thing: int) -> bool:
    """Is it one of the things of a row?"""
    for at in range(len(page)):
        first, end = facts.first_thing[page[at]], facts.first_thing[page[at] + 1]
        if first <= thing < end and (things[at] >> (thing - first)) & 1:
            return True
    return False


@njit(cache=True, nogil=True)
def has_attribute(facts: ImageFacts, thing: Ints, wanted: Ints) -> Bools:
    """[row] does the thing have the attribute?"""
    found = np.zeros(len(thing), np.bool_)
    for row in range(len(thing)):
        found[row] = _has(facts, thing[row], wanted[row])
    return found


@njit(cache=True, nogil=True)
def _has(facts: ImageFacts, thing: int, wanted: int) -> bool:
    has = False
    for each in range(facts.first_attribute[thing], facts.first_attribute[thing + 1]):
        has |= facts.attribute[each] == wanted
    return has


@njit(cache=True, nogil=True)
def only_attribute(facts: ImageFacts, thing: Ints, group: Ints) -> Ints:
    """[row] the thing's one attribute of the group; ABSENT, or SEVERAL."""
    found = np.full(len(thing), ABSENT, np.int64)
    for row in range(len(thing)):
        begin, end = facts.first_attribute[thing[row]], facts.first_attribute[thing[row] + 1]
        for value in facts.attribute[begin:end]:
            if facts.group_of[value] == group[row]:
                found[row] = value if found[row] == ABSENT else SEVERAL
    return found


@njit(cache=True, nogil=True)
def common_group(facts: ImageFacts, a: Ints, b: Ints) -> Ints:
    """[row] the first group, in the order of the first thing's attributes, in which the two share one."""
    found = np.full(len(a), NO_COMMON, np.int64)
    for row in range(len(a)):
        begin, end = facts.first_attribute[a[row]], facts.first_attribute[a[row] + 1]
        for group in facts.group_of[facts.attribute[begin:end]]:
            if found[row] == NO_COMMON and group != ABSENT and _share(facts, a[row], b[row], group):
                found[row] = group
    return found


@njit(cache=True, nogil=True)
def _share(facts: ImageFacts, a: int, b: int, group: int) -> bool:
    """Do they have the same attribute of the group?"""
    share = False
    for each in range(facts.first_attribute[a], facts.first_attribute[a + 1]):
        share |= facts.group_of[facts.attribute[each]] == group and _has(facts, b, facts.attribute[each])
    return share


@njit(cache=True, nogil=True)
def one_value(facts: ImageFacts, page: Ints, things: Bits, group: Ints) -> Bools:
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
def _first(facts: ImageFacts, page: Ints, things: Ints) -> int:
    for at in range(len(page)):
        if things[at]:
            first: int = facts.first_thing[page[at]]
            return first + size_of((things[at] & -things[at]) - 1)
    return ABSENT


@njit(cache=True, nogil=True)
def _all_have(facts: ImageFacts, page: Ints, things: Ints, wanted: int) -> bool:
    for at in range(len(page)):
        left, thing = things[at], facts.first_thing[page[at]]
        while left:
            if left & 1 and not _has(facts, thing, wanted):
                return False
            left >>= 1
            thing += 1
    return True
