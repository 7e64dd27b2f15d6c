"""Questions of either medium as predicates see them: the form of each is operators, its words are columns."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.covr.splits import WORDS
from questree.columns.joins import Ints, by_value
from questree.notation.own_shapes import SHAPES, program_shapes, row_form
from questree.readings.forms import NOTHING, gathered
from questree.stages.question_forms import QuestionForm
from questree.stages.questions import Shard
from questree.terms import ACTION, OBJECT, RELATION, Kind, Node, Slot, Term, walk

Truth = NDArray[np.bool_]  # [question]
NUMBER, WORD = "number", "word"  # kinds of words that no operation has for its own
Program = Sequence[dict[str, Any]]  # rows {operation, arguments, dependencies}


@dataclass(frozen=True)
class PieceArgument:
    """column holds what the argument stands for, however it is worded; "" if it stands for no word."""

    kind: str
    column: str


@dataclass(frozen=True)
class OperatorPiece:
    """An operator of a program with its arguments."""

    op: str
    args: tuple[PieceArgument, ...]
    over: tuple[str, ...]  # the operators it is applied to
    inner: bool = False  # inside the sub-program of a quantifier
    last: bool = False  # the one that gives the answer
    stands: PieceArgument | None = None  # of videos: what it stands for, or answers


@dataclass(frozen=True)
class ProgramShape:
    pieces: tuple[OperatorPiece, ...]
    text: str = ""  # of image sets, as the program split writes it: "count (find)"
    pairs: tuple[tuple[str, str], ...] = ()  # of videos: columns of a relation and of an object that is said to have it


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
    _found: dict[object, Truth] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.code)

    @cached_property
    def by_shape(self) -> list[tuple[int, Ints]]:
        """Each shape with its rows."""
        return by_value(self.code)

    def having(self, test: Callable[[ProgramShape], bool]) -> Truth:
        """[question] does its shape pass the test?"""
        return np.isin(self.code, [code for code, _ in self.by_shape if test(self.shape(code))])

    def once(self, predicate: object, look: Callable[["QuestionRows"], Truth]) -> Truth:
        """[question] where a predicate holds that splits and proofs ask for again and again."""
        if predicate not in self._found:
            self._found[predicate] = look(self)
        return self._found[predicate]

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
    shape = cache(lambda code: form_shape(shard.form(code)))  # a number is looked up faster than a form

    def ids(at: list[int]) -> list[str]:
        return shard.where(shard.questions[at]).named_ids.to_list()

    return QuestionRows(shard.questions, shard.forms, shard.words, shape, ids, "video")


@cache
def form_shape(form: QuestionForm) -> ProgramShape:
    """The operators of a form, outer ones first."""

    def column(term: Term) -> str:
        """What it stands for: its own word, a referent, the answer; "" for what is no word."""
        if isinstance(term, Slot):
            return term.name
        return "answer" if term is form.node and term.kind in (OBJECT, ACTION) else form.stands.get(term, "")

    def argument(term: Term) -> PieceArgument:
        return PieceArgument(term.kind.name, column(term))

    def columns(node: Node, kind: Kind) -> list[str]:
        """Of its arguments of a kind, and of what it stands for."""
        return [found for term in (*node.args, node) if term.kind == kind and (found := column(term))]

    def relations(node: Node) -> list[str]:
        """Of a node that has none: those that tell which object is compared ("was it the first one they held?")."""
        below = (term for term in node.args if isinstance(term, Node) and term not in form.stands)
        own = columns(node, RELATION)
        return own or [found for each in below if each.kind.name in ("object", "objects") for found in relations(each)]

    nodes = [term for term in walk(form.node) if isinstance(term, Node)]
    pieces = tuple(
        OperatorPiece(
            node.op.name,
            tuple(map(argument, node.args)),
            tuple(term.op.name for term in node.args if isinstance(term, Node)),
            last=node is form.node,
            stands=argument(node),
        )
        for node in nodes
    )
    pairs = (pair for node in nodes for pair in product(relations(node), columns(node, OBJECT)))
    return ProgramShape(pieces, pairs=tuple(dict.fromkeys(pairs)))


def image_rows(questions: pl.DataFrame) -> QuestionRows:
    """From columns of tables/image_questions.ANSWERED."""
    programs = program_shapes(questions)
    shapes, filled = [], np.full_like(programs.filled, NOTHING)
    for node, at in programs.by_shape:
        shape, order = image_shape(node)
        filled[at, : len(order)] = programs.filled[at][:, order]
        shapes.append(shape)
    spoken = ~pl.col("answer").is_in(["yes", "no"])
    return _rows(questions.with_columns(spoken=spoken), programs.code, shapes, programs.words, filled)


@lru_cache(SHAPES)
def image_shape(node: Node) -> tuple[ProgramShape, list[int]]:
    """The shape of a program with slots, and these in the order of its rows."""
    rows, order = row_form(node)
    return rows_shape(rows, []), order


def released_rows(questions: pl.DataFrame, programs: Iterable[Program]) -> QuestionRows:
    """questions: id, template, answer, spoken (the answer is a word). Shapes are numbered in the order they are met."""
    shapes, code, known, filled = gathered((rows_shape(program, words := list[str]()), words) for program in programs)
    return _rows(questions, code, shapes, known, filled)


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


def rows_shape(program: Program, words: list[str]) -> ProgramShape:
    """The shape of COVR's rows; their words are added to `words`, and columns are numbered as the words are said."""

    def pieces(rows: Program, inner: bool) -> Iterator[OperatorPiece]:
        """A quantifier's row before those inside it."""
        for at, row in enumerate(rows):
            below: list[OperatorPiece] = []
            args = tuple(arguments(row["operation"], row.get("arguments") or (), below))
            over = tuple(rows[on]["operation"] for on in row.get("dependencies") or ())
            yield OperatorPiece(row["operation"], args, over, inner, not inner and at == len(rows) - 1)
            yield from below

    def arguments(op: str, values: Sequence[Any], below: list[OperatorPiece]) -> Iterator[PieceArgument]:
        for value in values:
            if is_program(value):
                below.extend(pieces(value, inner=True))
            elif isinstance(value, list):
                yield from arguments(op, value, below)
            elif value is not None and not isinstance(value, bool | dict):
                words.append(str(value))
                yield PieceArgument(NUMBER if isinstance(value, int) else WORDS.get(op, WORD), str(len(words) - 1))

    return ProgramShape(tuple(pieces(program, inner=False)), _text(program, len(program) - 1) if program else "")


def is_program(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _text(program: Program, at: int) -> str:
    """`op [sub-program] (dependency,dependency)`."""
    row = program[at]
    subs = ",".join(_text(inner, len(inner) - 1) for inner in row.get("arguments") or () if is_program(inner))
    over = ",".join(_text(program, on) for on in row.get("dependencies") or ())
    return str(row["operation"]) + (f" [{subs}]" if subs else "") + (f" ({over})" if over else "")
