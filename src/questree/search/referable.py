"""Which things and edges a reference may use: rules about names, boxes, relations and paths."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from questree.search.index import BITS, Index, Keys, signature
from questree.search.scenes import EDGES, NAME, PREPOSITIONS, RELATION, TARGET
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
    at = np.searchsorted(rules.pairs, key)
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
