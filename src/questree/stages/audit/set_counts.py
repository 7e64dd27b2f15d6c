"""Questions about image sets counted anywhere: chunks of the table count what adds up and write texts and images, of
which one worker then counts the different ones."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from questree.faults import BadInput
from questree.stages.audit.image_corpus import (
    CorpusCounts,
    DistinctCounts,
    Parts,
    SideCounts,
    distinct,
    images_in,
    parts_of,
    sides_of,
    texts_in,
)
from questree.stages.split.rows import image_rows
from questree.tables.image_questions import EMPTY, QuestionChunk, chunks, has_selection
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.tables.store import new_folder
from questree.workers import each, shared_out

SIDES = ("train", "dev", "test")
TEXTS, SEEN = "texts.arrow", "images.arrow"
COUNTED = ("id", "split", "template", "question", "answer", *PROGRAM, "images")
FEW = 64  # shards, of 0.05 s each; starting processes for fewer does not pay


@dataclass(frozen=True)
class CountTask:
    """What every chunk is counted with; small enough to send anywhere that sees the run."""

    scratch: Path
    every: bool  # also what is not in the balanced selection?
    chunks: Sequence[QuestionChunk]

    def place(self, chunk: QuestionChunk) -> Path:
        """Where it puts its texts and images."""
        return self.scratch / str(chunk)


class ChunkCounts(NamedTuple):
    asked: Counter[tuple[str, str]]  # template, split: of all questions
    sides: dict[str, SideCounts]  # of those that count


class SetCounts(NamedTuple):
    asked: Counter[tuple[str, str]]
    corpus: CorpusCounts


def set_counts(run: Run, every: bool = False, workers: int = 1) -> SetCounts:
    """The image questions of a run: the balanced selection, if there is one."""
    parts = chunks(run)
    several = workers if len(parts) > FEW else 1
    with where_workers_see(run.predictions) as scratch, shared_out(several, len(parts)) as pool:
        task = CountTask(scratch, every, parts)
        found = each(pool, "counting questions", "questions", parts, count_chunk, task)
        there = {name for own in found for name in own.sides}
        names = [*(name for name in SIDES if name in there), *sorted(there.difference(SIDES))]
        if not names:
            raise BadInput.at(run.covr, EMPTY)
        sides = {name: SideCounts.together(own.sides[name] for own in found if name in own.sides) for name in names}
        (counts,) = each(pool, "counting texts", "part", [parts_of(sides)], count_distinct, task)
    return SetCounts(sum((own.asked for own in found), Counter()), CorpusCounts(sides, counts))


def count_chunk(task: CountTask, chunk: QuestionChunk) -> ChunkCounts:
    """In a worker: what adds up; texts and images are written."""
    table = chunk.read(*COUNTED)
    some = not task.every and has_selection(Run(chunk.run))
    kept = table.filter(chunk.chosen(table["id"])) if some else table
    with new_folder(task.place(chunk)) as folder:
        texts_in(kept, "split").write_ipc(folder / TEXTS)
        images_in(kept, "split").write_ipc(folder / SEEN)
    asked = table.group_by("template", "split").len().rows()
    return ChunkCounts(Counter({(name, split): n for name, split, n in asked}), sides_of(image_rows(kept), "split"))


def count_distinct(task: CountTask, parts: Parts) -> dict[str, DistinctCounts]:
    """In one worker: how many different texts and images each part has."""
    places = [task.place(chunk) for chunk in task.chunks]
    texts, images = (pl.scan_ipc([os.fspath(place / name) for place in places], glob=False) for name in (TEXTS, SEEN))
    return distinct(texts, images, parts)
