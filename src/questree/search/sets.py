"""Sets of words as numbers: a word itself, anything, nothing, or a row of bits over the words of the images."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from questree.search.scenes import Rows
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
        for table in (words.entailing_noun_words, words.entailing_attribute_words, words.not_disjoint_relations):
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
        column(words.entailing_noun_words, True),
        column(words.entailing_attribute_words, True),
        column(words.not_disjoint_relations, True),
        column(words.contradicting_attributes, False),
        column(words.disjoint_relations, False),
    )
    return made, bits_of(rows, vocabulary.used)


def _coded(members: list[int], rows: list[list[int]]) -> int:
    if len(members) < 2:
        return members[0] if members else NOTHING
    rows.append(members)
    return FIRST_ROW - (len(rows) - 1)


def bits_of(rows: list[list[int]], used: int) -> Bits:
    bits = np.zeros((len(rows), used // 64 + 1), np.uint64)
    for row, members in enumerate(rows):
        words = np.array([word for word in members if word < used], np.int64)
        np.bitwise_or.at(bits[row], words >> 6, np.uint64(1) << (words & 63).astype(np.uint64))
    return bits


@njit(cache=True, nogil=True, inline="always")
def within(code, word, bits):  # type: ignore[no-untyped-def]
    if code >= 0:
        return word == code
    if code > FIRST_ROW:
        return code == ANYTHING
    return (bits[FIRST_ROW - code, word >> 6] >> np.uint64(word & 63)) & np.uint64(1) != np.uint64(0)
