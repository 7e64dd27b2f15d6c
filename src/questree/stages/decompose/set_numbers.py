"""Sets of images numbered as the questions of a run meet them, whichever shards these are in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, ranges
from questree.domains.images.kinds import PADDING
from questree.stages.decompose.image_sets import known_forms
from questree.tables.image_questions import QuestionChunk
from questree.tables.nodes import WORDS
from questree.tables.store import new_folder
from questree.tables.table import Table

COLUMNS = ("number", "id", "split", "question", "answer", "form", "words", "images")
FIRST = Table("first", {"number": pl.UInt32})  # [set] the number of its first question


@dataclass(frozen=True)
class LookTask:
    """What questions are looked at with; small enough to send anywhere that sees the run."""

    scratch: Path
    every: bool  # not only the balanced selection

    def place(self, chunk: QuestionChunk) -> Path:
        return self.scratch / f"sets-{chunk}"

    @property
    def numbers(self) -> Path:
        """Where the sets of all shards are, and the words of their questions."""
        return self.scratch / "numbers"


class AskedQuestions(NamedTuple):
    """The questions of a shard that are taken apart."""

    table: pl.DataFrame
    selected: pl.DataFrame  # also those that no template asks
    first: Ints  # [set] its first question, ascending
    scope: Ints  # [question] its set

    @classmethod
    def of(cls, chunk: QuestionChunk, every: bool) -> "AskedQuestions":
        selected = chunk.selected(every, *COLUMNS)
        table = selected.filter(known_forms(selected))
        _, first, inverse = np.unique(set_keys(table["images"]), return_index=True, return_inverse=True)
        order = np.argsort(first)
        return cls(table, selected, first[order], np.argsort(order)[inverse])

    @property
    def numbers(self) -> pl.Series:
        """[set] the number of its first question."""
        return self.table["number"].gather(self.first)


class SeenQuestions(NamedTuple):
    selected: int
    questions: int
    words: pl.DataFrame  # word, number, place: different words of the selected programs, and where they are met


def look(task: LookTask, chunk: QuestionChunk) -> SeenQuestions:
    """In a worker: the sets of a shard are written."""
    asked = AskedQuestions.of(chunk, task.every)
    with new_folder(task.place(chunk)) as folder:
        FIRST.write_piece(asked.numbers.to_frame(), folder)
    words = asked.selected.select("number", word=pl.col("words").cast(pl.List(pl.String))).explode("word")
    words = words.drop_nulls().with_row_index("place").unique("word", keep="first")
    return SeenQuestions(len(asked.selected), len(asked.table), words)


def number_sets(task: LookTask, chunks: Sequence[QuestionChunk], words: Sequence[str]) -> int:
    """In one worker: write the sets of all shards in order, and all words; how many sets."""
    every = pl.concat([FIRST.read_piece(task.place(chunk)) for chunk in chunks]).sort("number")
    with new_folder(task.numbers) as folder:
        FIRST.write_piece(every, folder)
        WORDS.write_piece(pl.DataFrame({"word": words}, schema=dict(WORDS.columns)), folder)
    return len(every)


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
