"""COVR's splits as data: every property over every question; shapes of programs, pairs of terms, and the examples that
stay in train are drawn by keyed hashes."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from questree.benchmarks.covr.splits import (
    FEW_SHOT,
    FURTHER,
    HELD_OUT_SHAPES,
    KEPT,
    LEXICAL,
    PROGRAM,
    TEMPLATE_OF,
    ZERO_SHOT,
)
from questree.columns.hashing import Hashes, mixed, seed_of
from questree.sources.covr import CovrRecord, answer_text
from questree.stages.split.declared import HeldOutComposition, Split
from questree.stages.split.grammar import read
from questree.stages.split.language import of_images
from questree.stages.split.lexical import (
    Lexical,
    Pair,
    count_pairs,
    drawn_pairs,
    few_pairs,
    term_pairs,
    together,
    with_term,
)
from questree.stages.split.predicates import Both, Either, NamedPredicate, Not, OfColumns, Predicate, parts
from questree.stages.split.rows import QuestionRows, Truth, released_rows


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


def named(name: str, position: Mapping[str, int]) -> Property:
    """A property, or two of them with & or |, by COVR's name; position: of words among those of questions."""
    return Property(name, read(name, of_images(position)))


def shapes_of(rows: QuestionRows) -> set[str]:
    """The different shapes of questions."""
    return {rows.shape(code).text for code, _ in rows.by_shape}


def drawn_shapes(texts: Collection[str], seed: int) -> list[str]:
    """A fifth of the different shapes of all questions, rounded up."""
    count = -int(-len(texts) * HELD_OUT_SHAPES // 1)
    return sorted(sorted(texts, key=lambda text: (seed_of(seed, f"shape {text}"), text))[:count])


def few_of(name: str) -> str:
    """What the examples of a property are drawn by."""
    return f"few {name}"


def draw_by(seed: int, name: str) -> pl.Expr:
    """[question] a number by which it is drawn for a list, the lowest first, whatever order they came in; made of its
    `hash`, the `seeds_of` its id."""
    return mixed(pl.lit(seed_of(seed, name), pl.UInt64), pl.col("hash"))


def of_shapes(texts: Iterable[str]) -> OfColumns:
    """The program has one of these shapes."""
    drawn = frozenset(texts)
    text = f"one of {len(drawn):,} drawn shapes"
    return OfColumns(text, lambda rows: rows.having(lambda shape: shape.text in drawn), drawn)


def among(ids: frozenset[str]) -> OfColumns:
    """The question is one of those drawn to stay."""
    text = f"{len(ids):,} drawn questions"
    return OfColumns(text, lambda rows: rows.questions["id"].is_in(list(ids)).to_numpy(), ids)


def program_split(texts: list[str], seed: int) -> Property:
    """texts: the shapes that were drawn."""
    return Property(PROGRAM, NamedPredicate(f"{PROGRAM} of seed {seed}", of_shapes(texts)), texts)


def lexical_split(pairs: Sequence[Pair], seed: int, warnings: tuple[str, ...] = ()) -> Property:
    """pairs: those that were drawn."""
    predicate = NamedPredicate(f"{LEXICAL} of seed {seed}", together(pairs))
    alone = [with_term(term) for term in dict.fromkeys(term for pair in pairs for term in pair)]
    return Property(LEXICAL, predicate, [list(pair) for pair in pairs], warnings, tuple(alone))


def properties(rows: QuestionRows, drawing: Drawing, train: Truth, judged: Truth) -> Iterator[Property]:
    """Everything the splits hold out, the properties they are made of, and the two that are drawn."""
    for name in dict.fromkeys([*FEW_SHOT, *ZERO_SHOT, *FURTHER]):
        yield named(name, rows.position)
    yield program_split(drawn_shapes(shapes_of(rows), drawing.seed), drawing.seed)
    pairs = term_pairs(count_pairs(rows, train, judged).lazy())
    drawn = drawn_pairs(pairs, drawing.lexical, drawing.seed)
    yield lexical_split(drawn, drawing.seed, few_pairs(pairs, drawn, drawing.lexical))


def zero_shot(held: Property, name: str = "") -> Split:
    """Nothing of it in train; of what is composed, every part should be."""
    inside = held.predicate.of if isinstance(held.predicate, NamedPredicate) else held.predicate
    whole = (
        HeldOutComposition(held.predicate, held.parts or tuple(parts(inside) if isinstance(inside, Both) else ())),
    )
    return Split(name or held.name, whole, Not(held.predicate), held.predicate, held.drawn, held.warnings)


def examples(held: Property, rows: QuestionRows, hashed: Hashes, train: Truth, drawing: Drawing) -> pl.DataFrame:
    """id, draw: of some questions the examples that are drawn first, as many as stay in train."""
    table = rows.questions.select("id", hash=pl.Series(hashed)).filter(pl.Series(train & held.predicate.holds(rows)))
    by_draw = table.select("id", draw=draw_by(drawing.seed, few_of(held.name))).sort("draw", maintain_order=True)
    return by_draw.head(drawing.few_shot)


def few_shot(held: Property, drawn: Iterable[str]) -> Split:
    """A few drawn examples, known by their ids, stay in train, and nothing else of it."""
    kept = among(frozenset(drawn))
    rest = Both(held.predicate, Not(kept))
    return Split(held.name, (HeldOutComposition(rest, ()),), Either(Not(held.predicate), kept), held.predicate)
