"""Questions given to us, by columns: each program is one of a few shapes with slots, and the words that fill them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from re import sub

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import ranges
from questree.domains.images import IMAGES
from questree.faults import BadInput
from questree.notation import covr
from questree.notation.own import parse
from questree.program import Kind, Language, Node, ProgramError, Word, fill, slots

Ints = NDArray[np.int64]

PLAIN = r"([^(),]+)([,)])"  # a word: what is not followed by a bracket that opens
HOLE = "?"
SLOT, JOINT = "w", ", "  # no word of a video has a comma in it
NOTHING = -1


@dataclass(frozen=True)
class ProgramShapes:
    """Slots of a shape are called by the place of their word: 0, 1, ... (w0, w1, ... of AGQA's programs)."""

    shapes: list[Node]
    code: Ints  # [question] shape
    words: list[str]  # all different ones
    filled: Ints  # [question, slot] position in words, or NOTHING

    @cached_property
    def by_shape(self) -> list[tuple[Node, Ints]]:
        order = np.argsort(self.code, kind="stable")
        codes, begin = np.unique(self.code[order], return_index=True)
        return [(self.shapes[code], at) for code, at in zip(codes.tolist(), np.split(order, begin[1:]), strict=True)]

    def columns(self, shape: Node, at: Ints, positions: Callable[[list[str], Kind], Ints]) -> dict[str, Ints]:
        """What the slots of a shape stand for in the questions `at`, as a world numbers its words."""
        found = {}
        for name, slot in slots(shape).items():
            different, inverse = np.unique(self.filled[at, int(name.removeprefix(SLOT))], return_inverse=True)
            found[name] = positions([self.words[word] for word in different.tolist()], slot.kind)[inverse]
        return found


def stored_shapes(shapes: pl.Series, words: pl.Series, language: Language) -> ProgramShapes:
    """From columns that hold a shape and its words (JOINT between them) apart."""
    different = shapes.unique(maintain_order=True)
    known, filled = numbered(words.str.split(JOINT))
    nodes = [parse(text, language) for text in different.to_list()]
    return ProgramShapes(nodes, _positions(shapes, different), known, filled)


def program_shapes(texts: pl.Series) -> ProgramShapes:
    """From programs of image sets in our notation."""
    outline = texts.str.replace_all(PLAIN, HOLE + "${2}")
    different = outline.unique(maintain_order=True)
    said = texts.str.extract_all(PLAIN).list.eval(pl.element().str.head(-1).str.strip_chars())
    code = _positions(outline, different)
    words, filled = numbered(said)
    return ProgramShapes([_shape(text) for text in different.to_list()], code, words, filled)


def _positions(values: pl.Series, different: pl.Series) -> Ints:
    names = pl.DataFrame({"name": different, "at": np.arange(len(different))})
    found = pl.DataFrame({"name": values}).join(names, on="name", how="left", maintain_order="left")
    return np.asarray(found["at"].to_numpy(), np.int64)


def numbered(lists: pl.Series) -> tuple[list[str], Ints]:
    """All different words, and [question, place] which stands where."""
    flat = lists.explode(empty_as_null=False).cast(pl.String)
    different = flat.unique(maintain_order=True)
    size = lists.list.len().to_numpy().astype(np.int64)
    table = np.full((len(lists), int(size.max(initial=0))), NOTHING, np.int64)
    row, place = ranges(np.zeros(len(size), np.int64), size)
    table[row, place] = _positions(flat, different)
    return different.to_list(), table


def _shape(outline: str) -> Node:
    number = count()
    try:
        return parse(sub(r"\?", lambda _: f"${next(number)}", outline), IMAGES)
    except ProgramError as error:
        raise BadInput.at("", f"not a program of our notation: {outline!r:.80}; {error}") from error


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
