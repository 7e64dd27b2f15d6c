"""Action Genome's files shared out.

Workers read a file each and keep its columns; then they make the facts of ranges of videos, and of the truth's.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from questree.faults import BadInput, Fault, refuse
from questree.sources.action_genome import MARKS, PEOPLE, FrameColumns
from questree.sources.action_genome_videos import (
    CHARADES,
    OBJECTS,
    PERSONS,
    FileRead,
    FolderColumns,
    Listed,
    columns_in,
    listed_in,
    missing,
    other_table,
    refuse_unlike,
)
from questree.sources.assemble import SourceReading, assemble
from questree.sources.charades import refuse_unrated
from questree.sources.runs import SplitCounts, split_counts
from questree.sources.shared_videos import TRUTH, PiecedReading, Sharing, added, write_piece
from questree.tables.facts import FactPieces
from questree.tables.store import new_folder
from questree.vocabulary.packed import packed_words, unpacked_words
from questree.vocabulary.words import Vocabulary

FRAMES = 1 << 14  # of a range of videos, unless it is one video


def share_action_genome(
    folder: Path, vocabulary: Vocabulary, sharing: Sharing, fps: float | None = None
) -> PiecedReading:
    """A folder and the truth beside it, a file at a time and then ranges of videos."""
    lacking = {folder: missing(folder)} | (
        {folder / TRUTH: missing(folder / TRUTH)} if (folder / TRUTH).is_dir() else {}
    )
    words, tasks = packed_words(vocabulary), dict[str, tuple[Any, ...]]()
    for at, (own, faults) in enumerate(lacking.items()):
        for name in (CHARADES, *(() if faults else (OBJECTS, PERSONS))):
            tasks[str(own / name)] = (own, name, folder, words, fps, sharing.place / f"{at}-{name}")
    read = dict(zip(tasks, sharing.each("reading", take_file, tasks), strict=True))
    for own, faults in lacking.items():
        refuse([*faults, *read[str(own / CHARADES)].faults])
        for name in (OBJECTS, PERSONS):
            refuse(read[str(own / name)].faults)
        unrated, seen = read[str(own / CHARADES)].unrated, read[str(own / OBJECTS)].ids
        refuse_unrated([id for id in seen if id in unrated], fps, own)
    own_read = {name: read[str(folder / name)] for name in (CHARADES, OBJECTS, PERSONS)}
    return _ranges(sharing, folder, words, list(lacking), own_read)


def take_file(folder: Path, name: str, rates_in: Path, words: bytes, fps: float | None, out: Path) -> FileRead:
    """In a worker: write the columns of a file."""
    vocabulary, skipped = unpacked_words(words), Counter[str]()
    try:
        if name == CHARADES:
            columns: Listed | FrameColumns
            columns, told = listed_in(folder, rates_in, vocabulary, fps)
        else:
            columns = columns_in(folder / name, vocabulary, skipped)
            found = columns.keys.group_by("id", maintain_order=True).len()
            told = FileRead([], skipped, found["id"].to_list(), found["len"].to_list())
    except BadInput as bad:
        return FileRead(bad.faults)
    with new_folder(out) as place:
        columns.sorted().write(place)
    return told


@dataclass(frozen=True)
class RangeTask:
    """The videos first <= id < end of folders whose columns were read: the raw one, and the truth if there is one."""

    folders: Sequence[Path]
    columns: Sequence[Sequence[Path]]  # per folder: Charades, objects, persons
    first: str
    end: str | None
    begin: int  # how many videos come before
    words: bytes
    outs: Sequence[Path]


@dataclass(frozen=True)
class RangeRead:
    skipped: Mapping[str, int]
    counts: SplitCounts
    faults: Sequence[list[Fault]]  # per folder
    other: str = ""  # table in which the truth is not about the same


def _ranges(
    sharing: Sharing, folder: Path, words: bytes, folders: Sequence[Path], read: Mapping[str, FileRead]
) -> PiecedReading:
    listed = set(read[CHARADES].ids)
    both = sorted(id for id in read[OBJECTS].ids if id in listed)
    cuts = _cuts(read[OBJECTS])
    outs = [[sharing.place / f"range-{at:06d}-{own}" for own in range(len(folders))] for at in range(len(cuts))]
    columns = [[sharing.place / f"{at}-{name}" for name in (CHARADES, OBJECTS, PERSONS)] for at in range(len(folders))]
    tasks = [
        RangeTask(folders, columns, first or "", end, bisect_left(both, first or ""), words, own)
        for (first, end), own in zip(pairwise([*cuts, None]), outs, strict=True)
    ]
    done = sharing.each("putting videos together", take_range, {f"videos from {task.first}": (task,) for task in tasks})
    for faults in zip(*(own.faults for own in done), strict=True):
        refuse(list(chain.from_iterable(faults)))
    refuse_unlike(max((own.other for own in done), default=""), folder)  # videos before frames
    raw, *truth = (FactPieces(own) for own in zip(*outs, strict=True))
    skipped = added([*(own.skipped for own in read.values()), *(own.skipped for own in done)])
    return PiecedReading(raw, skipped, [own.counts for own in done], truth[0] if truth else None)


def _cuts(objects: FileRead) -> list[str]:
    """Ids at which ranges begin, of about the same number of frames; the first begins before all of them."""
    order = sorted(range(len(objects.ids)), key=lambda at: objects.ids[at])
    before = np.cumsum([0, *(objects.frames[at] for at in order)])[:-1] // FRAMES  # [video in order]
    new = np.flatnonzero(np.diff(before, prepend=-1))
    return ["", *(objects.ids[order[at]] for at in new[1:].tolist())]


def take_range(task: RangeTask) -> RangeRead:
    """In a worker: the facts of some videos."""
    vocabulary, read = unpacked_words(task.words), list[SourceReading]()
    faults = [list[Fault]() for _ in task.folders]
    for at, (folder, (listed, objects, persons)) in enumerate(zip(task.folders, task.columns, strict=True)):
        columns = FolderColumns(
            Listed.read(listed).between(task.first, task.end),
            FrameColumns.read(objects, MARKS).between(task.first, task.end),
            FrameColumns.read(persons, PEOPLE).between(task.first, task.end),
        )
        try:
            read.append(assemble(columns.rows(Counter()), vocabulary, str(folder)))
        except BadInput as bad:
            faults[at] = bad.faults
            return RangeRead({}, {}, faults)
        write_piece(read[at].facts, task.outs[at], task.begin)
    other = other_table(*read) if len(read) > 1 else ""
    return RangeRead(read[0].skipped, split_counts(read[0].facts, vocabulary), faults, other)
