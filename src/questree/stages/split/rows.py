"""Questions of either medium as predicates see them: the form of each is operators, its words are columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.covr.splits import WORDS
from questree.columns.joins import Ints, by_value
from questree.notation.own_shapes import NOTHING, numbered, program_shapes, row_form
from questree.program import Node, Slot
from questree.stages.question_forms import QuestionForm
from questree.stages.questions import Shard

Truth = NDArray[np.bool_]  # [question]
NUMBER, WORD, LIST, PROGRAM, NONE = "number", "word", "list", "program", ""  # what an argument of a row is
Program = Sequence[dict[str, Any]]  # rows {operation, arguments, dependencies}
Outline = tuple[Any, ...]  # rows without their words: hashable


@dataclass(frozen=True)
class Argument:
    """column holds what the argument stands for, however it is worded; "" if it stands for no word."""

    kind: str
    column: str


@dataclass(frozen=True)
class Piece:
    """An operator of a program with its arguments."""

    op: str
    args: tuple[Argument, ...]
    over: tuple[str, ...]  # the operators it is applied to
    inner: bool = False  # inside the sub-program of a quantifier
    last: bool = False  # the one that gives the answer


@dataclass(frozen=True)
class ProgramShape:
    pieces: tuple[Piece, ...]
    text: str = ""  # of image sets, as the program split writes it: "count (find)"


@dataclass(frozen=True, eq=False)
class QuestionRows:
    """Questions with everything a predicate may look at, as columns."""

    questions: pl.DataFrame
    code: Ints  # [question] its shape
    words: Mapping[str, Ints] = field(repr=False)  # column -> [question] position among the words
    shape: Callable[[int], ProgramShape] = field(repr=False)  # of a code
    ids: Callable[[list[int]], list[str]] = field(repr=False)  # of some questions
    scope: str  # the column with the video or the images of a question
    known: list[str] = field(default_factory=list, repr=False)  # words of image sets; videos have a vocabulary

    def __len__(self) -> int:
        return len(self.code)

    @property
    def called(self) -> str:
        """What must not be on both sides of a split."""
        return {"video": "videos"}.get(self.scope, self.scope)

    def places(self, at: Truth) -> set[int]:
        """The videos or images of these questions."""
        found = self.questions[self.scope].filter(pl.Series(at))
        return set((found.explode(empty_as_null=False) if found.dtype == pl.List else found).unique().to_list())

    @cached_property
    def by_shape(self) -> list[tuple[int, Ints]]:
        """Each shape with its rows."""
        return by_value(self.code)

    def having(self, test: Callable[[ProgramShape], bool]) -> Truth:
        """[question] does its shape pass the test?"""
        return np.isin(self.code, [code for code, _ in self.by_shape if test(self.shape(code))])

    @cached_property
    def position(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.known)}

    def words_of(self, kind: str) -> list[str]:
        """The known words of this kind that occur."""
        used: set[int] = set()
        for code, at in self.by_shape:
            columns = {arg.column for piece in self.shape(code).pieces for arg in piece.args if arg.kind == kind}
            used.update(word for column in columns for word in np.unique(self.words[column][at]).tolist())
        return sorted(self.known[word] for word in used)


def video_rows(shard: Shard) -> QuestionRows:
    shape = cache(lambda code: form_shape(shard.form(code)))

    def ids(at: list[int]) -> list[str]:
        return shard.where(shard.questions[at]).named_ids.to_list()

    return QuestionRows(shard.questions, shard.forms, shard.words, shape, ids, "video")


def form_shape(form: QuestionForm) -> ProgramShape:
    """The operators of a form, outer ones first."""

    def pieces(node: Node) -> Iterator[Piece]:
        args = (
            Argument(term.kind.name, term.name if isinstance(term, Slot) else form.stands.get(term, ""))
            for term in node.args
        )
        below = [term for term in node.args if isinstance(term, Node)]
        yield Piece(node.op.name, tuple(args), tuple(each.op.name for each in below), last=node is form.node)
        for each in below:
            yield from pieces(each)

    return ProgramShape(tuple(pieces(form.node)))


def image_rows(questions: pl.DataFrame) -> QuestionRows:
    """From columns of tables/image_questions.ANSWERED."""
    programs = program_shapes(questions)
    shapes, filled = [], np.full_like(programs.filled, NOTHING)
    for node, at in programs.by_shape:
        rows, order = row_form(node)
        filled[at, : len(order)] = programs.filled[at][:, order]
        shapes.append(outline_shape(outline(rows, [])))
    spoken = ~pl.col("answer").is_in(["yes", "no"])
    return _rows(questions.with_columns(spoken=spoken), programs.code, shapes, programs.words, filled)


def released_rows(questions: pl.DataFrame, programs: Iterable[Program]) -> QuestionRows:
    """questions: id, template, answer, spoken (the answer is a word). Shapes are numbered in the order they are met."""
    codes: dict[Outline, int] = {}
    code, said = [], []
    for program in programs:
        words: list[str] = []
        code.append(codes.setdefault(outline(program, words), len(codes)))
        said.append(words)
    known, filled = numbered(pl.Series(said, dtype=pl.List(pl.String)))
    return _rows(questions, np.array(code, np.int64), [outline_shape(each) for each in codes], known, filled)


def _rows(
    questions: pl.DataFrame, code: Ints, shapes: list[ProgramShape], known: list[str], filled: Ints
) -> QuestionRows:
    """filled: [question, place] the words of its program, in the order of its rows."""
    answers = questions["answer"].unique(maintain_order=True).to_list()
    columns = {str(place): filled[:, place] for place in range(filled.shape[1])}

    def ids(at: list[int]) -> list[str]:
        return questions["id"].gather(at).to_list()

    words = list(dict.fromkeys([*known, *answers]))
    return QuestionRows(questions, code, columns, shapes.__getitem__, ids, "images", words)


def outline(program: Program, words: list[str]) -> Outline:
    """The rows without their words, which are added to `words` in order."""
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


def outline_shape(program: Outline) -> ProgramShape:
    """Columns are numbered as the words were said."""
    pieces: list[Piece] = []
    _gather(program, pieces, iter(range(1 << 30)), inner=False)
    return ProgramShape(tuple(pieces), _text(program, len(program) - 1) if program else "")


def _gather(program: Outline, pieces: list[Piece], column: Iterator[int], inner: bool) -> None:
    """The rows, a quantifier's before those inside it; words are numbered row by row."""
    for at, (op, arguments, dependencies) in enumerate(program):
        below: list[Piece] = []
        args = tuple(arg for each in arguments for arg in _words(op, each, below, column))
        over = tuple(program[on][0] for on in dependencies)
        pieces += [Piece(op, args, over, inner, not inner and at == len(program) - 1), *below]


def _words(op: str, argument: Any, below: list[Piece], column: Iterator[int]) -> Iterator[Argument]:
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
