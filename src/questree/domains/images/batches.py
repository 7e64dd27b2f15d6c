"""Many programs at once: those of one shape differ only in words, which become columns; and how values are written."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice, starmap
from typing import Any

import numpy as np

from questree.domains.images import kinds
from questree.domains.images.corpus import Corpus, ImageSets, Ints, padded
from questree.domains.images.kinds import ABSENT, PADDING
from questree.readings.answer import WELL, Outcome, evaluate
from questree.readings.forms import ProgramShapes, gathered, lifted
from questree.terms import BOOL, Array, Kind, Node, Word


def spelled(node: Node, outcome: Outcome, world: ImageSets) -> list[Any]:
    """[row] the value of a node; None if absent or undefined."""
    corpus, whole = world.corpus, bool(outcome.defined.all())
    defined: Any = slice(None) if whole else np.flatnonzero(outcome.defined)
    value, page = outcome.values[node][defined], world.page[defined]
    if node.kind in SINGLE:
        there = SINGLE[node.kind](corpus, value)
    else:
        there = [SEVERAL[node.kind](corpus, *row) for row in zip(page, value, strict=True)]
    if whole:
        return there
    found: list[Any] = [None] * len(world)
    for row, one in zip(defined.tolist(), there, strict=True):
        found[row] = one
    return found


def _words(corpus: Corpus, value: Ints) -> list[str | None]:
    return [None if word == ABSENT else corpus.words[word] for word in value.tolist()]


def _link(corpus: Corpus, edge: int) -> list[str]:
    return [corpus.words[corpus.facts.link[edge]], corpus.thing_ids[int(corpus.facts.target[edge])]]


def _members(corpus: Corpus, page: int, bits: int) -> list[str]:
    first = int(corpus.facts.first_thing[page])
    return [corpus.thing_ids[first + i] for i in range(bits.bit_length()) if bits >> i & 1]


def _things(corpus: Corpus, page: Ints, bits: Ints) -> list[str]:
    return [name for at, some in zip(page.tolist(), bits.tolist(), strict=True) for name in _members(corpus, at, some)]


def _groups(corpus: Corpus, page: Ints, bits: Ints) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for at, some in zip(page.tolist(), bits.tolist(), strict=True):
        if some:
            found.setdefault(corpus.image_ids[corpus.image_of[at]], []).extend(_members(corpus, at, some))
    return found


SINGLE: dict[Kind, Callable[[Corpus, Array], list[Any]]] = {  # [row] -> [row]
    BOOL: lambda corpus, value: value.tolist(),
    kinds.COUNT: lambda corpus, value: value.tolist(),
    kinds.NOUN: _words,
    kinds.ATTRIBUTE: _words,
    kinds.LINK_NAME: _words,
    kinds.GROUP: lambda corpus, value: [corpus.groups[group] for group in value.tolist()],
    kinds.THING: lambda corpus, value: corpus.thing_ids.gather(value).to_list(),
    kinds.LINK: lambda corpus, value: [_link(corpus, edge) for edge in value.tolist()],
    kinds.NOTHING: lambda corpus, value: [None] * len(value),
}
SEVERAL: dict[Kind, Callable[[Corpus, Ints, Array], Any]] = {  # pages of a row, its value -> one value
    kinds.THINGS: _things,
    kinds.GROUPS: _groups,
    kinds.SCENES: lambda corpus, page, value: [corpus.image_ids[corpus.image_of[at]] for at in page[value].tolist()],
    kinds.LINKS: lambda corpus, page, value: [_link(corpus, edge) for edge in value.tolist() if edge != PADDING],
}


CHUNK = 8192  # rows that are evaluated together: their values stay in the processor's cache


@dataclass(frozen=True)
class ProgramBatch:
    """Programs of one shape, each with the images it asks about."""

    parts: tuple[Node, ...]  # in the order they are run, with slots for words; the last is the answer
    columns: Mapping[str, Ints]  # slot -> [row] what it stands for, as `Corpus.positions` tells
    images: Ints  # [row, image] rows in the corpus, each once, or PADDING

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True)
class BatchAnswers:
    value: list[Any]  # [program] as `spelled` writes it; None where there is no answer
    reason: Ints  # [program] position in REASONS of why there is no answer, WELL where all is well


def execute(
    programs: Sequence[Node], images: Sequence[Sequence[int]], corpus: Corpus, workers: int = 1
) -> BatchAnswers:
    """The answer of every program about its images (rows in the corpus, each once).

    Programs are grouped by shape here, which costs about twenty times as much as answering them: who has templates
    with slots and columns of words makes a `Batch` of each and calls `answer`.
    """
    given = ProgramShapes(*gathered(_lifted(program) for program in programs))
    made = [
        ProgramBatch((form,), given.columns(form, at, corpus.positions), padded([images[row] for row in at.tolist()]))
        for form, at in given.by_shape
    ]
    value: list[Any] = [None] * len(programs)
    reason = np.full(len(programs), WELL, np.int64)
    for (_, rows), found in zip(given.by_shape, answers(made, corpus, workers), strict=True):
        reason[rows] = found.reason
        for row, one in zip(rows.tolist(), found.value, strict=True):
            value[row] = one
    return BatchAnswers(value, reason)


def _lifted(program: Node) -> tuple[Node, list[str]]:
    form, said = lifted(program, "")
    assert all(isinstance(word, Word) for word in said), "a program with open slots"
    return form, [word.name for word in said if isinstance(word, Word)]


def answer(batch: ProgramBatch, corpus: Corpus, workers: int = 1) -> BatchAnswers:
    """The answers of the programs of a batch, in their order."""
    return next(answers([batch], corpus, workers))


def answers(batches: Sequence[ProgramBatch], corpus: Corpus, workers: int = 1) -> Iterator[BatchAnswers]:
    """The answers of every batch; the loops over things run in several threads at once."""

    def told(batch: ProgramBatch, rows: slice) -> tuple[list[Any], Ints]:
        world = ImageSets(corpus, batch.images[rows])
        outcome = evaluate(batch.parts, world, {name: column[rows] for name, column in batch.columns.items()})
        return spelled(batch.parts[-1], outcome, world), outcome.reason

    chunks = [[slice(begin, begin + CHUNK) for begin in range(0, len(batch), CHUNK)] for batch in batches]
    todo = [(batch, rows) for batch, own in zip(batches, chunks, strict=True) for rows in own]
    with ThreadPoolExecutor(workers) if workers > 1 and len(todo) > 1 else nullcontext() as pool:
        found = iter(pool.map(told, *zip(*todo, strict=True)) if pool else starmap(told, todo))
        for own in chunks:
            parts = list(islice(found, len(own)))
            reason = np.concatenate([np.zeros(0, np.int64), *(reason for _, reason in parts)])
            yield BatchAnswers([one for value, _ in parts for one in value], reason)
