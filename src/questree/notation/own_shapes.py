"""Questions given to us, by columns: each program is one of a few shapes with slots, and the words that fill them."""

from collections.abc import Iterable
from functools import lru_cache

import polars as pl

from questree.domains.images import IMAGES
from questree.faults import BadInput
from questree.notation import covr
from questree.notation.own import parse
from questree.readings.forms import ProgramShapes, met, numbered
from questree.terms import Language, Node, ProgramError, Word, fill, slots

SHAPES = 1 << 12  # that are kept: other questions have the same


def program_shapes(questions: pl.DataFrame, language: Language = IMAGES) -> ProgramShapes:
    """From the columns form and words (tables/questions.PROGRAM); numbered anew, so that no other question matters."""
    forms, code = met(questions["form"])
    return ProgramShapes([_shape(form, language) for form in forms], code, *numbered(questions["words"]))


@lru_cache(SHAPES)
def _shape(form: str, language: Language) -> Node:
    try:
        return parse(form, language)
    except ProgramError as error:
        raise BadInput.at("", f"not a program of our notation: {form!r:.80}; {error}") from error


def row_form(shape: Node) -> tuple[list[covr.Row], list[int]]:
    """COVR's rows of a shape, every word replaced by the number of its slot; and the slots in the order of the rows."""
    words = {name: Word(name, slot.kind) for name, slot in slots(shape).items()}
    rows = covr.write(fill(shape, words))  # type: ignore[arg-type]
    return rows, [int(word) for word in _literals(rows)]


def _literals(value: object) -> Iterable[str | int]:
    """Words and numbers among the arguments of rows, in order."""
    if isinstance(value, list):
        for each in value:
            yield from _literals(each.get("arguments") or [] if isinstance(each, dict) else each)
    elif isinstance(value, str | int):
        yield value
