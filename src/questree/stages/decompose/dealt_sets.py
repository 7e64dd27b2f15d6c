"""Questions about image sets dealt by their sets: chunks of questions write hashes of their sets, one worker numbers
these as they are met, and chunks write what chunks of sets have of them; at the end, the nodes of their questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, ranges
from questree.domains.images.kinds import PADDING
from questree.notation.own_shapes import program_shapes
from questree.stages.decompose.image_sets import known_forms
from questree.stages.decompose.set_nodes import NUMBERED_TOPS
from questree.tables.image_questions import ANSWERED, QuestionChunk
from questree.tables.nodes import ASKED_TOPS, WORDS
from questree.tables.store import new_folder
from questree.tables.table import Table

QUESTIONS = 1 << 14  # about a chunk of sets, unless more are about one set
ASKED = Table("asked", ANSWERED.only("id", "question", "answer", "form", "words", "images").columns)
DEALT = Table(
    "dealt",
    {
        "row": pl.UInt32,  # number of the question
        "set": pl.UInt32,
        "answer": pl.String,
        "form": pl.String,
        "words": pl.List(pl.String),
        "images": pl.List(pl.UInt32),
    },
)
KEYS = Table("keys", {"key": pl.UInt64})  # [question of a chunk] hash of its set
SCOPE = Table("scope", {"set": pl.UInt32})  # [question] its set
NODE = Table("node", {"node": pl.UInt32})  # [question] its node


@dataclass(frozen=True)
class DealTask:
    """What questions are dealt with; small enough to send anywhere that sees the run."""

    scratch: Path
    every: bool

    def asked(self, chunk: QuestionChunk) -> Path:
        """The questions of a chunk that are taken apart."""
        return self.scratch / f"asked-{chunk.begin}"

    def dealt(self, chunk: QuestionChunk, sets: int) -> Path:
        """Those of them about a chunk of sets."""
        return self.scratch / f"dealt-{sets:05d}-{chunk.begin}"

    def tops(self, chunk: QuestionChunk) -> Path:
        return self.scratch / f"tops-{chunk.begin}"

    def told(self, table: Table) -> Path:
        """Where one worker writes what is to be known of all questions."""
        return self.scratch / table.name


class SeenSets(NamedTuple):
    selected: int  # questions, also those that no template asks
    words: list[str]  # of their programs
    questions: int  # that are taken apart


def look(task: DealTask, chunk: QuestionChunk) -> SeenSets:
    table = chunk.selected(task.every, *ASKED.columns)
    asked = table.filter(known_forms(table))
    with new_folder(task.asked(chunk)) as folder:
        ASKED.write_piece(asked, folder)
        KEYS.write_piece(pl.DataFrame({"key": set_keys(asked["images"])}), folder)
    return SeenSets(len(table), program_shapes(table).words, len(asked))


def set_keys(images: pl.Series) -> Hashes:
    """[question] a hash of its images, in whatever order they come."""
    rows, size = sorted_sets(images)
    found = mix(0, size)
    for place in range(rows.shape[1]):
        found = np.where(place < size, mix(found, rows[:, place]), found)
    return found


def sorted_sets(images: pl.Series) -> tuple[Ints, Ints]:
    """[set, image] ascending, padded; and how many images each has. Polars sorts every list by itself, in threads."""
    size = images.list.len().to_numpy().astype(np.int64)
    rows = np.full((len(size), max(1, int(size.max(initial=0)))), np.iinfo(np.int64).max)
    rows[ranges(np.zeros(len(size), np.int64), size)] = images.explode(empty_as_null=False).to_numpy()
    rows.sort(axis=1)
    rows[np.arange(rows.shape[1]) >= size[:, None]] = PADDING
    return rows, size


@dataclass(frozen=True)
class NumberedSets:
    """Sets in the order in which they are met."""

    sets: int
    first: list[int]  # [chunk of questions + 1] its first question
    cuts: list[int]  # [chunk of sets + 1] its first set
    about: list[list[int]]  # [chunk of questions] chunks of sets that its questions are about


def number_sets(task: DealTask, chunks: Sequence[QuestionChunk], words: Sequence[str]) -> NumberedSets:
    """Write the set of every question, and the words of all beside it."""
    found = [KEYS.read_piece(task.asked(chunk))["key"].to_numpy() for chunk in chunks]
    first = list(accumulate(map(len, found), initial=0))
    different, met, inverse = np.unique(np.concatenate(found), return_index=True, return_inverse=True)
    number = np.empty(len(different), np.uint32)
    number[np.argsort(met)] = np.arange(len(different), dtype=np.uint32)
    scope = number[inverse]
    with new_folder(task.told(SCOPE)) as folder:
        SCOPE.write_piece(pl.DataFrame({"set": scope}), folder)
        WORDS.write_piece(pl.DataFrame({"word": words}, schema=dict(WORDS.columns)), folder)
    cuts = layout(scope, len(different))
    about = [np.unique(chunk_of(scope[begin:end], cuts)).tolist() for begin, end in pairwise(first)]
    return NumberedSets(len(different), first, cuts, about)


def expected(chunks: Sequence[QuestionChunk]) -> int:
    """How many chunks of sets there will be at most."""
    return -(-chunks[-1].end // QUESTIONS)


def layout(scope: Ints, sets: int) -> list[int]:
    """Where chunks of sets begin, and the end."""
    return cut(np.bincount(scope, minlength=sets), QUESTIONS)


def cut(sizes: Ints, most: int) -> list[int]:
    """Where chunks begin, and the end: what stands next to each other, no more than so much unless one has more."""
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(most, ends[-1] if len(ends) else 0, most), side="right")
    return [0, *sorted({*cuts.tolist()} - {0, len(sizes)}), len(sizes)]


def chunk_of(scope: Ints, cuts: Sequence[int]) -> Ints:
    """[question] the chunk of its set."""
    return np.asarray(np.searchsorted(cuts[1:-1], scope, side="right"))


def deal(task: DealTask, chunk: QuestionChunk, first: int, cuts: Sequence[int]) -> None:
    """Write the questions of a chunk, of which the first has this number, by chunks of sets."""
    asked = ASKED.read_piece(task.asked(chunk))
    scope = numbers_of(SCOPE, task, first, len(asked))["set"]
    row = pl.int_range(first, first + len(asked), dtype=pl.UInt32, eager=True)
    table, own = asked.with_columns(row.alias("row"), scope), chunk_of(scope.to_numpy(), cuts)
    for sets in np.unique(own).tolist():
        with new_folder(task.dealt(chunk, sets)) as folder:
            DEALT.write_piece(table.filter(pl.Series(own == sets)), folder)


def numbers_of(table: Table, task: DealTask, first: int, count: int) -> pl.DataFrame:
    """What was told of some questions that follow each other."""
    return table.read_piece(task.told(table))[first : first + count]


def number_tops(task: DealTask, questions: int, pieces: Sequence[Path]) -> None:
    """Write the node of every question; pieces: where chunks of sets wrote those of theirs."""
    found = np.zeros(questions, np.uint32)
    for piece in pieces:
        own = NUMBERED_TOPS.read_piece(piece)
        found[own["question"].to_numpy()] = own["node"].to_numpy()
    with new_folder(task.told(NODE)) as folder:
        NODE.write_piece(pl.DataFrame({"node": found}), folder)


def write_tops(task: DealTask, chunk: QuestionChunk, first: int) -> None:
    """Write which node each question of a chunk is."""
    asked = ASKED.read_piece(task.asked(chunk)).select("id", "question")
    with new_folder(task.tops(chunk)) as folder:
        ASKED_TOPS.write_piece(asked.with_columns(numbers_of(NODE, task, first, len(asked))["node"]), folder)


def ids_of(task: DealTask, chunks: Sequence[QuestionChunk], numbered: NumberedSets, rows: Ints) -> list[str]:
    """The ids of some questions, which are few; rows: sorted."""
    found = list[str]()
    for chunk, (first, end) in zip(chunks, pairwise(numbered.first), strict=True):
        own = rows[(rows >= first) & (rows < end)]
        if len(own):
            found += ASKED.read_piece(task.asked(chunk))["id"].gather(own - first).to_list()
    return found


def pieces_of(task: DealTask, chunks: Sequence[QuestionChunk], numbered: NumberedSets) -> Iterator[list[Path]]:
    """[chunk of sets] where its questions lie."""
    found: list[list[Path]] = [[] for _ in pairwise(numbered.cuts)]
    for chunk, about in zip(chunks, numbered.about, strict=True):
        for sets in about:
            found[sets].append(task.dealt(chunk, sets))
    yield from found
