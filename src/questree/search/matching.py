"""Does an image contain a pattern? Node by node from the last to the root, over the things of one image.

Compiled functions take plain arrays: a tuple of arrays costs more to hand over than most images to look at."""

import numpy as np
from numba import njit

from questree.search.scenes import ATTRIBUTES, EDGES, END, NAME, PREPOSITIONS, RELATION, TARGET, WORD
from questree.search.sets import ANYTHING, within

# A pattern is a graph whose words are codes of sets: an array [node, field] in the order of a Form.
PARENT, PREPOSITION, INNER, NAMES, SAID, LINKS, KEPT = range(7)  # INNER: has relations; KEPT: is part of it
FIELDS = 7


@njit(cache=True, nogil=True)
def roots(first, end, things, attributes, edges, hanging, pattern, bits, ok, enough):  # type: ignore[no-untyped-def]
    """How many things of an image (rows first to end) match the root, counted up to `enough`.

    Fills ok[node, thing - first]; things, attributes, edges and hanging are those of Scenes."""
    if not _named(first, end, things, attributes, pattern, bits, ok):
        return 0
    found = 0
    for node in range(len(pattern) - 1, -1, -1):
        if node and not (pattern[node, KEPT] and pattern[node, INNER]):
            continue
        found = 0
        for thing in range(first, end):
            good, child = ok[node, thing - first], node + 1
            while good and child < len(pattern):
                if pattern[child, PARENT] == node and pattern[child, KEPT] and not pattern[child, PREPOSITION]:
                    good = edge_to(thing, child, first, things, edges, hanging, pattern, bits, ok) >= 0
                child += 1
            ok[node, thing - first] = good
            found += good
            if node == 0 and found >= enough:
                return found
        if not found:
            return 0
    return found


@njit(cache=True, nogil=True)
def _named(first, end, things, attributes, pattern, bits, ok):  # type: ignore[no-untyped-def]
    """Fill ok with things that have a node's name and attribute, whatever their edges; has every node one?"""
    for node in range(len(pattern)):
        if not pattern[node, KEPT]:
            continue
        name, attribute, found = pattern[node, NAMES], pattern[node, SAID], False
        for thing in range(first, end):
            good = within(name, things[thing, NAME], bits)
            if good and attribute != ANYTHING:
                good = said_of(thing, attribute, things, attributes, bits) >= 0
            ok[node, thing - first] = good
            found = found or good
        if not found:
            return False
    return True


@njit(cache=True, nogil=True)
def said_of(thing, code, things, attributes, bits):  # type: ignore[no-untyped-def]
    """The first attribute of the thing that is in a set, or -1."""
    for at in range(things[thing, ATTRIBUTES], things[thing + 1, ATTRIBUTES]):
        if within(code, attributes[at], bits):
            return attributes[at]
    return np.int32(-1)


@njit(cache=True, nogil=True)
def edge_to(thing, node, first, things, edges, hanging, pattern, bits, ok):  # type: ignore[no-untyped-def]
    """The first edge of the thing that leads to a match of the node, with all its prepositions; or -1."""
    for edge in range(np.int64(things[thing, EDGES]), np.int64(things[thing + 1, EDGES])):
        if within(pattern[node, LINKS], edges[edge, RELATION], bits) and ok[node, edges[edge, TARGET] - first]:
            good, below = True, node + 1
            while good and below < len(pattern):
                if pattern[below, PARENT] == node and pattern[below, KEPT] and pattern[below, PREPOSITION]:
                    good = preposition_to(edge, below, first, edges, hanging, pattern, bits, ok) >= 0
                below += 1
            if good:
                return edge
    return -1


@njit(cache=True, nogil=True)
def preposition_to(edge, node, first, edges, hanging, pattern, bits, ok):  # type: ignore[no-untyped-def]
    for at in range(edges[edge, PREPOSITIONS], edges[edge + 1, PREPOSITIONS]):
        if within(pattern[node, LINKS], hanging[at, WORD], bits) and ok[node, hanging[at, END] - first]:
            return at
    return -1


@njit(cache=True, nogil=True)
def fill(first, things, attributes, edges, hanging, pattern, bits, ok, filled):  # type: ignore[no-untyped-def]
    """After `roots`: the first way to fill the pattern; filled = (thing, attribute or -1, link or -1) of every node."""
    used = np.empty(len(pattern), np.int64)  # [node] the edge that leads to it
    for node in range(len(pattern)):
        parent, thing, link = pattern[node, PARENT], np.int64(first), np.int32(-1)
        if node == 0:
            while not ok[0, thing - first]:
                thing += 1
        elif pattern[node, PREPOSITION]:
            at = preposition_to(used[parent], node, first, edges, hanging, pattern, bits, ok)
            thing, link = np.int64(hanging[at, END]), hanging[at, WORD]
        else:
            used[node] = edge_to(np.int64(filled[3 * parent]), node, first, things, edges, hanging, pattern, bits, ok)
            thing, link = np.int64(edges[used[node], TARGET]), edges[used[node], RELATION]
        attribute = np.int32(-1)
        if pattern[node, SAID] != ANYTHING:
            attribute = said_of(thing, pattern[node, SAID], things, attributes, bits)
        filled[3 * node], filled[3 * node + 1], filled[3 * node + 2] = thing, attribute, link
