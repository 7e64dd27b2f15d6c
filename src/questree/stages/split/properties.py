"""COVR's splits as data: every property over every question; shapes of programs, pairs of terms, and the examples that
stay in train are drawn by keyed hashes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import (
    ANSWERING,
    FEW_SHOT,
    FURTHER,
    HELD_OUT_SHAPES,
    JOINT,
    KEPT,
    LEXICAL,
    PROGRAM,
    TEMPLATE_OF,
    TERMS,
    ZERO_SHOT,
)
from questree.columns.hashing import mix, seed_of
from questree.columns.joins import Ints, ranges
from questree.sources.covr import CovrRecord, answer_text
from questree.stages.split.declared import HeldOutComposition, Split
from questree.stages.split.grammar import read
from questree.stages.split.language import of_images
from questree.stages.split.predicates import Both, Either, NamedPredicate, Not, OfColumns, Predicate, parts
from questree.stages.split.rows import NUMBER, QuestionRows, Truth, released_rows

Pair = tuple[str, str]  # in order of their spelling: a pair is not ordered


@dataclass(frozen=True)
class Lexical:
    """Which pairs of terms may be held out, and how many are."""

    pairs: int = 65
    alone: int = 50  # questions of train with one term and without the other, of each
    together: int = 15  # questions of the evaluated side with both


@dataclass(frozen=True)
class Drawing:
    """How what is drawn is drawn."""

    seed: int = 0
    lexical: Lexical = field(default_factory=Lexical)
    few_shot: int = KEPT  # examples with the property that stay in train


@dataclass(frozen=True)
class Property:
    """What a split holds out."""

    name: str
    predicate: Predicate
    drawn: list[Any] | None = None  # shapes of programs, or pairs of terms
    warnings: tuple[str, ...] = ()
    parts: tuple[Predicate, ...] = ()  # what train should have, if the predicate does not say it


def of_records(sides: Mapping[str, Sequence[CovrRecord]]) -> QuestionRows:
    """Questions as released; `images` are ids."""
    every = [(side, record) for side, records in sides.items() for record in records]
    columns = {
        "id": [record.id for _, record in every],
        "side": [side for side, _ in every],
        "template": [TEMPLATE_OF.get(record.pattern_name, record.pattern_name) for _, record in every],
        "answer": [answer_text(record.answer) for _, record in every],
        "question": [record.utterance or record.question or "" for _, record in every],
        "spoken": [isinstance(record.answer, str) for _, record in every],
        "images": [record.scenes for _, record in every],
    }
    if any(record.paraphrase for _, record in every):
        columns["paraphrase"] = [record.paraphrase for _, record in every]
    types = dict.fromkeys(columns, pl.String()) | {"spoken": pl.Boolean(), "images": pl.List(pl.String)}
    table = pl.DataFrame(columns, schema=types)
    return released_rows(table, [record.program for _, record in every])


def named(name: str, rows: QuestionRows) -> Property:
    """A property, or two of them with & or |, by COVR's name."""
    return Property(name, read(name, of_images(rows, checked=False)))


def drawn_shapes(rows: QuestionRows, seed: int) -> list[str]:
    """A fifth of the different shapes of all questions, rounded up."""
    texts = sorted({rows.shape(code).text for code, _ in rows.by_shape})
    count = -int(-len(texts) * HELD_OUT_SHAPES // 1)
    return sorted(sorted(texts, key=lambda text: (seed_of(seed, f"shape {text}"), text))[:count])


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


def term_pairs(rows: QuestionRows, train: Truth, judged: Truth) -> TermPairs:
    names = terms(rows)[0]
    single = np.bincount(_terms(rows, train)[1], minlength=len(names))
    seen, seen_count = pairs_in(rows, train)
    pair, count = pairs_in(rows, judged)
    place = np.searchsorted(seen, pair)
    found = np.append(seen, -1)[place] == pair
    both = np.where(found, np.append(seen_count, 0)[place], 0)  # questions of train with both
    a, b = pair // max(1, len(names)), pair % max(1, len(names))
    return TermPairs(names, pair, count, np.minimum(single[a], single[b]) - both)


def drawn_pairs(rows: QuestionRows, train: Truth, judged: Truth, lexical: Lexical, seed: int) -> list[Pair]:
    """As many pairs as are wanted, or all there are."""
    found = term_pairs(rows, train, judged).fitting(lexical)
    return sorted(sorted(found, key=lambda pair: (seed_of(seed, "pair {}\0{}".format(*pair)), pair))[: lexical.pairs])


def _terms(rows: QuestionRows, inside: Truth) -> tuple[Ints, Ints]:
    _, question, term = terms(rows)
    return question[inside[question]], term[inside[question]]


def pairs_in(rows: QuestionRows, inside: Truth) -> tuple[Ints, Ints]:
    """Pairs a < b of terms as a * terms + b, ascending, and how many questions have both."""
    names = terms(rows)[0]
    question, term = _terms(rows, inside)
    table = pl.DataFrame({"question": question, "term": term})
    both = table.join(table, on="question", suffix="_2").filter(pl.col("term") < pl.col("term_2"))
    key = both["term"].to_numpy() * len(names) + both["term_2"].to_numpy()
    found = np.unique(key, return_counts=True)
    return found[0], found[1]


def drawn_questions(ids: pl.Series, count: int, seed: int, name: str) -> frozenset[str]:
    """So many of the questions; fewer are among more."""
    return frozenset(ids.gather(in_order(ids, seed, few_of(name))[:count]).to_list())


def few_of(name: str) -> str:
    """What the examples of a property are drawn by."""
    return f"few {name}"


def in_order(ids: pl.Series, seed: int, name: str) -> Ints:
    """Places of the questions in the order in which they are drawn, whatever order they came in."""
    hashed = np.array([seed_of(seed, id) for id in ids.to_list()], np.uint64)
    return np.argsort(mix(seed_of(seed, name), hashed), kind="stable")


def of_shapes(texts: Iterable[str]) -> OfColumns:
    """The program has one of these shapes."""
    drawn = frozenset(texts)
    text = f"one of {len(drawn):,} drawn shapes"
    return OfColumns(text, lambda rows: rows.having(lambda shape: shape.text in drawn), drawn)


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


def among(ids: frozenset[str]) -> OfColumns:
    """The question is one of those drawn to stay."""
    text = f"{len(ids):,} drawn questions"
    return OfColumns(text, lambda rows: rows.questions["id"].is_in(list(ids)).to_numpy(), ids)


@lru_cache(2)
def terms(rows: QuestionRows) -> tuple[list[str], Ints, Ints]:
    """All terms of the lexical split in order; (question, term) rows, each once, by question."""
    question, word = _said(rows)
    parts = [[term for term in text.split(JOINT) if term] for text in rows.known]
    names = sorted({term for own in parts for term in own})
    at = {name: number for number, name in enumerate(names)}
    end = np.cumsum([len(own) for own in parts])
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


def program_split(rows: QuestionRows, seed: int) -> Property:
    texts = drawn_shapes(rows, seed)
    return Property(PROGRAM, NamedPredicate(f"{PROGRAM} of seed {seed}", of_shapes(texts)), texts)


def lexical_split(rows: QuestionRows, seed: int, train: Truth, judged: Truth, lexical: Lexical) -> Property:
    pairs = drawn_pairs(rows, train, judged, lexical, seed)
    few = f"{LEXICAL}: {len(pairs):,} pairs instead of {lexical.pairs:,}: no others have {lexical.alone} questions of "
    few += f"train with each term alone and {lexical.together} with both outside of it"
    if lexical.pairs and not pairs:
        few = f"{LEXICAL}: nothing is held out: {term_pairs(rows, train, judged).lacking(lexical)}"
    predicate = NamedPredicate(f"{LEXICAL} of seed {seed}", together(pairs))
    alone = [with_term(term) for term in dict.fromkeys(term for pair in pairs for term in pair)]
    warnings = (few,) if len(pairs) < lexical.pairs else ()
    return Property(LEXICAL, predicate, [list(pair) for pair in pairs], warnings, tuple(alone))


def properties(rows: QuestionRows, drawing: Drawing, train: Truth, judged: Truth) -> Iterator[Property]:
    """Everything the splits hold out, the properties they are made of, and the two that are drawn."""
    for name in dict.fromkeys([*FEW_SHOT, *ZERO_SHOT, *FURTHER]):
        yield named(name, rows)
    yield program_split(rows, drawing.seed)
    yield lexical_split(rows, drawing.seed, train, judged, drawing.lexical)


def zero_shot(held: Property, name: str = "") -> Split:
    """Nothing of it in train; of what is composed, every part should be."""
    inside = held.predicate.of if isinstance(held.predicate, NamedPredicate) else held.predicate
    whole = (
        HeldOutComposition(held.predicate, held.parts or tuple(parts(inside) if isinstance(inside, Both) else ())),
    )
    return Split(name or held.name, whole, Not(held.predicate), held.predicate, held.drawn, held.warnings)


def few_shot(held: Property, rows: QuestionRows, train: Truth, drawing: Drawing) -> Split:
    """A few drawn examples stay in train, and nothing else of it."""
    ids = rows.questions["id"].filter(pl.Series(train & held.predicate.holds(rows)))
    kept = among(drawn_questions(ids, drawing.few_shot, drawing.seed, held.name))
    rest = Both(held.predicate, Not(kept))
    return Split(held.name, (HeldOutComposition(rest, ()),), Either(Not(held.predicate), kept), held.predicate)
