"""Action Genome's frames with the Charades files beside them -> facts: of whole folders, or shared out.

Workers read a file each and keep its columns; then they make the facts of ranges of videos, and of the truth's.
"""

import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.sources.action_genome import (
    MARKS,
    PEOPLE,
    FrameColumns,
    kept,
    read_frames,
    read_marks,
    read_people,
    span,
)
from questree.sources.assemble import SourceReading, SourceRows, assemble
from questree.sources.charades import Charades, read_rates, refuse_unrated
from questree.sources.pickles import collector_paused
from questree.sources.runs import SplitCounts, split_counts
from questree.sources.shared_videos import TRUTH, PiecedReading, Sharing, added, write_piece
from questree.tables.facts import FactPieces
from questree.tables.store import new_folder
from questree.vocabulary.packed import packed_words, unpacked_words
from questree.vocabulary.words import Vocabulary

OBJECTS, PERSONS = "object_bbox_and_relationship.pkl", "person_bbox.pkl"
CHARADES = "charades"
FRAMES = 1 << 14  # of a range of videos, unless it is one video
ACTIONS = {"id": pl.String, "action": pl.Int64, "start": pl.Float64, "end": pl.Float64}
LISTED = {"id": pl.String, "split": pl.String, "length": pl.Float64, "rate": pl.Float64}


@dataclass(frozen=True)
class Listed:
    """What the Charades files and the table of frame rates say."""

    videos: pl.DataFrame  # LISTED; the rate is null where nobody says it
    actions: pl.DataFrame  # ACTIONS

    @classmethod
    def of(cls, charades: Charades, rates: Mapping[str, float], fps: float | None) -> "Listed":
        rows = [(id, split, charades.length[id], rates.get(id, fps)) for id, split in charades.split.items()]
        return cls(
            pl.DataFrame(rows, schema=LISTED, orient="row"),
            pl.DataFrame(charades.actions, schema=ACTIONS, orient="row"),
        )

    def between(self, first: str, end: str | None) -> "Listed":
        """Of the videos first <= id < end, if these are sorted by them."""
        slices = (slice(*span(table, first, end)) for table in (self.videos, self.actions))
        return Listed(*(table[own] for table, own in zip((self.videos, self.actions), slices, strict=True)))

    def sorted(self) -> "Listed":
        """By the ids of videos."""
        return Listed(*(table.sort("id", maintain_order=True) for table in (self.videos, self.actions)))

    def write(self, folder: Path) -> None:
        self.videos.write_ipc(folder / "videos.arrow")
        self.actions.write_ipc(folder / "actions.arrow")

    @classmethod
    def read(cls, folder: Path) -> "Listed":
        return cls(
            *(pl.scan_ipc(os.fspath(folder / f"{name}.arrow"), glob=False).collect() for name in ("videos", "actions"))
        )


@dataclass(frozen=True)
class FolderColumns:
    """All that the files of a folder say."""

    listed: Listed
    marks: FrameColumns
    people: FrameColumns

    def rows(self, skipped: Counter[str]) -> SourceRows:
        """Of the videos that both sources know."""
        videos, frames = self._frames(skipped)
        row = np.full(len(self.marks.keys) + 1, -1, np.int64)  # [key] row in `frames`; the last: keys without objects
        row[frames["key"].to_numpy()] = np.arange(len(frames))
        at = {key: position for position, key in enumerate(self.marks.keys["key"].to_list())}
        seen = self.people.keys["key"].to_list()
        person_row = row[np.fromiter((at.get(key, -1) for key in seen), np.int64, len(seen))]
        skipped["frame with persons but without objects, left out"] += sum(key not in at for key in seen)
        objects = kept(self.marks.tables["objects"], row)
        _count_sets(objects, frames, videos, skipped)
        sizes = kept(self.people.tables["sizes"], person_row)
        sizes = sizes.with_columns(video=frames["video"][sizes["frame"]])
        sizes = sizes.unique("video", keep="first", maintain_order=True)
        actions = self.listed.actions.join(videos.select("id", "video"), on="id", maintain_order="left")
        return SourceRows(
            videos=videos.join(sizes.drop("frame"), on="video", how="left", maintain_order="left"),
            frames=frames,
            objects=objects,
            persons=kept(self.people.tables["persons"], person_row),
            relations=kept(self.marks.tables["relations"], row),
            actions=actions.drop("id"),
            skipped=skipped,
        )

    def _frames(self, skipped: Counter[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Videos (id, split, length) that both sources know, and their frames (video, number, seconds, key)."""
        table = self.marks.keys.drop("key").with_row_index("key")
        ids = table.select("id").unique(maintain_order=True)
        videos = ids.join(self.listed.videos, on="id", maintain_order="left").with_row_index("video")
        skipped["video with frames but without a Charades row, left out"] += len(ids) - len(videos)
        skipped["Charades video without frames, left out"] += len(self.listed.videos) - len(videos)
        table = table.join(videos, on="id", maintain_order="left")
        single = table.unique(["video", "number"], keep="first", maintain_order=True)
        skipped["frame written in two ways, second left out"] += len(table) - len(single)
        # by numpy: polars multiplies by the inverse where all rates are the same, as they may be in a range of videos
        seconds = single["number"].to_numpy() / single["rate"].to_numpy()
        return videos.drop("rate"), single.select("key", "video", "number", seconds=pl.Series(seconds))


def _count_sets(objects: pl.DataFrame, frames: pl.DataFrame, videos: pl.DataFrame, skipped: Counter[str]) -> None:
    """The Charades file a video is listed in decides; annotations that name another set are only counted."""
    video = frames["video"][objects["frame"]]
    other = objects.select(pl.col("set").is_not_null() & (pl.col("set") != videos["split"][video])).to_series()
    skipped["video whose annotations name another split than its Charades file"] += video.filter(other).n_unique()


@dataclass(frozen=True)
class FileRead:
    """What is told about a file that was read; its columns lie in a folder."""

    faults: list[Fault]
    skipped: Mapping[str, int] = field(default_factory=dict)
    ids: Sequence[str] = ()  # of its videos, as they came
    frames: Sequence[int] = ()  # [video]
    unrated: frozenset[str] = frozenset()  # videos that are listed without a frame rate


def read_action_genome(
    folder: Path, vocabulary: Vocabulary, fps: float | None = None, rates_in: Path | None = None
) -> SourceReading:
    """Facts of a folder; its frame rates may lie in another one."""
    faults = missing(folder)
    listed, told = listed_in(folder, rates_in or folder, vocabulary, fps)
    refuse([*faults, *told.faults])
    skipped = Counter(told.skipped)
    marks = columns_in(folder / OBJECTS, vocabulary, skipped)
    people = columns_in(folder / PERSONS, vocabulary, skipped)
    refuse_unrated([id for id in marks.keys["id"].unique(maintain_order=True) if id in told.unrated], fps, folder)
    return assemble(FolderColumns(listed, marks, people).rows(skipped), vocabulary, str(folder))


def missing(folder: Path) -> list[Fault]:
    if not folder.is_dir():
        raise BadInput.at(folder, f"no such folder; expected one with {OBJECTS}, {PERSONS} and the Charades CSV files")
    return [Fault(str(folder / name), "no such file") for name in (OBJECTS, PERSONS) if not (folder / name).is_file()]


def listed_in(folder: Path, rates_in: Path, vocabulary: Vocabulary, fps: float | None) -> tuple[Listed, FileRead]:
    faults = list[Fault]()
    charades = Charades(folder, vocabulary, faults)
    rates = read_rates(rates_in, faults)
    unrated = frozenset(id for id in charades.split if id not in rates)
    return Listed.of(charades, rates, fps), FileRead(faults, charades.skipped, list(charades.split), (), unrated)


def columns_in(path: Path, vocabulary: Vocabulary, skipped: Counter[str]) -> FrameColumns:
    with collector_paused():
        frames = read_frames(path)
        if path.name == OBJECTS:
            return read_marks(frames, vocabulary, path, skipped)
        return read_people(frames, path, skipped)


def read_with_truth(folder: Path, vocabulary: Vocabulary, fps: float | None = None) -> SourceReading:
    """The same; a folder `truth` inside, with the same files, holds the clean facts about the same frames."""
    raw, clean = read_action_genome(folder, vocabulary, fps), folder / TRUTH
    if not clean.is_dir():
        return raw
    truth = read_action_genome(clean, vocabulary, fps, rates_in=folder)
    refuse_unlike(other_table(raw, truth), folder)
    return replace(raw, truth=truth.facts)


def other_table(raw: SourceReading, truth: SourceReading) -> str:
    """The first table in which the truth is not about the same; empty if there is none."""
    names = ("videos", "frames")
    return next((name for name in names if not getattr(truth.facts, name).equals(getattr(raw.facts, name))), "")


def refuse_unlike(table: str, folder: Path) -> None:
    if table:
        about = f"its {table} are not those of {folder}; the truth is about the same ones"
        raise BadInput.at(folder / TRUTH, about)


def share_action_genome(
    folder: Path, vocabulary: Vocabulary, sharing: Sharing, fps: float | None = None
) -> PiecedReading:
    """The same, a file at a time and then ranges of videos."""
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
