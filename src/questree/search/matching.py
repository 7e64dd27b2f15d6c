"""Positives and every kind of distractor for many graphs of one form, in one compiled loop over candidate images.

Words mean what they mean to `find`, `filter` and `with_relation`; only, a preposition must belong to its relation."""

import numpy as np

from questree.columns.compiled import njit
from questree.search.index import ANY, ATTRIBUTES, BITS, EDGES, END, HAS, NAME, PREPOSITIONS, RELATION, TARGET, WORD
from questree.search.patterns import (
    ANYTHING,
    FIRST_KIND,
    INNER,
    KEPT,
    LINKS,
    NAMES,
    NO_MULTIPLE,
    PARENT,
    POSITIVE,
    PREPOSITION,
    SAID,
    empty,
    make_unwanted,
    make_wanted,
    within,
)
from questree.search.rows import first_at, roomy


# Compiled functions take plain arrays: a tuple of arrays costs more to hand over than most images to look at.
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


ALL = np.iinfo(np.int64).max  # as a limit
PRIMES = np.array([2147483659, 2147483693, 2147483713, 2147483743, 2147483777, 2147483783, 2147483813, 2147483857])


# Its arguments are the classes of patterns.py and index.py.
@njit(cache=True, nogil=True)
def search(scenes, postings, plan, asked, codes, bits, limits, instances):  # type: ignore[no-untyped-def]
    """[hit, (graph, kind, image)], and with instances behind them for every node (thing, attribute, link) that fill it.

    limits: of positives, of each kind."""
    nodes, images, most = len(plan.parent), len(scenes.first_thing) - 1, 1
    everywhere = np.empty(images, np.int32)
    for image in range(images):
        most = max(most, scenes.first_thing[image + 1] - scenes.first_thing[image])  # things of an image
        everywhere[image] = image
    ok = np.zeros((2, nodes, most), np.bool_)
    pattern, relaxed = empty(plan), empty(plan)
    hits, used = np.empty((1024, 3 + 3 * nodes if instances else 3), np.int32), 0
    for graph in range(len(asked.name)):
        for kind in range(FIRST_KIND + len(plan.edit)):
            if limits[min(kind, 1)] == 0 or not make_wanted(graph, kind, plan, asked, pattern):
                continue
            if kind >= FIRST_KIND:
                make_unwanted(graph, kind - FIRST_KIND, plan, asked, codes, relaxed)
            begin, number = _candidates(pattern, postings, images)
            candidates = postings.image[begin : begin + number] if begin >= 0 else everywhere
            several = np.int64(asked.multiple[graph])  # things that must match the root: at least, and fewer than
            wanted = (several if kind == POSITIVE else np.int64(1), several if kind == NO_MULTIPLE else np.int64(ALL))
            room = used + min(number, limits[min(kind, 1)])
            hits = roomy(hits, room)
            after = _scan(
                candidates,
                _walk(asked.draw[graph], kind, number, limits[min(kind, 1)]),
                wanted,
                postings.apart and _is_signature(pattern),
                kind >= FIRST_KIND,
                scenes.first_thing,
                scenes.things,
                scenes.attribute,
                scenes.edges,
                scenes.hanging,
                pattern,
                relaxed,
                bits,
                ok[0],
                ok[1],
                hits[used:room],
            )
            hits[used : used + after, 0], hits[used : used + after, 1] = graph, kind
            used += after
    return hits[:used]


@njit(cache=True, nogil=True)
def _scan(  # type: ignore[no-untyped-def]
    candidates,
    walk,
    wanted,
    sure,
    filtered,
    first_thing,
    things,
    attributes,
    edges,
    hanging,
    pattern,
    relaxed,
    bits,
    ok,
    ok_relaxed,
    found,
):
    """Fill `found` with candidates that match the pattern and, if filtered, not the relaxed part; returns how many.

    sure: every candidate is known to have a match."""
    used, (start, step), (least, below) = 0, walk, wanted
    enough = least if below == ALL else below  # roots that need counting
    sure = sure and enough == 1
    for count in range(len(candidates)):
        image = candidates[(start + count * step) % len(candidates)]
        first, end = np.int64(first_thing[image]), np.int64(first_thing[image + 1])
        if not sure:
            seen = roots(first, end, things, attributes, edges, hanging, pattern, bits, ok, enough)
            if seen < least or seen >= below:
                continue
        if filtered and roots(first, end, things, attributes, edges, hanging, relaxed, bits, ok_relaxed, np.int64(1)):
            continue
        found[used, 2] = image
        if found.shape[1] > 3:
            if sure:  # nobody has looked yet
                roots(first, end, things, attributes, edges, hanging, pattern, bits, ok, enough)
            fill(first, things, attributes, edges, hanging, pattern, bits, ok, found[used, 3:])
        used += 1
        if used == len(found):
            break
    return used


@njit(cache=True, nogil=True)
def _candidates(pattern, postings, images):  # type: ignore[no-untyped-def]
    """The shortest list of images that must hold every match: (where it begins, length); -1 for all images."""
    begin, number = np.int64(-1), np.int64(images)
    for node in range(len(pattern)):
        name, attribute = _wild(pattern[node, NAMES]), _wild(pattern[node, SAID])
        if name != ANY:
            begin, number = _shorter(name, np.int64(HAS), attribute, postings, begin, number)
        if node:
            up = pattern[node, PARENT]  # where its relation starts
            if pattern[node, PREPOSITION]:
                up = pattern[up, PARENT]
            subject, link = _wild(pattern[up, NAMES]), _wild(pattern[node, LINKS])
            if link != ANY or (subject != ANY and name != ANY):
                begin, number = _shorter(subject, link, name, postings, begin, number)
    return begin, number


@njit(cache=True, nogil=True)
def _is_signature(pattern):  # type: ignore[no-untyped-def]
    """Does one list of the index hold its images? A name, perhaps with one attribute; a relation between names."""
    if len(pattern) == 1:
        return pattern[0, NAMES] >= 0 and (pattern[0, SAID] >= 0 or pattern[0, SAID] == ANYTHING)
    for node in range(len(pattern)):
        one = pattern[node, NAMES] >= 0 or pattern[node, NAMES] == ANYTHING
        if not one or pattern[node, SAID] != ANYTHING:
            return False
    return len(pattern) == 2 and pattern[1, LINKS] >= 0


@njit(cache=True, nogil=True)
def _wild(code):  # type: ignore[no-untyped-def]
    return np.int64(code) if code >= 0 else np.int64(ANY)


@njit(cache=True, nogil=True)
def _shorter(subject, relation, target, postings, begin, number):  # type: ignore[no-untyped-def]
    key = subject << (2 * BITS) | relation << BITS | target
    at = first_at(postings.key, key)
    if at == len(postings.key) or postings.key[at] != key:
        return np.int64(0), np.int64(0)
    own = postings.begin[at + 1] - postings.begin[at]
    return (postings.begin[at], own) if own < number else (begin, number)


@njit(cache=True, nogil=True)
def _walk(draw, kind, number, limit):  # type: ignore[no-untyped-def]
    """Where to begin among the candidates and how far to step: every candidate once, in an order the draw decides."""
    if limit >= number or number < 2:
        return np.int64(0), np.int64(1)
    state = (draw ^ np.uint64(kind)) * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(29)
    step = PRIMES[state & np.uint64(len(PRIMES) - 1)] % number  # a prime above all numbers: no common divisor
    return np.int64((state >> np.uint64(8)) % np.uint64(number)), np.int64(step)
