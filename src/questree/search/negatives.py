"""What may stand in for a leaf, or for the relation that leads to it: words that some image has in the same place."""

import numpy as np
from numba import njit

from questree.search.graph_columns import NONE, Coded
from questree.search.index import ANY, HAS, Keys, signature
from questree.search.scenes import Rows
from questree.search.sets import FIRST_ROW, NOTHING, Bits, Codes, within


def other_names(graphs: Coded, links: Keys, unnamed: int, codes: Codes, bits: Bits) -> tuple[Rows, Bits]:
    """[graph, node] the names a leaf may take: seen after its subject and link, and not entailing its own.

    `links` are the (subject, link, target) of the images, `unnamed` the link ("of") that does not tell things apart."""
    leaves = [node for node in range(1, len(graphs.form)) if graphs.form.is_leaf(node)]
    found = np.full_like(graphs.name, NOTHING)
    several = np.sort(graphs.link[:, leaves], axis=1)
    asked = (graphs.attribute[:, 1:] == NONE).all(1) & (np.diff(several, axis=1) != 0).all(1)  # [graph]
    for leaf in leaves:
        rows = np.flatnonzero(asked & (graphs.link[:, leaf] != unnamed))
        place = signature(graphs.name[rows, graphs.form.subject(leaf)], graphs.link[rows, leaf], 0)
        found[rows, leaf], bits = _seen(links, place, codes.name[graphs.name[rows, leaf]], False, bits)
    return found, bits


def other_relations(graphs: Coded, ends: Keys, codes: Codes, bits: Bits) -> tuple[Rows, Bits]:
    """[graph, node] the relations that may lead to a node instead: seen between the two names, and disjoint.

    `ends` are the (subject, target, relation) of the images."""
    form, found = graphs.form, np.full_like(graphs.name, NOTHING)
    for node in range(1, len(form)):
        if not form.preposition[node]:
            place = signature(graphs.name[:, form.parent[node]], graphs.name[:, node], 0)
            found[:, node], bits = _seen(ends, place, codes.disjoint[graphs.link[:, node]], True, bits)
    return found, bits


def other_attributes(graphs: Coded, said: Keys, codes: Codes, bits: Bits) -> tuple[Rows, Bits]:
    """[graph, node] the attributes a node may have instead: seen with its name, and contradicting.

    `said` has the (name, HAS, attribute) of the images, among other signatures."""
    found = np.full_like(graphs.name, NOTHING)
    for node in range(len(graphs.form)):
        rows = np.flatnonzero(graphs.attribute[:, node] != NONE)
        place = signature(graphs.name[rows, node], HAS, 0)
        found[rows, node], bits = _seen(said, place, codes.contradicting[graphs.attribute[rows, node]], True, bits)
    return found, bits


def _seen(keys: Keys, place: Keys, code: Rows, inside: bool, bits: Bits) -> tuple[Rows, Bits]:
    """[row] the set of last words of the keys that begin like the place, inside or outside another set."""
    found, new = _collect(keys, place, code, inside, bits)
    return found, np.concatenate([bits, new])


@njit(cache=True, nogil=True)
def _collect(keys, place, code, inside, bits):  # type: ignore[no-untyped-def]
    found, new = np.full(len(place), NOTHING, np.int32), np.zeros((len(place), bits.shape[1]), np.uint64)
    used = 0
    for row in range(len(place)):
        number, last = 0, np.int64(0)
        for at in range(np.searchsorted(keys, place[row]), len(keys)):
            if keys[at] >= place[row] | ANY:
                break
            word = keys[at] & ANY
            if within(code[row], word, bits) == inside:
                new[used, word >> 6] |= np.uint64(1) << np.uint64(word & 63)
                number, last = number + 1, word
        if number == 1:
            found[row], new[used] = last, 0
        elif number:
            found[row] = FIRST_ROW - (len(bits) + used)
            used += 1
    return found, new[:used]
