"""Many programs at once: those of one shape differ only in their words, and the words become columns."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, TypeVar

import numpy as np

from questree.domains.images.corpus import Corpus
from questree.domains.images.facts import Ints
from questree.domains.images.sets import ImageSets, padded
from questree.domains.images.spelling import spelled
from questree.program import Kind, Node, Op, Slot, Term, Word
from questree.readings.answer import WELL, Outcome, evaluate

Result = TypeVar("Result")
CHUNK = 8192  # rows that are evaluated together: their values stay in the processor's cache


@dataclass(frozen=True)
class Batch:
    """Programs of one shape, each with the images it asks about."""

    parts: tuple[Node, ...]  # in the order they are run, with slots for words; the last is the answer
    columns: Mapping[str, Ints]  # slot -> [row] what it stands for, as `Corpus.positions` tells
    images: Ints  # [row, image] rows in the corpus, each once, or PADDING

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True)
class Answers:
    value: list[Any]  # [program] as `spelled` writes it; None where there is no answer
    reason: Ints  # [program] position in REASONS of why there is no answer, WELL where all is well


def execute(programs: Sequence[Node], images: Sequence[Sequence[int]], corpus: Corpus, workers: int = 1) -> Answers:
    """The answer of every program about its images (rows in the corpus, each once).

    Programs are grouped by shape here, which costs about twenty times as much as answering them: who has templates
    with slots and columns of words makes a `Batch` of each and calls `answer`.
    """
    shapes = _Shapes()
    members: dict[int, list[int]] = {}  # shape -> programs
    words: dict[int, list[tuple[str, ...]]] = {}  # shape -> [member] words
    for at, program in enumerate(programs):
        shape, said = shapes.of(program)
        members.setdefault(shape, []).append(at)
        words.setdefault(shape, []).append(said)
    made = []
    for shape, rows in members.items():
        program, slots = shapes.program(shape)
        spoken = zip(*words[shape], strict=True)
        columns = {slot.name: corpus.positions(column, slot.kind) for slot, column in zip(slots, spoken, strict=True)}
        made.append(Batch((program,), columns, padded([images[row] for row in rows])))
    value: list[Any] = [None] * len(programs)
    reason = np.full(len(programs), WELL, np.int64)
    for rows, found in zip(members.values(), answers(made, corpus, workers), strict=True):
        reason[rows] = found.reason
        for row, one in zip(rows, found.value, strict=True):
            value[row] = one
    return Answers(value, reason)


def answer(batch: Batch, corpus: Corpus, workers: int = 1) -> Answers:
    """The answers of the programs of a batch, in their order."""
    return next(answers([batch], corpus, workers))


def answers(batches: Sequence[Batch], corpus: Corpus, workers: int = 1) -> Iterator[Answers]:
    """The answers of every batch."""

    def told(batch: Batch, rows: slice) -> tuple[list[Any], Ints]:
        outcome, world = _evaluated(batch, rows, corpus)
        return spelled(batch.parts[-1], outcome, world), outcome.reason

    chunks = [(batch, rows) for batch in batches for rows in _chunks(batch)]
    found = _each(told, chunks, workers)
    for batch in batches:
        parts = [next(found) for _ in _chunks(batch)]
        yield Answers([one for value, _ in parts for one in value], _joined([reason for _, reason in parts]))


def _chunks(batch: Batch) -> list[slice]:
    return [slice(begin, begin + CHUNK) for begin in range(0, len(batch), CHUNK)]


def _evaluated(batch: Batch, rows: slice, corpus: Corpus) -> tuple[Outcome, ImageSets]:
    world = ImageSets(corpus, batch.images[rows])
    return evaluate(batch.parts, world, {name: column[rows] for name, column in batch.columns.items()}), world


def _each(work: Callable[..., Result], todo: Sequence[tuple[Any, ...]], workers: int) -> Iterator[Result]:
    """The work on each, in order; the loops over things run in several threads at once."""
    if workers == 1 or len(todo) < 2:
        yield from starmap(work, todo)
        return
    with ThreadPoolExecutor(workers) as pool:
        yield from pool.map(work, *zip(*todo, strict=True))


def _joined(parts: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *parts])


@dataclass
class _Shapes:
    """Programs without their words, numbered as they come; parts that programs share are looked at once."""

    numbers: dict[tuple[Any, ...], int] = field(default_factory=dict)  # (operator, shapes of arguments) or a kind
    made: list[tuple[Op | Kind, tuple[int, ...]]] = field(default_factory=list)  # [shape] the same
    seen: dict[Node, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    def of(self, term: Term) -> tuple[int, tuple[str, ...]]:
        """The number of a program's shape, and its words from left to right."""
        if not isinstance(term, Node):
            assert isinstance(term, Word), f"${term.name} is still open"
            return self._number((term.kind.name,), term.kind, ()), (term.name,)
        if term not in self.seen:
            inner = [self.of(arg) for arg in term.args]
            shapes = tuple(shape for shape, _ in inner)
            words = tuple(word for _, said in inner for word in said)
            self.seen[term] = self._number((id(term.op), *shapes), term.op, shapes), words
        return self.seen[term]

    def _number(self, key: tuple[Any, ...], made: Op | Kind, shapes: tuple[int, ...]) -> int:
        if key not in self.numbers:
            self.numbers[key] = len(self.made)
            self.made.append((made, shapes))
        return self.numbers[key]

    def program(self, shape: int) -> tuple[Node, list[Slot]]:
        """The program with slots for its words, and the slots from left to right."""
        slots: list[Slot] = []

        def build(shape: int) -> Term:
            made, inner = self.made[shape]
            if isinstance(made, Op):
                return made(*map(build, inner))
            slots.append(Slot(str(len(slots)), made))
            return slots[-1]

        program = build(shape)
        assert isinstance(program, Node)
        return program, slots
