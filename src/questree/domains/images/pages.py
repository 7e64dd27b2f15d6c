"""Loops over sets of things as bits: found by name, attribute and relation, counted, and the only one of a set."""

import numpy as np
from numba import njit

from questree.domains.images.facts import Bits, Bools, Facts, Ints
from questree.domains.images.kinds import ANY
from questree.program import NOT_THERE, NOT_UNIQUE


@njit(cache=True, nogil=True)
def everything(facts: Facts, page: Ints) -> Bits:
    """[row, page] all things."""
    found = np.zeros(page.shape, np.int64)
    for row in range(page.shape[0]):
        for at in range(page.shape[1]):
            things = facts.first_thing[page[row, at] + 1] - facts.first_thing[page[row, at]]
            found[row, at] = (np.int64(1) << things) - 1
    return found


@njit(cache=True, nogil=True)
def named(facts: Facts, page: Ints, wanted: Ints) -> Bits:
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
def attributed(facts: Facts, page: Ints, things: Bits, wanted: Ints) -> Bits:
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
def related(facts: Facts, page: Ints, things: Bits, others: Bits, wanted: Ints, at_target: bool) -> Bits:
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
def per_image(facts: Facts, page: Ints, things: Bits) -> Ints:
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
def the_one(facts: Facts, page: Ints, things: Bits) -> Ints:
    """[row] the only thing, or why there is none."""
    found = np.full(things.shape[0], NOT_THERE, np.int64)
    for row in range(things.shape[0]):
        for at in range(things.shape[1]):
            bits = things[row, at]
            if bits:
                alone = found[row] == NOT_THERE and not bits & (bits - 1)
                found[row] = facts.first_thing[page[row, at]] + size_of(bits - 1) if alone else NOT_UNIQUE
    return found
