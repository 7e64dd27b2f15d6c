"""The lexical split: which pairs of terms may be held out, and those that are drawn."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

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


def count_pairs(rows: QuestionRows, train: Truth, judged: Truth) -> pl.DataFrame:
    """a, b, learnt, judged: how many questions of train, and of the evaluated side, have both terms; a term and itself
    stand for the term alone."""
    names, question, term = terms(rows)
    of_terms = pl.DataFrame({"question": question, "a": pl.Series(names, dtype=pl.String).gather(term)})
    of_terms = of_terms.with_columns(
        learnt=pl.Series(train).gather(question), judged=pl.Series(judged).gather(question)
    )
    both = of_terms.join(of_terms.select("question", b="a"), on="question").filter(pl.col("a") <= pl.col("b"))
    return both.group_by("a", "b").agg(pl.col("learnt", "judged").sum())


def term_pairs(counts: pl.LazyFrame) -> pl.DataFrame:
    """a, b, together, alone of the pairs that some question of the evaluated side has, in order: how many of these have
    both terms, and how many of train have one without the other, the fewer of the two; counts: of all questions."""
    sums = counts.group_by("a", "b").agg(pl.col("learnt", "judged").cast(pl.Int64).sum()).collect(engine="streaming")
    single = sums.filter(pl.col("a") == pl.col("b")).select("a", one="learnt")
    pairs = sums.filter(pl.col("a") < pl.col("b"), pl.col("judged") > 0)
    pairs = pairs.join(single, on="a").join(single.rename({"a": "b", "one": "other"}), on="b").sort("a", "b")
    return pairs.select("a", "b", together="judged", alone=pl.min_horizontal("one", "other") - pl.col("learnt"))


def lacking(pairs: pl.DataFrame, lexical: Lexical) -> str:
    """Why no pair fits."""
    often = pairs.filter(pl.col("together") >= lexical.together)
    if pairs.is_empty():
        return "no evaluated question has two terms"
    if often.is_empty():
        most = f"no pair of terms is in {lexical.together} evaluated questions, the most frequent in"
        return f"{most} {max(pairs['together'])}; make more questions or lower --lexical-together"
    seen = f"{len(often):,} pairs of terms are in {lexical.together} evaluated questions, but of none has train"
    most = f"{lexical.alone} questions with each term alone, at most {max(often['alone'])}"
    return f"{seen} {most}; make more questions or lower --lexical-alone"


def drawn_pairs(pairs: pl.DataFrame, lexical: Lexical, seed: int) -> list[Pair]:
    """As many pairs as are wanted, or all there are, whose terms are seen apart often enough in train, and together on
    the evaluated side."""
    fits = (pl.col("together") >= lexical.together) & (pl.col("alone") >= lexical.alone)
    fitting: list[Pair] = pairs.filter(fits).select("a", "b").rows()
    return sorted(sorted(fitting, key=lambda pair: (seed_of(seed, "pair {}\0{}".format(*pair)), pair))[: lexical.pairs])


def few_pairs(pairs: pl.DataFrame, drawn: Sequence[Pair], lexical: Lexical) -> tuple[str, ...]:
    """A warning if there are fewer than wanted."""
    few = f"{LEXICAL}: {len(drawn):,} pairs instead of {lexical.pairs:,}: no others have {lexical.alone} questions of "
    few += f"train with each term alone and {lexical.together} with both outside of it"
    if lexical.pairs and not drawn:
        few = f"{LEXICAL}: nothing is held out: {lacking(pairs, lexical)}"
    return (few,) if len(drawn) < lexical.pairs else ()


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
