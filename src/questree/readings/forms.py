"""The form of a program: slots in place of its words. Programs of one form differ only in their words, which become
columns, so a form is read, answered and taken apart once for all of them."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import by_value, ranges
from questree.terms import Kind, Node, Slot, Term, slots

Form = TypeVar("Form", bound=Hashable)
Ints = NDArray[np.int64]
NOTHING = -1


def is_leaf(term: Term) -> bool:
    return not isinstance(term, Node)


def lifted(
    program: Node,
    called: str = "s",
    once: bool = False,
    leaf: Callable[[Term], bool] = is_leaf,
    slot: Callable[[str, Term], Slot] = lambda name, term: Slot(name, term.kind),
) -> tuple[Node, tuple[Term, ...]]:
    """The form of a program, and its words from left to right: the word of slot s3 is the fourth.

    With `once` a word that is said twice is one slot. `leaf` says what counts as a word, `slot` what stands for it.
    """
    words: list[Term] = []

    def visit(term: Term) -> Term:
        if isinstance(term, Node) and not leaf(term):
            return Node(term.op, tuple(map(visit, term.args)))
        if not once or term not in words:
            words.append(term)
        return slot(f"{called}{words.index(term) if once else len(words) - 1}", term)

    form = visit(program)
    assert isinstance(form, Node)
    return form, tuple(words)


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


def gathered(programs: Iterable[tuple[Form, Sequence[str]]]) -> tuple[list[Form], Ints, list[str], Ints]:
    """(form, words) of programs, by columns: the different forms, [program] which it has, the different words,
    [program, place] which stands there."""
    known: dict[Form, int] = {}
    code, said = list[int](), list[Sequence[str]]()
    for form, words in programs:
        code.append(known.setdefault(form, len(known)))
        said.append(words)
    return list(known), np.array(code, np.int64), *numbered(pl.Series(said, dtype=pl.List(pl.String)))


def met(texts: pl.Series) -> tuple[list[str], Ints]:
    """All different texts in the order they are met, and which of them each is."""
    different = texts.cast(pl.String).unique(maintain_order=True)
    own = texts.cast(pl.String).cast(pl.Enum(different))
    return different.to_list(), own.to_physical().to_numpy().astype(np.int64)


def numbered(lists: pl.Series) -> tuple[list[str], Ints]:
    """All different words, and [question, place] which stands where."""
    words, position = met(lists.explode(empty_as_null=False))
    size = lists.list.len().to_numpy().astype(np.int64)
    table = np.full((len(lists), int(size.max(initial=0))), NOTHING, np.int64)
    table[ranges(np.zeros(len(size), np.int64), size)] = position
    return words, table
