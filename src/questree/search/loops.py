"""Positives and every kind of distractor for many graphs of one form, in one compiled loop over candidate images."""

import numpy as np
from numba import njit

from questree.search.index import ANY, BITS, HAS
from questree.search.matching import LINKS, NAMES, PARENT, PREPOSITION, SAID, fill, roots
from questree.search.patterns import FIRST_KIND, NO_MULTIPLE, POSITIVE, empty, make_unwanted, make_wanted
from questree.search.sets import ANYTHING

ALL = np.iinfo(np.int64).max  # as a limit
PRIMES = np.array([2147483659, 2147483693, 2147483713, 2147483743, 2147483777, 2147483783, 2147483813, 2147483857])


# Its arguments are the classes of patterns.py, index.py and scenes.py.
@njit(cache=True, nogil=True)
def search(scenes, postings, plan, asked, codes, bits, limits, instances):  # type: ignore[no-untyped-def]
    """[hit, (graph, kind, image)], and with instances behind them for every node (thing, attribute, link) that fill it.

    limits: of positives, of each kind."""
    nodes, images = len(plan.parent), len(scenes.first_thing) - 1
    most = np.append(np.diff(scenes.first_thing), 1).max()  # things of an image
    ok = np.zeros((2, nodes, most), np.bool_)
    pattern, relaxed = empty(plan), empty(plan)
    hits, used = np.empty((1024, 3 + 3 * nodes if instances else 3), np.int32), 0
    everywhere = np.arange(images).astype(np.int32)
    for graph in range(len(asked.name)):
        for kind in range(FIRST_KIND + len(plan.edit)):
            if limits[min(kind, 1)] == 0 or not make_wanted(graph, kind, plan, asked, pattern):
                continue
            if kind >= FIRST_KIND:
                make_unwanted(graph, kind - FIRST_KIND, plan, asked, codes, relaxed)
            begin, number = _candidates(pattern, postings, images)
            candidates = postings.image[begin : begin + number] if begin >= 0 else everywhere
            room = used + min(number, limits[min(kind, 1)])
            hits = _roomy(hits, room)
            after = _scan(
                candidates,
                _walk(asked.draw[graph], kind, number, limits[min(kind, 1)]),
                _roots_wanted(kind, asked.multiple[graph]),
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
def _roomy(array, room):  # type: ignore[no-untyped-def]
    """The array, at least this long."""
    if room <= len(array):
        return array
    longer = np.empty((max(room, 2 * len(array)), array.shape[1]), np.int32)
    longer[: len(array)] = array
    return longer


@njit(cache=True, nogil=True)
def _roots_wanted(kind, multiple):  # type: ignore[no-untyped-def]
    """How many things must match the root: at least, and fewer than."""
    if kind == POSITIVE:
        return np.int64(multiple), np.int64(ALL)
    return np.int64(1), np.int64(multiple if kind == NO_MULTIPLE else ALL)


@njit(cache=True, nogil=True)
def _candidates(pattern, postings, images):  # type: ignore[no-untyped-def]
    """The shortest list of images that must hold every match: (where it begins, length); -1 for all images."""
    begin, number = np.int64(-1), np.int64(images)
    for node in range(len(pattern)):
        name, attribute = _wild(pattern[node, NAMES]), _wild(pattern[node, SAID])
        if name != ANY:
            begin, number = _shorter(name, np.int64(HAS), attribute, postings, begin, number)
        if node:
            up = _start(node, pattern)
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
def _start(node, pattern):  # type: ignore[no-untyped-def]
    """The node where its relation starts, or the relation its preposition hangs on."""
    parent = pattern[node, PARENT]
    return pattern[parent, PARENT] if pattern[node, PREPOSITION] else parent


@njit(cache=True, nogil=True)
def _wild(code):  # type: ignore[no-untyped-def]
    return np.int64(code) if code >= 0 else np.int64(ANY)


@njit(cache=True, nogil=True)
def _shorter(subject, relation, target, postings, begin, number):  # type: ignore[no-untyped-def]
    key = subject << (2 * BITS) | relation << BITS | target
    at = np.searchsorted(postings.key, key)
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
