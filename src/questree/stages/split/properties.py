"""COVR's splits as data: every property over every question, the drawn ones with what was drawn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from questree.benchmarks.covr.splits import FEW_SHOT, FURTHER, KEPT, LEXICAL, PROGRAM, TEMPLATE_OF, ZERO_SHOT
from questree.sources.covr import CovrRecord, answer_text
from questree.stages.split.algebra import Both, Either, NamedPredicate, Not, Predicate, parts
from questree.stages.split.declared import Composition, Split
from questree.stages.split.draws import Lexical, drawn_pairs, drawn_questions, drawn_shapes
from questree.stages.split.program_rows import ImageRows, image_rows
from questree.stages.split.properties_language import ImageReader
from questree.stages.split.row_predicates import Among, OfShape, Term, Together
from questree.stages.split.rows import Truth


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


def of_records(sides: Mapping[str, Sequence[CovrRecord]]) -> ImageRows:
    """Questions as released, with their images left out."""
    every = [(side, record) for side, records in sides.items() for record in records]
    columns = {
        "id": [record.id for _, record in every],
        "side": [side for side, _ in every],
        "template": [TEMPLATE_OF.get(record.pattern_name, record.pattern_name) for _, record in every],
        "answer": [answer_text(record.answer) for _, record in every],
        "spoken": [isinstance(record.answer, str) for _, record in every],
    }
    table = pl.DataFrame(columns, schema=dict.fromkeys(list(columns)[:4], pl.String) | {"spoken": pl.Boolean})
    return image_rows(table, [record.program for _, record in every])


def named(name: str, rows: ImageRows) -> Property:
    """A property, or two of them with & or |, by COVR's name."""
    return Property(name, ImageReader(name, rows, checked=False).whole())


def program_split(rows: ImageRows, seed: int) -> Property:
    texts = drawn_shapes(rows, seed)
    held = set(texts)
    codes = frozenset(code for code, shape in enumerate(rows.shapes) if shape.text in held)
    return Property(PROGRAM, NamedPredicate(f"{PROGRAM} of seed {seed}", OfShape(codes)), texts)


def lexical_split(rows: ImageRows, seed: int, train: Truth, judged: Truth, lexical: Lexical) -> Property:
    pairs = drawn_pairs(rows, train, judged, lexical, seed)
    few = f"{LEXICAL}: {len(pairs):,} pairs instead of {lexical.pairs:,}: no others have {lexical.alone} questions of "
    few += f"train with each term alone and {lexical.together} with both outside of it"
    predicate = NamedPredicate(f"{LEXICAL} of seed {seed}", Together(tuple(pairs)))
    return Property(LEXICAL, predicate, [list(pair) for pair in pairs], (few,) if len(pairs) < lexical.pairs else ())


def properties(rows: ImageRows, drawing: Drawing, train: Truth, judged: Truth) -> Iterator[Property]:
    """Everything the splits hold out, the properties they are made of, and the two that are drawn."""
    for name in dict.fromkeys([*FEW_SHOT, *ZERO_SHOT, *FURTHER]):
        yield named(name, rows)
    yield program_split(rows, drawing.seed)
    yield lexical_split(rows, drawing.seed, train, judged, drawing.lexical)


def zero_shot(held: Property, name: str = "") -> Split:
    """Nothing of it in train; of what is composed, every part should be."""
    inside = held.predicate.of if isinstance(held.predicate, NamedPredicate) else held.predicate
    pieces = parts(inside) if isinstance(inside, Both) else []
    if isinstance(inside, Together):
        pieces = [Term(term) for term in dict.fromkeys(term for pair in inside.pairs for term in pair)]
    whole = (Composition(held.predicate, tuple(pieces)),)
    return Split(name or held.name, whole, Not(held.predicate), held.predicate)


def few_shot(held: Property, rows: ImageRows, train: Truth, drawing: Drawing) -> Split:
    """A few drawn examples stay in train, and nothing else of it."""
    ids = rows.questions["id"].filter(pl.Series(train & held.predicate.holds(rows)))
    kept = Among(drawn_questions(ids, drawing.few_shot, drawing.seed, held.name))
    rest = Both(held.predicate, Not(kept))
    return Split(held.name, (Composition(rest, ()),), Either(Not(held.predicate), kept), held.predicate)
