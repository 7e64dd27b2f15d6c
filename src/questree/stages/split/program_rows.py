"""Questions about image sets as predicates see them: the shape of their program, and its words as columns."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks.covr.splits import ANSWERING, JOINT, TERMS, WORDS
from questree.columns.joins import Ints, ranges
from questree.notation.own_shapes import NOTHING, numbered, program_shapes, row_form
from questree.stages.split.rows import Argument, Piece, QuestionRows, Truth

NUMBER, WORD, LIST, PROGRAM, NONE = "number", "word", "list", "program", ""  # what an argument is
Program = Sequence[dict[str, Any]]  # rows {operation, arguments, dependencies}
Outline = tuple[Any, ...]  # a program without its words: hashable


@dataclass(frozen=True)
class ProgramRow(Piece):
    """A row of a program."""

    over: tuple[str, ...]  # operations of its dependencies
    inner: bool  # inside the sub-program of a quantifier
    last: bool  # the one that gives the answer


@dataclass(frozen=True)
class ProgramShape:
    text: str  # as the program split writes it: "count (find)"
    rows: tuple[ProgramRow, ...]

    @property
    def answering(self) -> bool:
        return any(row.last and row.op in ANSWERING for row in self.rows)

    @property
    def terms(self) -> list[str]:
        """Columns of the words that are terms of the lexical split."""
        return [a.column for row in self.rows if row.op in TERMS for a in row.args if a.kind not in ("", NUMBER)]


@dataclass(frozen=True)
class ImageRows(QuestionRows):
    """questions: id, side, template, answer, spoken (the answer is a word), images (rows of the images)."""

    shapes: list[ProgramShape]  # by code
    known: list[str] = field(repr=False)  # the words the columns refer to
    called = "images"

    def pieces(self, code: int) -> tuple[Piece, ...]:
        return self.shapes[code].rows

    def places(self, at: Truth) -> set[int]:
        return set(self.questions.filter(at)["images"].explode(empty_as_null=False).unique().to_list())

    def named(self, at: list[int]) -> list[str]:
        return self.questions["id"].gather(at).to_list()

    @cached_property
    def position(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.known)}

    @cached_property
    def terms(self) -> tuple[list[str], Ints, Ints]:
        """All terms in order; (question, term) rows, each once, by question."""
        question, word = _said(self)
        parts = [[term for term in text.split(JOINT) if term] for text in self.known]
        names = sorted({term for own in parts for term in own})
        at = {name: number for number, name in enumerate(names)}
        end = np.cumsum([len(own) for own in parts])
        row, place = ranges(np.append(0, end)[word], end[word])  # of every word its terms
        term = np.array([at[term] for own in parts for term in own], np.int64)[place]
        key = np.unique(question[row] * len(names) + term)
        return names, key // max(1, len(names)), key % max(1, len(names))

    def has_term(self, name: str) -> Truth:
        names, question, term = self.terms
        found, at = np.zeros(len(self), bool), np.searchsorted(names, name)
        if at < len(names) and names[at] == name:
            found[question[term == at]] = True
        return found

    def words_of(self, kind: str) -> list[str]:
        """The words of this kind that occur."""
        columns = {
            (arg.column, code)
            for code, shape in enumerate(self.shapes)
            for row in shape.rows
            for arg in row.args
            if arg.kind == kind
        }
        at = dict(self.by_shape)
        used = {word for column, code in columns for word in np.unique(self.words[column][at[code]]).tolist()}
        return sorted(self.known[word] for word in used)


def _said(rows: ImageRows) -> tuple[Ints, Ints]:
    """(question, word): words that are terms, and answers that are."""
    questions, words = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    answer = np.array([rows.position.get(text, NOTHING) for text in rows.questions["answer"].to_list()], np.int64)
    spoken = rows.questions["spoken"].to_numpy()
    for code, at in rows.by_shape:
        shape = rows.shapes[code]
        for column in shape.terms:
            questions.append(at)
            words.append(rows.words[column][at])
        if shape.answering:
            questions.append(at[spoken[at]])
            words.append(answer[at[spoken[at]]])
    return np.concatenate(questions), np.concatenate(words)


def image_rows(questions: pl.DataFrame, programs: Iterable[Program]) -> ImageRows:
    """From programs as rows; shapes are numbered in the order they are met."""
    codes: dict[Outline, int] = {}
    code, said = [], []
    for program in programs:
        words: list[str] = []
        code.append(codes.setdefault(outline(program, words), len(codes)))
        said.append(words)
    known, filled = numbered(pl.Series(said, dtype=pl.List(pl.String)))
    return _rows(questions, np.array(code, np.int64), [shape_of(each) for each in codes], known, filled)


def stored_rows(questions: pl.DataFrame) -> ImageRows:
    """From forms and words."""
    programs = program_shapes(questions)
    shapes, filled = [], np.full_like(programs.filled, NOTHING)
    at = {id(node): at for node, at in programs.by_shape}
    for node in programs.shapes:
        rows, order = row_form(node)
        filled[at[id(node)], : len(order)] = programs.filled[at[id(node)]][:, order]
        shapes.append(shape_of(outline(rows, [])))
    return _rows(questions, programs.code, shapes, programs.words, filled)


def _rows(questions: pl.DataFrame, code: Ints, shapes: list[ProgramShape], known: list[str], filled: Ints) -> ImageRows:
    """filled: [question, place] the words of its program, in the order of its rows."""
    answers = questions["answer"].unique(maintain_order=True).to_list()
    columns = {str(place): filled[:, place] for place in range(filled.shape[1])}
    return ImageRows(questions, code, columns, shapes, list(dict.fromkeys([*known, *answers])))


def outline(program: Program, words: list[str]) -> Outline:
    """The program without its words, which are added to `words` in order."""
    return tuple(
        (
            row["operation"],
            tuple(_argument(each, words) for each in row.get("arguments") or ()),
            tuple(row.get("dependencies") or ()),
        )
        for row in program
    )


def _argument(value: Any, words: list[str]) -> Any:
    if isinstance(value, list):
        inner = outline(value, words) if value and isinstance(value[0], dict) else None
        return (PROGRAM, inner) if inner else (LIST, tuple(_argument(each, words) for each in value))
    if value is None or isinstance(value, bool | dict):
        return NONE
    words.append(str(value))
    return NUMBER if isinstance(value, int) else WORD


def shape_of(program: Outline) -> ProgramShape:
    """Columns are numbered as the words were said."""
    rows: list[ProgramRow] = []
    _gather(program, rows, iter(range(1 << 30)), inner=False)
    return ProgramShape(_text(program, len(program) - 1) if program else "", tuple(rows))


def _gather(program: Outline, rows: list[ProgramRow], column: Iterator[int], inner: bool) -> None:
    """The rows, a quantifier's before those inside it; words are numbered row by row."""
    for at, (op, arguments, dependencies) in enumerate(program):
        below: list[ProgramRow] = []
        args = tuple(arg for each in arguments for arg in _words(op, each, below, column))
        over = tuple(program[on][0] for on in dependencies)
        rows += [ProgramRow(op, args, over, inner, not inner and at == len(program) - 1), *below]


def _words(op: str, argument: Any, below: list[ProgramRow], column: Iterator[int]) -> Iterator[Argument]:
    if argument in (WORD, NUMBER):
        yield Argument(NUMBER if argument == NUMBER else WORDS.get(op, WORD), str(next(column)))
    elif argument and argument[0] == LIST:
        for each in argument[1]:
            yield from _words(op, each, below, column)
    elif argument and argument[0] == PROGRAM:
        _gather(argument[1], below, column, inner=True)


def _text(program: Outline, at: int) -> str:
    """`op [sub-program] (dependency,dependency)`."""
    op, arguments, dependencies = program[at]
    subs = [
        _text(inner[1], len(inner[1]) - 1) for inner in arguments if isinstance(inner, tuple) and inner[0] == PROGRAM
    ]
    over = ",".join(_text(program, on) for on in dependencies)
    return str(op) + (f" [{','.join(subs)}]" if subs else "") + (f" ({over})" if over else "")
