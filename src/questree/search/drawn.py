"""Some of an image's subgraphs, drawn by a keyed hash: walks from a root along edges that the rules allow."""

from collections.abc import Iterable, Iterator

import numpy as np

from questree.columns.compiled import njit
from questree.columns.hashing import seed_of
from questree.domains.images.graph import Graph
from questree.search.index import ATTRIBUTES, EDGES, END, NAME, PREPOSITIONS, RELATION, TARGET, WORD, Index
from questree.search.rows import first_at, put
from questree.search.subgraphs import (
    CHAIN,
    CHAIN_OF_TWO,
    EDGE,
    NONE,
    SINGLE,
    TWO,
    WIDTH,
    Spelling,
    attribute_of,
    choices,
    end_name,
    make_two,
    referable,
    room_for_edges,
    says_nothing,
    usable,
)
from questree.search.word_tables import WordTables

SHARES = np.cumsum([15, 35, 20, 15, 15])  # [shape] per cent of the walks, summed up
PATIENCE = 4  # walks for every subgraph wanted


def sampled(
    index: Index, words: WordTables, rows: Iterable[int] | None = None, per_image: int = 20, seed: int = 0
) -> Iterator[tuple[int, int, Graph, int]]:
    """(image row, thing row, graph, k): at most per_image distinct graphs of each image, of all shapes.

    k things of the image give the same graph (its multi_count if 2 to 4). Only the seed and the image's id decide."""
    rules, spelling = referable(index, words), Spelling(index)
    for image in range(len(index.image_ids)) if rows is None else rows:
        key = seed_of(seed, index.image_ids[image])
        for row, times in zip(
            *(each.tolist() for each in draw(image, per_image, key, index.scenes, rules)), strict=True
        ):
            yield image, row[1], spelling.graph(row), times


@njit(cache=True, nogil=True)
def draw(image, wanted, key, scenes, rules):  # type: ignore[no-untyped-def]
    """[subgraph, WIDTH] distinct graphs of the image, and [subgraph] how many of its things give the same graph."""
    rows, times, known = np.empty((wanted, WIDTH), np.int32), np.empty(wanted, np.int32), np.empty(wanted, np.uint64)
    first, second = room_for_edges(image, scenes), room_for_edges(image, scenes)
    begin, end = scenes.first_thing[image], scenes.first_thing[image + 1]
    row, used, state = np.empty(WIDTH, np.int32), 0, key
    for _ in range(PATIENCE * wanted if end > begin else 0):
        state, shape = _pick(state, np.int64(100))
        state, root = _pick(state, end - begin)
        row[0], row[1] = first_at(SHARES, shape + 1), begin + root
        state, good = _walk(row, state, first, second, scenes, rules)
        content = _content(row, scenes)
        for at in range(used):
            good = good and known[at] != content
        if good:
            known[used] = content
            put(row, rows, used)
            times[used] = 0
            for thing in range(begin, end):
                times[used] += gives(thing, row, scenes, rules)
            used += 1
            if used == wanted:
                break
    return rows[:used], times[:used]


@njit(cache=True, nogil=True)
def _pick(state, number):  # type: ignore[no-untyped-def]
    """The next state, and a number below `number` (splitmix64)."""
    state = np.uint64(state) + np.uint64(0x9E3779B97F4A7C15)
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state, np.int64((mixed ^ (mixed >> np.uint64(31))) % np.uint64(number))


@njit(cache=True, nogil=True)
def _walk(row, state, first, second, scenes, rules):  # type: ignore[no-untyped-def]
    """Fill a row of a given shape and root; false if there is no way, or not this time."""
    shape, root = row[0], row[1]
    first_edge, onward_edge = np.int64(3), np.int64(5)  # typed, or numba compiles for each value
    state, choice = _pick(state, choices(root, scenes))
    row[2], row[3:] = attribute_of(root, choice, scenes), NONE
    if not rules.fits[root] or shape == SINGLE:
        return state, rules.fits[root]
    edges = first[: usable(root, root, scenes, rules, first)]
    if shape == TWO:
        return _two(row, first_edge, state, edges, scenes, rules)
    state, good = _step(row, first_edge, state, edges, scenes, rules)
    if not good or shape == EDGE:
        return state, good
    target = scenes.edges[row[3], TARGET]
    onward = second[: usable(target, root, scenes, rules, second)]
    if shape == CHAIN:
        return _step(row, onward_edge, state, onward, scenes, rules)
    return _two(row, onward_edge, state, onward, scenes, rules)


@njit(cache=True, nogil=True)
def _step(row, place, state, edges, scenes, rules):  # type: ignore[no-untyped-def]
    if not len(edges):
        return state, False
    state, at = _pick(state, len(edges))
    target = scenes.edges[edges[at], TARGET]
    state, choice = _pick(state, choices(target, scenes))
    row[place], row[place + 1] = edges[at], attribute_of(target, choice, scenes)
    return state, not says_nothing(edges[at], row[place + 1], scenes, rules)


@njit(cache=True, nogil=True)
def _two(row, place, state, edges, scenes, rules):  # type: ignore[no-untyped-def]
    state, good = _step(row, place, state, edges, scenes, rules)
    if good:
        state, good = _step(row, place + 2, state, edges, scenes, rules)
    return state, good and make_two(row[place], row[place + 2], scenes)


@njit(cache=True, nogil=True)
def _content(row, scenes):  # type: ignore[no-untyped-def]
    """A hash of the graph's words; the same whichever of two relations comes first."""
    legs = np.zeros(3, np.uint64)
    for place in range(3):
        if row[3 + 2 * place] != NONE:
            legs[place] = _leg(row[3 + 2 * place], row[4 + 2 * place], scenes)
    state = _mixed(_mixed(np.uint64(row[0]), scenes.things[row[1], NAME]), row[2])
    if row[0] == TWO:
        return state ^ (legs[0] + legs[1])
    return _mixed(state ^ legs[0], np.int32(0)) ^ (legs[1] + legs[2])


@njit(cache=True, nogil=True)
def _leg(edge, attribute, scenes):  # type: ignore[no-untyped-def]
    state = _mixed(np.uint64(scenes.edges[edge, RELATION]), end_name(edge, scenes))
    state = _mixed(state, attribute)
    for at in range(scenes.edges[edge, PREPOSITIONS], scenes.edges[edge + 1, PREPOSITIONS]):
        state = _mixed(_mixed(state, scenes.hanging[at, WORD]), scenes.things[scenes.hanging[at, END], NAME])
    return state


@njit(cache=True, nogil=True)
def _mixed(state, word):  # type: ignore[no-untyped-def]
    state = (state ^ np.uint64(word + 2)) * np.uint64(0x9E3779B97F4A7C15)
    return state ^ (state >> np.uint64(32))


@njit(cache=True, nogil=True)
def gives(thing, row, scenes, rules):  # type: ignore[no-untyped-def]
    """Does this thing, as the root, give the same graph as the row?"""
    if scenes.things[thing, NAME] != scenes.things[row[1], NAME] or not rules.fits[thing]:
        return False
    good, start = _has(thing, row[2], scenes), thing
    for place in range(3, WIDTH, 2):
        if good and row[place] != NONE:
            edge = _same_edge(start, row[place], scenes, rules)
            good = edge != NONE and _has(scenes.edges[edge, TARGET], row[place + 1], scenes)
            if good and place == 3 and (row[0] == CHAIN or row[0] == CHAIN_OF_TWO):
                start = scenes.edges[edge, TARGET]
    return good


@njit(cache=True, nogil=True)
def _same_edge(thing, like, scenes, rules):  # type: ignore[no-untyped-def]
    """The edge in use of the thing that is like another edge: relation, name of the target, prepositions."""
    relation, name = scenes.edges[like, RELATION], end_name(like, scenes)
    for edge in range(scenes.things[thing, EDGES], scenes.things[thing + 1, EDGES]):
        same = scenes.edges[edge, RELATION] == relation and end_name(edge, scenes) == name
        if same and rules.fits[scenes.edges[edge, TARGET]]:
            bare = np.int32(NONE)
            return edge if _leg(edge, bare, scenes) == _leg(like, bare, scenes) else NONE
    return NONE


@njit(cache=True, nogil=True)
def _has(thing, attribute, scenes):  # type: ignore[no-untyped-def]
    for at in range(scenes.things[thing, ATTRIBUTES], scenes.things[thing + 1, ATTRIBUTES]):
        if scenes.attribute[at] == attribute:
            return True
    return attribute == NONE
