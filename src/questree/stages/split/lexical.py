"""The lexical split: which pairs of terms may be held out, counted in chunks of questions, and those that are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import ANSWERING, JOINT, LEXICAL, TERMS
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints, ranges
from questree.stages.split.predicates import OfColumns
from questree.stages.split.rows import NUMBER, QuestionRows, Truth

Pair = tuple[str, str]  # in order of their spelling: a pair is not ordered


@dataclass(frozen=True)
class Lexical:
    """Which pairs of terms may be held out, and how many are."""

    pairs: int = 65
    alone: int = 50  # questions of train with one term and without the other, of each
    together: int = 15  # questions of the evaluated side with both


class PairCounts(NamedTuple):
    """How many questions have both terms of a pair."""

    pair: Ints  # a * terms + b with a < b, ascending
    number: Ints


@dataclass(frozen=True)
class TermCounts:
    """What was counted about the terms of some questions; small enough to come from anywhere."""

    terms: list[str]
    single: Ints  # [term] questions of train
    learnt: PairCounts  # in train
    judged: PairCounts  # on the evaluated side


def counted_terms(rows: QuestionRows, train: Truth, judged: Truth) -> TermCounts:
    names = terms(rows)[0]
    single = np.bincount(_terms(rows, train)[1], minlength=len(names))
    return TermCounts(names, single, pairs_in(rows, train), pairs_in(rows, judged))


@dataclass(frozen=True)
class TermPairs:
    """Pairs of terms that some question of the evaluated side has."""

    terms: list[str]
    pair: Ints  # [pair] a * terms + b
    together: Ints  # [pair] questions of the evaluated side with both
    alone: Ints  # [pair] questions of train with one term and without the other: the fewer of the two

    def fitting(self, lexical: Lexical) -> list[Pair]:
        """Those whose terms are seen apart often enough in train, and together on the evaluated side."""
        found = self.pair[(self.together >= lexical.together) & (self.alone >= lexical.alone)].tolist()
        return [(self.terms[key // len(self.terms)], self.terms[key % len(self.terms)]) for key in found]

    def lacking(self, lexical: Lexical) -> str:
        """Why none fits."""
        often = self.together >= lexical.together
        if not len(self.pair):
            return "no evaluated question has two terms"
        if not often.any():
            most = f"no pair of terms is in {lexical.together} evaluated questions, the most frequent in"
            return f"{most} {self.together.max()}; make more questions or lower --lexical-together"
        seen = f"{often.sum():,} pairs of terms are in {lexical.together} evaluated questions, but of none has train"
        most = f"{lexical.alone} questions with each term alone, at most {self.alone[often].max()}"
        return f"{seen} {most}; make more questions or lower --lexical-alone"


def term_pairs(counts: Sequence[TermCounts]) -> TermPairs:
    """Of all questions, given what was counted in some at a time."""
    names = sorted({term for own in counts for term in own.terms})
    at = {name: number for number, name in enumerate(names)}
    single = np.zeros(len(names), np.int64)
    learnt, judged = list[PairCounts](), list[PairCounts]()
    for own in counts:
        place = np.array([at[term] for term in own.terms], np.int64)
        single[place] += own.single
        for found, pairs in ((learnt, own.learnt), (judged, own.judged)):
            a, b = (place[side] for side in np.divmod(pairs.pair, max(1, len(place))))
            found.append(PairCounts(a * len(names) + b, pairs.number))
    seen, (pair, number) = added_up(learnt), added_up(judged)
    place = np.searchsorted(seen.pair, pair)
    both = np.where(np.append(seen.pair, -1)[place] == pair, np.append(seen.number, 0)[place], 0)  # in train
    a, b = np.divmod(pair, max(1, len(names)))
    return TermPairs(names, pair, number, np.minimum(single[a], single[b]) - both)


def added_up(counts: Sequence[PairCounts]) -> PairCounts:
    pair, at = np.unique(np.concatenate([np.zeros(0, np.int64), *(own.pair for own in counts)]), return_inverse=True)
    number = np.concatenate([np.zeros(0, np.int64), *(own.number for own in counts)])
    return PairCounts(pair, np.bincount(at, number, len(pair)).astype(np.int64))


def drawn_pairs(found: TermPairs, lexical: Lexical, seed: int) -> list[Pair]:
    """As many pairs as are wanted, or all there are."""
    fitting = found.fitting(lexical)
    return sorted(sorted(fitting, key=lambda pair: (seed_of(seed, "pair {}\0{}".format(*pair)), pair))[: lexical.pairs])


def _terms(rows: QuestionRows, inside: Truth) -> tuple[Ints, Ints]:
    _, question, term = terms(rows)
    return question[inside[question]], term[inside[question]]


def pairs_in(rows: QuestionRows, inside: Truth) -> PairCounts:
    names = terms(rows)[0]
    question, term = _terms(rows, inside)
    table = pl.DataFrame({"question": question, "term": term})
    both = table.join(table, on="question", suffix="_2").filter(pl.col("term") < pl.col("term_2"))
    key = both["term"].to_numpy() * len(names) + both["term_2"].to_numpy()
    return PairCounts(*np.unique(key, return_counts=True))


def few_pairs(found: TermPairs, pairs: Sequence[Pair], lexical: Lexical) -> tuple[str, ...]:
    """A warning if there are fewer than wanted."""
    few = f"{LEXICAL}: {len(pairs):,} pairs instead of {lexical.pairs:,}: no others have {lexical.alone} questions of "
    few += f"train with each term alone and {lexical.together} with both outside of it"
    if lexical.pairs and not pairs:
        few = f"{LEXICAL}: nothing is held out: {found.lacking(lexical)}"
    return (few,) if len(pairs) < lexical.pairs else ()


def together(pairs: Sequence[Pair]) -> OfColumns:
    """The question has both terms of one of these pairs."""

    def look(rows: QuestionRows) -> Truth:
        found = np.zeros(len(rows), bool)
        for one, other in pairs:
            found |= has_term(rows, one) & has_term(rows, other)
        return found

    return OfColumns(f"one of {len(pairs):,} drawn pairs", look, tuple(pairs))


def with_term(name: str) -> OfColumns:
    """The question has this term of the lexical split."""
    return OfColumns(f'term("{name}")', lambda rows: has_term(rows, name))


@lru_cache(2)
def terms(rows: QuestionRows) -> tuple[list[str], Ints, Ints]:
    """All terms of the lexical split in order; (question, term) rows, each once, by question."""
    question, word = _said(rows)
    parts = [[term for term in text.split(JOINT) if term] for text in rows.known]
    names = sorted({term for own in parts for term in own})
    at = {name: number for number, name in enumerate(names)}
    end = np.cumsum(np.array([len(own) for own in parts], np.int64))
    row, place = ranges(np.append(0, end)[word], end[word])  # of every word its terms
    term = np.array([at[term] for own in parts for term in own], np.int64)[place]
    key = np.unique(question[row] * len(names) + term)
    return names, key // max(1, len(names)), key % max(1, len(names))


def has_term(rows: QuestionRows, name: str) -> Truth:
    names, question, term = terms(rows)
    found, at = np.zeros(len(rows), bool), np.searchsorted(names, name)
    if at < len(names) and names[at] == name:
        found[question[term == at]] = True
    return found


def _said(rows: QuestionRows) -> tuple[Ints, Ints]:
    """(question, word): words that are terms, and answers that are."""
    questions, words = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    answer = np.array([rows.position[text] for text in rows.questions["answer"].to_list()], np.int64)
    spoken = rows.questions["spoken"].to_numpy()
    for code, at in rows.by_shape:
        pieces = rows.shape(code).pieces
        for argument in (arg for piece in pieces if piece.op in TERMS for arg in piece.args):
            if argument.kind not in ("", NUMBER):
                questions.append(at)
                words.append(rows.words[argument.column][at])
        if any(piece.last and piece.op in ANSWERING for piece in pieces):
            questions.append(at[spoken[at]])
            words.append(answer[at[spoken[at]]])
    return np.concatenate(questions), np.concatenate(words)
