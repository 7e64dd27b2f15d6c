"""Questions given to us, by columns: each program is one of a few shapes with slots, and the words that fill them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import by_value, ranges
from questree.domains.images import IMAGES
from questree.faults import BadInput
from questree.notation import covr
from questree.notation.own import parse
from questree.program import Kind, Language, Node, ProgramError, Word, fill, slots

Ints = NDArray[np.int64]

NOTHING = -1


@dataclass(frozen=True)
class ProgramShapes:
    """Slots of a shape are called by the place of their word: 0, 1, ..."""

    shapes: list[Node]
    code: Ints  # [question] shape
    words: list[str]  # all different ones
    filled: Ints  # [question, slot] position in words, or NOTHING

    @cached_property
    def by_shape(self) -> list[tuple[Node, Ints]]:
        return [(self.shapes[code], at) for code, at in by_value(self.code)]

    def columns(self, shape: Node, at: Ints, positions: Callable[[list[str], Kind], Ints]) -> dict[str, Ints]:
        """What the slots of a shape stand for in the questions `at`, as a world numbers its words."""
        found = {}
        for name, slot in slots(shape).items():
            different, inverse = np.unique(self.filled[at, int(name)], return_inverse=True)
            found[name] = positions([self.words[word] for word in different.tolist()], slot.kind)[inverse]
        return found


def program_shapes(questions: pl.DataFrame, language: Language = IMAGES) -> ProgramShapes:
    """From the columns form and words (tables/questions.PROGRAM); numbered anew, so that no other question matters."""
    forms, code = _met(questions["form"])
    return ProgramShapes([_shape(form, language) for form in forms], code, *numbered(questions["words"]))


def _met(texts: pl.Series) -> tuple[list[str], Ints]:
    """All different texts in the order they are met, and which of them each is."""
    different = texts.cast(pl.String).unique(maintain_order=True)
    own = texts.cast(pl.String).cast(pl.Enum(different))
    return different.to_list(), own.to_physical().to_numpy().astype(np.int64)


def numbered(lists: pl.Series) -> tuple[list[str], Ints]:
    """All different words, and [question, place] which stands where."""
    words, position = _met(lists.explode(empty_as_null=False))
    size = lists.list.len().to_numpy().astype(np.int64)
    table = np.full((len(lists), int(size.max(initial=0))), NOTHING, np.int64)
    table[ranges(np.zeros(len(size), np.int64), size)] = position
    return words, table


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
