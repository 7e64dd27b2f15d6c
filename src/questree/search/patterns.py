"""The patterns of a kind of distractor, over sets of words: Q, what an image must contain, and F, what it must not."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.search.distractors import (
    ATTRIBUTE,
    NAME,
    NONE,
    OTHER_OBJECT,
    OTHER_RELATION,
    RELATION,
    Coded,
    GraphForm,
    kinds_of_form,
)
from questree.search.index import ANY, HAS, Keys, Rows, signature
from questree.search.rows import first_at
from questree.search.word_tables import Pairs, WordTables

Bits = NDArray[np.uint64]  # [set, 64 words]

NOTHING, ANYTHING, FIRST_ROW = -1, -2, -3  # a code >= 0 is one word; FIRST_ROW - k is row k of the bits


class Codes(NamedTuple):
    """[word] the set that a word becomes; NOTHING if it has none."""

    name: Rows  # {n} and the nouns entailing it
    attribute: Rows  # {a} and the attributes entailing it
    relation: Rows  # {r} and the relations that may be true where it is
    contradicting: Rows
    disjoint: Rows


class SearchWords:
    """The words of the images, then other words of the tables, then one number for all words that nobody knows."""

    def __init__(self, used: list[str], words: WordTables) -> None:
        self.used = len(used)
        self.at = {word: row for row, word in enumerate(used)}
        for table in (words.entailing_nouns, words.entailing_attributes, words.not_disjoint):
            for word in table:  # such a word is in no image, but what entails it may be
                self.at.setdefault(word, len(self.at))
        self.unknown = len(self.at)

    def code(self, word: str) -> int:
        return self.at.get(word, self.unknown)


def codes(vocabulary: SearchWords, words: WordTables) -> tuple[Codes, Bits]:
    rows: list[list[int]] = []

    def column(table: Pairs, itself: bool) -> Rows:
        every = np.arange(vocabulary.unknown + 1, dtype=np.int32)
        found = every if itself else np.full_like(every, NOTHING)
        for word, others in table.items():
            at = vocabulary.at.get(word)
            if at is not None:
                members = {row for other in others if (row := vocabulary.code(other)) < vocabulary.used}
                found[at] = _coded(sorted(members | {at} if itself else members), rows)
        return found

    made = Codes(
        column(words.entailing_nouns, True),
        column(words.entailing_attributes, True),
        column(words.not_disjoint, True),
        column(words.contradicting, False),
        column(words.disjoint, False),
    )
    bits = np.zeros((len(rows), vocabulary.used // 64 + 1), np.uint64)
    for row, members in enumerate(rows):
        inside = np.array([word for word in members if word < vocabulary.used], np.int64)
        np.bitwise_or.at(bits[row], inside >> 6, np.uint64(1) << (inside & 63).astype(np.uint64))
    return made, bits


def _coded(members: list[int], rows: list[list[int]]) -> int:
    if len(members) < 2:
        return members[0] if members else NOTHING
    rows.append(members)
    return FIRST_ROW - (len(rows) - 1)


@njit(cache=True, nogil=True, inline="always")
def within(code, word, bits):  # type: ignore[no-untyped-def]
    if code >= 0:
        return word == code
    if code > FIRST_ROW:
        return code == ANYTHING
    return (bits[FIRST_ROW - code, word >> 6] >> np.uint64(word & 63)) & np.uint64(1) != np.uint64(0)


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
        for at in range(first_at(keys, place[row]), len(keys)):
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


# A pattern is a graph whose words are codes of sets: an array [node, field] in the order of a Form.
PARENT, PREPOSITION, INNER, NAMES, SAID, LINKS, KEPT = range(7)  # INNER: has relations; KEPT: is part of it
FIELDS = 7
OTHER_ATTRIBUTE, ANY_NAME, OTHER_NAME, OTHER_LINK = range(1, 5)  # edits; 0 is none
EDITS = {
    ATTRIBUTE: OTHER_ATTRIBUTE,
    NAME: ANY_NAME,
    RELATION: OTHER_LINK,
    OTHER_OBJECT: OTHER_NAME,
    OTHER_RELATION: OTHER_LINK,
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
