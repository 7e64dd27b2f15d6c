"""Does an image contain a pattern? Node by node from the last to the root, over the things of one image.

Compiled functions take plain arrays: a tuple of arrays costs more to hand over than most images to look at."""

import numpy as np
from numba import njit

from questree.stages.covr.sets import ANYTHING, within

# A pattern is a graph whose words are sets: an array [node, field] in the order of a Form.
PARENT, PREPOSITION, NAME, ATTRIBUTE, LINK, KEPT = range(6)  # words are codes of sets; nodes not kept are no part of it
FIELDS = 6


@njit(cache=True, nogil=True)
def roots(first, end, things, attributes, edges, hanging, pattern, bits, ok, enough):  # type: ignore[no-untyped-def]
    """How many things of an image (rows first to end) match the root, counted up to `enough`.

    Fills ok[node, thing - first]; things, attributes, edges and hanging are those of Scenes."""
    found = 0
    for node in range(len(pattern) - 1, -1, -1):
        if not pattern[node, KEPT]:
            continue
        name, attribute, found = pattern[node, NAME], pattern[node, ATTRIBUTE], 0
        for thing in range(first, end):
            good = within(name, things[thing, 0], bits)
            if good and attribute != ANYTHING:
                good = said_of(thing, attribute, things, attributes, bits) >= 0
            child = node + 1
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
def said_of(thing, code, things, attributes, bits):  # type: ignore[no-untyped-def]
    """The first attribute of the thing that is in a set, or -1."""
    for at in range(things[thing, 1], things[thing + 1, 1]):
        if within(code, attributes[at], bits):
            return attributes[at]
    return np.int32(-1)


@njit(cache=True, nogil=True)
def edge_to(thing, node, first, things, edges, hanging, pattern, bits, ok):  # type: ignore[no-untyped-def]
    """The first edge of the thing that leads to a match of the node, with all its prepositions; or -1."""
    for edge in range(things[thing, 2], things[thing + 1, 2]):
        if within(pattern[node, LINK], edges[edge, 0], bits) and ok[node, edges[edge, 1] - first]:
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
    for at in range(edges[edge, 2], edges[edge + 1, 2]):
        if within(pattern[node, LINK], hanging[at, 0], bits) and ok[node, hanging[at, 1] - first]:
            return at
    return -1


@njit(cache=True, nogil=True)
def fill(first, things, attributes, edges, hanging, pattern, bits, ok, filled):  # type: ignore[no-untyped-def]
    """After `roots`: the first way to fill the pattern; filled[node] = (thing, attribute or -1, link or -1)."""
    used = np.empty(len(pattern), np.int64)  # [node] the edge that leads to it
    for node in range(len(pattern)):
        parent, thing, link = pattern[node, PARENT], np.int64(first), np.int32(-1)
        if node == 0:
            while not ok[0, thing - first]:
                thing += 1
        elif pattern[node, PREPOSITION]:
            at = preposition_to(used[parent], node, first, edges, hanging, pattern, bits, ok)
            thing, link = np.int64(hanging[at, 1]), hanging[at, 0]
        else:
            used[node] = edge_to(filled[parent, 0], node, first, things, edges, hanging, pattern, bits, ok)
            thing, link = np.int64(edges[used[node], 1]), edges[used[node], 0]
        attribute = np.int32(-1)
        if pattern[node, ATTRIBUTE] != ANYTHING:
            attribute = said_of(thing, pattern[node, ATTRIBUTE], things, attributes, bits)
        filled[node, 0], filled[node, 1], filled[node, 2] = thing, attribute, link
