"""Subgraphs: every way to refer to a thing of an image by its name, an attribute and its relations."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.domains.images.graph import Graph, GraphRelation, Preposition
from questree.search.index import (
    ATTRIBUTES,
    BITS,
    EDGES,
    END,
    NAME,
    PREPOSITIONS,
    RELATION,
    TARGET,
    WORD,
    Index,
    Keys,
    signature,
)
from questree.search.rows import first_at, put, roomy
from questree.search.word_tables import WordTables

SMALLEST = 400  # square pixels; a box must be larger
NONE = -1  # no attribute, no edge


class Referable(NamedTuple):
    fits: NDArray[np.bool_]  # [thing] may it be a root or the target of a relation?
    ignored: NDArray[np.bool_]  # [word] as a relation
    pairs: Keys  # (relation, name of its target) that say nothing unless the target has an attribute; sorted


def referable(index: Index, words: WordTables) -> Referable:
    at = {word: row for row, word in enumerate(index.words)}
    nouns = [at[word] for word in words.ignored_nouns if word in at]
    ignored = np.zeros(len(at), bool)
    ignored[[at[word] for word in words.ignored_relations if word in at]] = True
    pairs = [signature(0, at[a], at[b]) for a, b in words.ignored_pairs if a in at and b in at]
    fits = ~np.isin(index.scenes.name, nouns) & (index.area > SMALLEST)
    return Referable(fits, ignored, np.sort(np.array(pairs, np.int64)))


@njit(cache=True, nogil=True)
def end_name(edge, scenes):  # type: ignore[no-untyped-def]
    return scenes.things[scenes.edges[edge, TARGET], NAME]


@njit(cache=True, nogil=True)
def says_nothing(edge, attribute, scenes, rules):  # type: ignore[no-untyped-def]
    """Wearing a shirt says nothing, wearing a red shirt does."""
    if attribute != NONE or not len(rules.pairs):
        return False
    key = np.int64(scenes.edges[edge, RELATION]) << BITS | end_name(edge, scenes)
    at = first_at(rules.pairs, key)
    return at < len(rules.pairs) and rules.pairs[at] == key


@njit(cache=True, nogil=True)
def usable(thing, root, scenes, rules, edges):  # type: ignore[no-untyped-def]
    """Fill `edges` with those of the thing that lead on from a path root .. thing; of equal (relation, target name)
    the first that qualifies. Returns how many."""
    found = 0
    for edge in range(scenes.things[thing, EDGES], scenes.things[thing + 1, EDGES]):
        relation, name = scenes.edges[edge, RELATION], end_name(edge, scenes)
        on_path = name == scenes.things[thing, NAME] or name == scenes.things[root, NAME]
        if rules.ignored[relation] or on_path or not rules.fits[scenes.edges[edge, TARGET]]:
            continue
        new = True
        for at in range(found):
            new = new and (scenes.edges[edges[at], RELATION] != relation or end_name(edges[at], scenes) != name)
        if new:
            edges[found] = edge
            found += 1
    return found


@njit(cache=True, nogil=True)
def make_two(first, second, scenes):  # type: ignore[no-untyped-def]
    """May these edges be the two relations of one node? Both without prepositions, to different names."""
    differ = end_name(first, scenes) != end_name(second, scenes)
    return differ and _is_bare(first, scenes) and _is_bare(second, scenes)


@njit(cache=True, nogil=True)
def _is_bare(edge, scenes):  # type: ignore[no-untyped-def]
    return scenes.edges[edge, PREPOSITIONS] == scenes.edges[edge + 1, PREPOSITIONS]


# A subgraph as a row of numbers: its shape, the root thing and the word of its attribute (or NONE), then up to three
# edges (or NONE), each with the word of its target's attribute.
SINGLE, EDGE, CHAIN, TWO, CHAIN_OF_TWO = range(5)  # where edges start: the root; the first's target; both from one node
WIDTH = 9


def subgraphs(index: Index, words: WordTables, rows: Iterable[int] | None = None) -> Iterator[tuple[int, int, Graph]]:
    """(image row, thing row, graph) for these images (all without), each once: exactly what the rules allow."""
    rules, spelling = referable(index, words), Spelling(index)
    for image in range(len(index.image_ids)) if rows is None else rows:
        for row in every(image, index.scenes, rules).tolist():
            yield image, row[1], spelling.graph(row)


class Spelling:
    """Rows of numbers -> graphs; the two relations of a node in the order of their words, so equal graphs are equal."""

    def __init__(self, index: Index) -> None:
        self.words, self.scenes = index.words, index.scenes

    def graph(self, row: list[int]) -> Graph:
        shape, root, attribute, first, *rest = row
        if shape in (CHAIN, CHAIN_OF_TWO):
            return self._node(root, attribute, (self._relation(first, rest[0], self._relations(rest[1:])),))
        return self._node(root, attribute, self._relations([first, *rest]))

    def _relations(self, legs: list[int]) -> tuple[GraphRelation, ...]:
        found = [self._relation(edge, of, ()) for edge, of in zip(legs[::2], legs[1::2], strict=True) if edge != NONE]
        return tuple(sorted(found, key=lambda each: (each.name, each.target.name)))

    def _relation(self, edge: int, attribute: int, below: tuple[GraphRelation, ...]) -> GraphRelation:
        scenes = self.scenes
        hanging = range(scenes.edges[edge, PREPOSITIONS], scenes.edges[edge + 1, PREPOSITIONS])
        prepositions = tuple(
            Preposition(self.words[scenes.hanging[at, WORD]], self._node(scenes.hanging[at, END], NONE, ()))
            for at in hanging
        )
        relation, target, _ = scenes.edges[edge]
        return GraphRelation(self.words[relation], self._node(target, attribute, below), prepositions)

    def _node(self, thing: int, attribute: int, relations: tuple[GraphRelation, ...]) -> Graph:
        name = self.words[self.scenes.things[thing, NAME]]
        return Graph(name, None if attribute == NONE else self.words[attribute], relations)


@njit(cache=True, nogil=True)
def every(image, scenes, rules):  # type: ignore[no-untyped-def]
    """[subgraph, WIDTH] of one image."""
    rows, used = np.empty((256, WIDTH), np.int32), np.int64(0)
    first, second = room_for_edges(image, scenes), room_for_edges(image, scenes)
    row = np.full(WIDTH, NONE, np.int32)
    first_edge, onward_edge = np.int64(3), np.int64(5)  # typed, or numba compiles for each value
    for root in range(scenes.first_thing[image], scenes.first_thing[image + 1]):
        if not rules.fits[root]:
            continue
        edges = first[: usable(root, root, scenes, rules, first)]
        row[1] = root
        for own in range(choices(root, scenes)):
            row[0], row[2], row[3:] = SINGLE, attribute_of(root, own, scenes), NONE
            rows, used = _put(row, rows, used)
            row[0] = TWO
            rows, used = _two(row, first_edge, edges, scenes, rules, rows, used)
            for edge in edges:
                target = scenes.edges[edge, TARGET]
                onward = second[: usable(target, root, scenes, rules, second)]
                for of_target in range(choices(target, scenes)):
                    row[0], row[3], row[4], row[5:] = EDGE, edge, attribute_of(target, of_target, scenes), NONE
                    if says_nothing(edge, row[4], scenes, rules):
                        continue
                    rows, used = _put(row, rows, used)
                    row[0] = CHAIN
                    rows, used = _one(row, onward_edge, onward, scenes, rules, rows, used)
                    row[0] = CHAIN_OF_TWO
                    rows, used = _two(row, onward_edge, onward, scenes, rules, rows, used)
    return rows[:used]


@njit(cache=True, nogil=True)
def room_for_edges(image, scenes):  # type: ignore[no-untyped-def]
    begin, end = scenes.first_thing[image], scenes.first_thing[image + 1]
    return np.empty(scenes.things[end, EDGES] - scenes.things[begin, EDGES], np.int32)


@njit(cache=True, nogil=True)
def _one(row, place, edges, scenes, rules, rows, used):  # type: ignore[no-untyped-def]
    """Every row with one of these edges in this place."""
    for edge in edges:
        for own in range(choices(scenes.edges[edge, TARGET], scenes)):
            row[place], row[place + 1] = edge, attribute_of(scenes.edges[edge, TARGET], own, scenes)
            if not says_nothing(edge, row[place + 1], scenes, rules):
                rows, used = _put(row, rows, used)
    return rows, used


@njit(cache=True, nogil=True)
def _two(row, place, edges, scenes, rules, rows, used):  # type: ignore[no-untyped-def]
    """Every row with two of these edges from this place on."""
    for at in range(len(edges)):
        for after in range(at + 1, len(edges)):
            if make_two(edges[at], edges[after], scenes):
                target = scenes.edges[edges[at], TARGET]
                for own in range(choices(target, scenes)):
                    row[place], row[place + 1] = edges[at], attribute_of(target, own, scenes)
                    if not says_nothing(edges[at], row[place + 1], scenes, rules):
                        rows, used = _one(row, place + 2, edges[after : after + 1], scenes, rules, rows, used)
    return rows, used


@njit(cache=True, nogil=True)
def choices(thing, scenes):  # type: ignore[no-untyped-def]
    """No attribute, or one of its own."""
    return 1 + scenes.things[thing + 1, ATTRIBUTES] - scenes.things[thing, ATTRIBUTES]


@njit(cache=True, nogil=True)
def attribute_of(thing, choice, scenes):  # type: ignore[no-untyped-def]
    return NONE if choice == 0 else scenes.attribute[scenes.things[thing, ATTRIBUTES] + choice - 1]


@njit(cache=True, nogil=True)
def _put(row, rows, used):  # type: ignore[no-untyped-def]
    rows = roomy(rows, used + 1)
    put(row, rows, used)
    return rows, used + 1
