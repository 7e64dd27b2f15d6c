"""The patterns of a kind: Q, what an image must contain, and F, what it must not."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from questree.search import kinds
from questree.search.graph_columns import GraphForm
from questree.search.kinds import kinds_of_form
from questree.search.matching import FIELDS, INNER, KEPT, LINKS, NAMES, PARENT, PREPOSITION, SAID
from questree.search.scenes import Rows
from questree.search.sets import ANYTHING, NOTHING

OTHER_ATTRIBUTE, ANY_NAME, OTHER_NAME, OTHER_LINK = range(1, 5)  # edits; 0 is none
EDITS = {
    kinds.ATTRIBUTE: OTHER_ATTRIBUTE,
    kinds.NAME: ANY_NAME,
    kinds.RELATION: OTHER_LINK,
    kinds.OTHER_OBJECT: OTHER_NAME,
    kinds.OTHER_RELATION: OTHER_LINK,
}
POSITIVE, NO_MULTIPLE, FIRST_KIND = range(3)  # numbers of kinds; those of the form follow


# Caches of compiled loops know the classes of arguments by name: who renames one deletes src/**/*.nbi.
class Plan(NamedTuple):
    """The kinds of a form as arrays."""

    parent: Rows  # [node]
    preposition: NDArray[np.bool_]  # [node]
    edit: Rows  # [kind, 2, (node, edit)]
    kept: NDArray[np.bool_]  # [kind, node] is it part of F?
    kept_attribute: NDArray[np.bool_]  # [kind] is the root's attribute?


class AskedGraphs(NamedTuple):
    """Graphs of one form; [graph, node] words and sets."""

    name: Rows
    attribute: Rows
    link: Rows
    other_name: Rows  # set that replaces the name of a leaf
    other_attribute: Rows  # set that replaces the attribute
    other_link: Rows  # set that replaces the relation that leads to a node
    multiple: Rows  # [graph] matching roots a positive needs
    draw: NDArray[np.uint64]  # [graph] decides which images are drawn if there are more than the limit


def plan_of(form: GraphForm) -> Plan:
    found = kinds_of_form(form)
    edit = np.zeros((len(found), 2, 2), np.int32)
    kept = np.zeros((len(found), len(form)), bool)
    for at, kind in enumerate(found):
        for place, each in enumerate(kind.edits):
            edit[at, place] = each.node, EDITS[each.what]
        kept[at, list(kind.kept)] = True
    attribute = np.array([kind.kept_root_attribute for kind in found], bool)
    return Plan(np.array(form.parent, np.int32), np.array(form.preposition, bool), edit, kept, attribute)


@njit(cache=True, nogil=True)
def empty(plan):  # type: ignore[no-untyped-def]
    pattern = np.zeros((len(plan.parent), FIELDS), np.int32)
    pattern[:, PARENT], pattern[:, KEPT] = plan.parent, 1
    for node in range(len(pattern)):
        pattern[node, PREPOSITION] = plan.preposition[node]
        if node and not plan.preposition[node]:
            pattern[plan.parent[node], INNER] = 1
    return pattern


@njit(cache=True, nogil=True)
def make_wanted(graph, kind, plan, asked, pattern):  # type: ignore[no-untyped-def]
    """Make the pattern Q of a kind; false if the graph has no such kind."""
    if kind == NO_MULTIPLE and asked.multiple[graph] < 2:
        return False
    for node in range(len(plan.parent)):
        attribute = asked.attribute[graph, node]
        pattern[node, NAMES] = asked.name[graph, node]
        pattern[node, SAID] = ANYTHING if attribute < 0 else attribute
        pattern[node, LINKS] = asked.link[graph, node]
    if kind >= FIRST_KIND:
        for place in range(2):
            node, edit = plan.edit[kind - FIRST_KIND, place]
            if not _edited(graph, node, edit, asked, pattern):
                return False
    return True


@njit(cache=True, nogil=True)
def _edited(graph, node, edit, asked, pattern):  # type: ignore[no-untyped-def]
    """Change the pattern; false if there is nothing to change it to."""
    if edit == OTHER_ATTRIBUTE:
        pattern[node, SAID] = asked.other_attribute[graph, node]
        return pattern[node, SAID] != NOTHING
    if edit == OTHER_NAME:
        pattern[node, NAMES] = asked.other_name[graph, node]
        return pattern[node, NAMES] != NOTHING
    if edit == OTHER_LINK:
        pattern[node, LINKS] = asked.other_link[graph, node]
        return pattern[node, LINKS] != NOTHING
    if edit == ANY_NAME:
        pattern[node, NAMES] = ANYTHING
        return asked.attribute[graph, node] < 0
    return True


@njit(cache=True, nogil=True)
def make_unwanted(graph, kind, plan, asked, codes, relaxed):  # type: ignore[no-untyped-def]
    """Make the pattern F of a kind: the kept part of the relaxed graph."""
    for node in range(len(plan.parent)):
        attribute = asked.attribute[graph, node]
        asks = attribute >= 0 and (node > 0 or plan.kept_attribute[kind])
        relaxed[node, NAMES] = codes.name[asked.name[graph, node]]
        relaxed[node, SAID] = codes.attribute[attribute] if asks else ANYTHING
        relaxed[node, LINKS] = codes.relation[asked.link[graph, node]] if node else NOTHING
        relaxed[node, KEPT] = plan.kept[kind, node]
