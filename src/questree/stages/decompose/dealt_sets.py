"""Questions about image sets dealt by shards, each the sets whose first image is in a range: chunks of questions write
theirs in the order of first images, one worker numbers the sets of all as they are met."""

from collections.abc import Sequence
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
from questree.tables.image_questions import QuestionChunk
from questree.tables.nodes import WORDS
from questree.tables.store import new_folder
from questree.tables.table import Table

QUESTIONS = 1 << 14  # about a shard, unless more are about one image
COLUMNS = ("id", "split", "question", "answer", "form", "words", "images")
TEXTS = dict.fromkeys(("id", "split", "question", "answer", "form"), pl.String)
ASKED = Table("asked", {"row": pl.UInt32, **TEXTS, "words": pl.List(pl.String), "images": pl.List(pl.UInt32)})
KEYS = Table("keys", {"row": pl.UInt32, "key": pl.UInt64, "first": pl.UInt32})  # hash of the set, its first image
SCOPE = Table("scope", {"row": pl.UInt32, "set": pl.UInt32})  # numbers of the question and of its set among all


@dataclass(frozen=True)
class DealTask:
    """What questions are dealt with; small enough to send anywhere that sees the run."""

    scratch: Path
    every: bool

    def place(self, chunk: QuestionChunk) -> Path:
        """The questions of a chunk that are taken apart."""
        return self.scratch / f"asked-{chunk.begin}"

    @property
    def numbers(self) -> Path:
        return self.scratch / "numbers"


class SeenQuestions(NamedTuple):
    selected: int  # also those that no template asks
    words: list[str]  # of their programs
    questions: int  # that are taken apart


def look(task: DealTask, chunk: QuestionChunk) -> SeenQuestions:
    table = chunk.selected(task.every, *COLUMNS)
    asked = table.filter(known_forms(table)).with_row_index("row")
    keys = asked.select("row", first=pl.col("images").list.min().fill_null(0)).with_columns(
        key=set_keys(asked["images"])
    )
    order = keys["first"].arg_sort()
    with new_folder(task.place(chunk)) as folder:
        ASKED.write_piece(asked[order], folder)
        KEYS.write_piece(keys[order], folder)
    return SeenQuestions(len(table), program_shapes(table).words, len(asked))


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


class DealtRows(NamedTuple):
    """Questions of a shard that stand next to each other in what a chunk wrote."""

    chunk: Path
    begin: int
    rows: int
    number: int  # row of the first in SCOPE


class NumberedSets(NamedTuple):
    sets: int
    begins: list[int]  # [shard] its first image
    pieces: list[list[DealtRows]]  # [shard] its questions


def number_sets(task: DealTask, chunks: Sequence[QuestionChunk], words: Sequence[str]) -> NumberedSets:
    """Write the set of every question as chunks wrote these, and the words of all beside it."""
    keys = [KEYS.read_piece(task.place(chunk)) for chunk in chunks]
    before = [*accumulate(map(len, keys), initial=0)]
    row = np.concatenate([own["row"].to_numpy() + at for own, at in zip(keys, before, strict=False)])
    in_order = np.empty(len(row), np.uint64)
    in_order[row] = np.concatenate([own["key"].to_numpy() for own in keys])
    different, met, inverse = np.unique(in_order, return_index=True, return_inverse=True)
    number = np.empty(len(different), np.uint32)
    number[np.argsort(met)] = np.arange(len(different), dtype=np.uint32)
    with new_folder(task.numbers) as folder:
        SCOPE.write_piece(pl.DataFrame({"row": row, "set": number[inverse][row]}), folder)
        WORDS.write_piece(pl.DataFrame({"word": words}, schema=dict(WORDS.columns)), folder)
    first = [own["first"].to_numpy() for own in keys]
    cuts = cut(np.bincount(np.concatenate(first)), QUESTIONS)
    pieces: list[list[DealtRows]] = [[] for _ in pairwise(cuts)]
    for chunk, own, at in zip(chunks, first, before, strict=False):
        for shard, (begin, end) in enumerate(pairwise(np.searchsorted(own, cuts).tolist())):
            if end > begin:
                pieces[shard].append(DealtRows(task.place(chunk), begin, end - begin, at + begin))
    return NumberedSets(len(different), cuts[:-1], pieces)


def cut(sizes: Ints, most: int) -> list[int]:
    """Where shards begin, and the end: what stands next to each other, no more than so much unless one has more."""
    ends = np.cumsum(sizes)
    cuts = np.searchsorted(ends, np.arange(most, ends[-1] if len(ends) else 0, most), side="right")
    return [0, *sorted({*cuts.tolist()} - {0, len(sizes)}), len(sizes)]


def questions_in(numbers: Path, pieces: Sequence[DealtRows]) -> pl.DataFrame:
    """The questions of a shard in the order of all; `row` and `set`: the numbers that they and their sets have."""
    found = [pl.concat([ASKED.empty(), SCOPE.empty().select("set")], how="horizontal")]
    for own in pieces:
        scope = SCOPE.read_piece(numbers, own.number, own.rows)
        asked = ASKED.read_piece(own.chunk, own.begin, own.rows)
        found.append(asked.with_columns(scope["row"], scope["set"]))
    return pl.concat(found, how="vertical_relaxed").sort("row")
