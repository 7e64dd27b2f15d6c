"""Raw files of videos read in parts, anywhere: each part becomes facts in a folder, and ranges of all videos follow.

What comes together is ids, counts and faults. The facts are those of all files read at once: videos do not touch each
other, and the tables are sorted by them.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.sources.assemble import SourceReading, Taking
from questree.sources.catalogue import SOURCES
from questree.sources.repeated_ids import Met, Repeated, with_repeated
from questree.sources.runs import SplitCounts, split_counts
from questree.tables.facts import TABLES, FactPieces, Facts
from questree.tables.store import new_folder
from questree.vocabulary.packed import packed_words, unpacked_words
from questree.vocabulary.words import Vocabulary
from questree.workers import results

Result = TypeVar("Result")
VIDEOS = 512  # of a range
LARGE = 1 << 25  # bytes
TRUTH = "truth"


@dataclass(frozen=True)
class Sharing:
    """Who reads raw files, and where the pieces lie until they are put together."""

    pool: Executor
    place: Path

    def each(self, label: str, work: Callable[..., Result], tasks: Mapping[str, tuple[Any, ...]]) -> list[Result]:
        """What the work gives for each of these arguments, in their order."""
        return results({name: self.pool.submit(work, *given) for name, given in tasks.items()}, label)


def is_large(source: Path) -> bool:
    """Is there so much to read that several processes, which take a while to start, are worth it?"""
    files = [source] if source.is_file() else source.glob("**/*")
    return sum(path.stat().st_size for path in files if path.is_file()) > LARGE


@dataclass(frozen=True)
class PiecedReading:
    """Facts of one source as pieces, and what of it was left out or is odd."""

    facts: FactPieces
    skipped: Mapping[str, int]
    counts: Sequence[SplitCounts]  # of parts of the videos
    truth: FactPieces | None = None  # the clean facts of a made-up world


class Part(Protocol):
    """Some of the raw files."""

    @property
    def name(self) -> str: ...

    def take(self, vocabulary: Vocabulary) -> Taking: ...


@dataclass(frozen=True)
class PartRead:
    """What is told about a part whose facts, if there are any, lie in a folder."""

    met: Met = field(default_factory=Met)
    faults: list[Fault] = field(default_factory=list)
    used: list[tuple[str, bool]] = field(default_factory=list)  # names, and whether the vocabulary has them
    skipped: Mapping[str, int] = field(default_factory=dict)
    counts: SplitCounts = field(default_factory=dict)
    unread: list[Fault] = field(default_factory=list)  # why a file could not be read at all: nothing else is told then
    late: list[Fault] = field(default_factory=list)  # of rows put together: told if there are no others


def added(parts: Sequence[Mapping[str, int]]) -> dict[str, int]:
    """What was left out or is odd in all parts."""
    total = Counter[str]()
    for part in parts:
        total.update(part)
    return {what: times for what, times in sorted(total.items()) if times}


def read_whole(
    sharing: Sharing, kind: str, folder: Path, vocabulary: Vocabulary, more: Mapping[str, Any]
) -> PiecedReading:
    """Files of a source that one worker reads together."""
    out = sharing.place / "whole"
    task = (kind, folder, packed_words(vocabulary), dict(more), out)
    (told,) = sharing.each("reading", take_whole, {folder.name: task})
    refuse(told.faults)
    truth = FactPieces([out.with_name(f"whole-{TRUTH}")]) if told.truth else None
    return PiecedReading(FactPieces([out]), told.skipped, [told.counts], truth)


@dataclass(frozen=True)
class WholeRead:
    """What is told about files that were read together."""

    faults: list[Fault]
    skipped: Mapping[str, int]
    counts: SplitCounts
    truth: bool = False


def take_whole(kind: str, folder: Path, words: bytes, more: Mapping[str, Any], out: Path) -> WholeRead:
    """In a worker: read files and write their facts."""
    vocabulary = unpacked_words(words)
    try:
        found: SourceReading = SOURCES[kind].read(folder, vocabulary, **more)
    except BadInput as bad:
        return WholeRead(bad.faults, {}, {})
    write_piece(found.facts, out)
    if found.truth:
        write_piece(found.truth, out.with_name(f"{out.name}-{TRUTH}"))
    return WholeRead([], found.skipped, split_counts(found.facts, vocabulary), found.truth is not None)


def write_piece(facts: Facts, out: Path, begin: int = 0) -> None:
    with new_folder(out) as folder:
        facts.save_piece(folder, begin)


def read_parts(
    sharing: Sharing, folder: Path, vocabulary: Vocabulary, parts: Sequence[Part], repeated: Repeated
) -> PiecedReading:
    """Parts that have no video in common; `repeated` says that one has, given its id and the file of the first."""
    words, where = packed_words(vocabulary), [sharing.place / f"part-{at:05d}" for at in range(len(parts))]
    tasks = {part.name: (part, words, str(folder), out) for part, out in zip(parts, where, strict=True)}
    read = sharing.each("reading", take_part, tasks)
    for own in read:
        refuse(own.unread)
    together = Taking(vocabulary)
    together.faults = list(with_repeated([(own.met, own.faults) for own in read], "video", repeated))
    together.used = dict.fromkeys(name for own in read for name in own.used)
    refuse([*together.foreign(str(folder))])
    refuse([fault for own in read for fault in own.late])
    pieces = [(out, sorted(own.met.ids)) for out, own in zip(where, read, strict=True)]
    return PiecedReading(in_order(sharing, pieces), added([own.skipped for own in read]), [own.counts for own in read])


def take_part(part: Part, words: bytes, place: str, out: Path) -> PartRead:
    """In a worker: read a part and write its facts, unless something is wrong."""
    vocabulary = unpacked_words(words)
    try:
        taken = part.take(vocabulary)
    except BadInput as bad:
        return PartRead(unread=bad.faults)
    told = PartRead(taken.met, taken.faults, list(taken.used))
    if taken.faults:
        return told
    try:
        found = taken.reading(place)
    except BadInput as bad:
        return replace(told, late=bad.faults)
    write_piece(found.facts, out)
    return replace(told, skipped=found.skipped, counts=split_counts(found.facts, vocabulary))


@dataclass(frozen=True)
class VideoSlice:
    """Some videos of a piece, and their numbers among all videos."""

    folder: Path
    begin: int  # begin <= v < end in the piece
    end: int
    numbers: tuple[int, ...]


def in_order(sharing: Sharing, pieces: Sequence[tuple[Path, list[str]]]) -> FactPieces:
    """Pieces with their sorted ids, as pieces of ranges of all videos by id."""
    if len(pieces) == 1:
        return FactPieces([pieces[0][0]])
    ids = pl.concat([pl.Series("id", own, dtype=pl.String) for _, own in pieces])
    number = np.empty(len(ids), np.int64)  # [video of the pieces, one after the other]
    number[ids.arg_sort().to_numpy()] = np.arange(len(ids))
    ends = np.cumsum([len(own) for _, own in pieces])
    own = [number[end - len(names) : end] for end, (_, names) in zip(ends, pieces, strict=True)]
    tasks = dict[str, tuple[Any, ...]]()
    for begin in range(0, len(ids), VIDEOS):
        slices = list[VideoSlice]()
        for (folder, _), numbers in zip(pieces, own, strict=True):
            low, high = np.searchsorted(numbers, [begin, begin + VIDEOS]).tolist()
            if low < high:
                slices.append(VideoSlice(folder, low, high, tuple(numbers[low:high].tolist())))
        tasks[f"videos from {begin}"] = (slices, sharing.place / f"range-{begin:09d}")
    sharing.each("putting videos in order", place_range, tasks)
    return FactPieces([out for _, out in tasks.values()])


def place_range(slices: Sequence[VideoSlice], out: Path) -> None:
    """In a worker: write the facts of some videos that lie in several pieces."""
    found = {name: list[pl.DataFrame]() for name in TABLES}
    for own in slices:
        facts, numbers = (
            Facts.load_piece(own.folder).between(own.begin, own.end),
            pl.Series(own.numbers, dtype=pl.UInt32),
        )
        for name, rows in found.items():
            table: pl.DataFrame = getattr(facts, name)
            video = numbers if name == "videos" else numbers.gather(table["video"])
            rows.append(table.with_columns(video.alias("video")))
    placed = {
        name: pl.concat(rows, how="vertical_relaxed").sort("video", maintain_order=True) for name, rows in found.items()
    }
    write_piece(Facts(**placed), out)
