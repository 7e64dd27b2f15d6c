"""What may stand in for a leaf, or for the relation that leads to it: words that some image has in the same place."""

import numpy as np
from numba import njit

from questree.stages.covr.forms import NONE, Coded
from questree.stages.covr.index import BITS, Keys, signature
from questree.stages.covr.scenes import Rows
from questree.stages.covr.sets import FIRST_ROW, NOTHING, Bits, Codes, within

LAST_WORD = (1 << BITS) - 1  # of a signature


def other_names(graphs: Coded, links: Keys, unnamed: int, codes: Codes, bits: Bits) -> tuple[Rows, Bits]:
    """[graph, node] the names a leaf may take: of things seen after its subject and link, without those entailing its own.

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
    """[graph, node] the relations that may lead to a leaf instead: seen between the two names, and disjoint.

    `ends` are the (subject, target, relation) of the images."""
    form, found = graphs.form, np.full_like(graphs.name, NOTHING)
    for leaf in range(1, len(form)):
        if form.is_leaf(leaf) and not form.preposition[leaf]:
            place = signature(graphs.name[:, form.parent[leaf]], graphs.name[:, leaf], 0)
            found[:, leaf], bits = _seen(ends, place, codes.disjoint[graphs.link[:, leaf]], True, bits)
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
        any_word = False
        for at in range(np.searchsorted(keys, place[row]), len(keys)):
            if keys[at] > place[row] | LAST_WORD:
                break
            word = keys[at] & LAST_WORD
            if within(code[row], word, bits) == inside:
                new[used, word >> 6] |= np.uint64(1) << np.uint64(word & 63)
                any_word = True
        if any_word:
            found[row] = FIRST_ROW - (len(bits) + used)
            used += 1
    return found, new[:used]
