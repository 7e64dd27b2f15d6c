"""A run as COVR's files: chunks of questions become lines of JSON on the workers, which are put together by file."""

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.faults import BadInput
from questree.formats.covr import records
from questree.formats.covr_sub_questions import FILE, write_sub_questions
from questree.stages.split.image_sets import SIDES, read_parts, slug
from questree.tables.image_questions import EMPTY, QuestionChunk, chunks, has_selection
from questree.tables.images import IMAGES
from questree.tables.run import Run
from questree.tables.store import end_to_end, new_folder, only_earlier, scratch
from questree.tables.table import readable
from questree.workers import over, processes

FILES = {"train": "train.jsonl", "dev": "val.jsonl", "test": "test.jsonl"}  # as the release names them
EARLIER = "dev.jsonl"  # the middle one, before it was named so
LISTED = re.compile(r"(train(-all|-\d+)?|val|val-held-out|test|iid-size)\.jsonl")  # files of a split


@dataclass(frozen=True)
class RecordsTask:
    """What records are written with; small enough to send anywhere that sees the run."""

    scratch: Path
    every: bool = False
    split: str = ""  # whose parts are written, if any

    def piece(self, chunk: QuestionChunk) -> Path:
        """A folder with what files have of a chunk."""
        return self.scratch / f"{chunk}"


def export(run: Run, out: Path, every: bool = False, workers: int = 1) -> dict[str, int]:
    """Write a file per split, and all sub-questions if there are any; how many lines each file has."""
    only_earlier(out, {*FILES.values(), EARLIER, FILE}.__contains__, {FILES["train"], FILES["test"]})
    parts = chunks(run)
    with new_folder(out) as folder, scratch(out) as place, processes(workers, tasks=tasks(workers, parts)) as pool:
        counts = put_together(RecordsTask(place, every), parts, [*FILES.values()], write_records, folder, pool)
        if not sum(counts.values()):
            raise BadInput.at(run.covr, EMPTY)
        if (run.covr / "decomposed").is_dir():
            counts[FILE] = write_sub_questions(run, folder / FILE, place, pool)
    return counts


def tasks(workers: int, parts: Sequence[QuestionChunk]) -> int:
    """How many there are to be done at once."""
    return min(workers, len(parts))


def export_split(run: Run, out: Path, name: str, workers: int = 1) -> dict[str, int]:
    """Write the parts of a split and its further training lists; how many lines each file has."""
    only_earlier(out, lambda file: LISTED.fullmatch(file) is not None, {"iid-size.jsonl"})
    files, parts = [file_of(part) for part in read_parts(run, name)], chunks(run)
    with new_folder(out) as folder, scratch(out) as place, processes(workers, tasks=tasks(workers, parts)) as pool:
        return put_together(RecordsTask(place, split=name), parts, files, write_parts, folder, pool)


def file_of(part: str) -> str:
    return f"{part.removesuffix(' examples').replace('dev', 'val').replace(', ', '-').replace(' ', '-')}.jsonl"


Writing = Callable[[RecordsTask, QuestionChunk], Counter[str]]  # file -> how many lines a chunk has of it


def put_together(
    task: RecordsTask, parts: Sequence[QuestionChunk], files: Sequence[str], work: Writing, folder: Path, pool: Executor
) -> dict[str, int]:
    """Let chunks write what they have of every file; how many lines these have then."""
    found = over(pool, "writing records", "questions", parts, work, task)
    for name in files:
        end_to_end(
            [task.piece(chunk) / name for chunk, own in zip(parts, found, strict=True) if own[name]], folder / name
        )
    return {name: sum(own[name] for own in found) for name in files}


def write_records(task: RecordsTask, chunk: QuestionChunk) -> Counter[str]:
    """Write the questions of a chunk by split; with `every` each says whether it is in the selection."""
    run, selection = Run(chunk.run), None
    questions = chunk.selected(task.every)
    if task.every and has_selection(run):
        selection = set(questions["id"].filter(chunk.chosen(questions["id"])))
    lines, found = records(questions, IMAGES.read(run.images)["id"], selection), Counter[str]()
    with new_folder(task.piece(chunk)) as folder:
        for split, name in FILES.items():
            own = [line for line, of in zip(lines, questions["split"], strict=True) if of == split]
            (folder / name).write_bytes(b"".join(own))
            found[name] = len(own)
    return found


def write_parts(task: RecordsTask, chunk: QuestionChunk) -> Counter[str]:
    """Write what parts of a split have of a chunk, in the order of the split."""
    run, ids, found = Run(chunk.run), chunk.read("id")["id"], Counter[str]()
    path = run.covr / "splits" / f"{slug(task.split)}.parquet"
    with readable(path):
        scanned = pl.scan_parquet(os.fspath(path), glob=False).filter(pl.col("id").is_in(ids.implode()))
        listed = scanned.select(*SIDES.columns).collect(engine="streaming")
    questions = chunk.read()
    chosen = questions.filter(ids.is_in(listed["id"].implode()))
    lines = dict(zip(chosen["id"], records(chosen, IMAGES.read(run.images)["id"]), strict=True))
    with new_folder(task.piece(chunk)) as folder:
        for (part,), own in listed.group_by("part", maintain_order=True):
            name = file_of(str(part))
            (folder / name).write_bytes(b"".join(lines[id] for id in own["id"].to_list()))
            found[name] = len(own)
    return found
