"""Drafted questions as files of their chunks, and which of them stay: no question is there twice, no text is in dev and
in test. What comes together is a few numbers of every question; chunks then write what stays of theirs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import Hashes, seeds_of
from questree.columns.joins import Ints
from questree.columns.keys import known
from questree.progress import report
from questree.stages.drafts.builders import Reasons
from questree.stages.drafts.chunk import COLUMNS, DraftedChunk
from questree.stages.question_shards import write_piece
from questree.tables.questions import with_forms
from questree.tables.store import new_folder
from questree.tables.table import Table

DRAFTED = Table("drafted", COLUMNS)
KEPT, BEYOND, REPEATED, IN_BOTH = range(4)  # what becomes of a question
TOLD = {REPEATED: "asked before", IN_BOTH: "text in dev and test"}  # reasons for which it is dropped
STAYS, PAIRED = "questions", "paired"  # beside these reasons: what is counted
Fates = NDArray[np.uint8]


@dataclass(frozen=True)
class ChunkKeys:
    """What is told about the drafted questions of a chunk, which lie in a folder."""

    place: Path
    ids: Hashes  # [question] of its id
    texts: Hashes  # [question] of its text; none of train, whose texts may be anywhere
    pair: Ints  # [question] from 0 on in every chunk
    dropped: Reasons
    unmade: Reasons


def written(chunk: DraftedChunk, place: Path, part: str) -> ChunkKeys:
    """In a worker: the questions go to files."""
    with new_folder(place) as folder:
        DRAFTED.write_piece(chunk.questions, folder)
    texts: Iterable[str] = chunk.questions["question"] if part != "train" else ()
    ids, pair = seeds_of(0, chunk.questions["id"]), chunk.questions["pair"].to_numpy()
    return ChunkKeys(place, ids, seeds_of(0, texts), pair, chunk.dropped, chunk.unmade)


@dataclass(frozen=True)
class KeptChunk:
    """What becomes of the questions of a chunk; small enough to send anywhere that sees the run."""

    place: Path
    part: str
    fate: Fates  # [question]
    pair: Ints  # [question] as in ChunkKeys
    first: int = 0  # number of its first pair among all

    def __str__(self) -> str:
        return self.place.name

    @cached_property
    def pairs(self) -> int:
        """How many of its pairs stay, or one half of them."""
        return len(np.unique(self.pair[self.fate == KEPT]))


class MetKeys:
    """Numbers that were met, in sorted runs of which each is more than twice as long as the next."""

    def __init__(self) -> None:
        self.runs = list[Hashes]()

    def __len__(self) -> int:
        return sum(map(len, self.runs))

    def holds(self, keys: Hashes) -> NDArray[np.bool_]:
        """[key] was it met?"""
        found = np.zeros(len(keys), bool)
        for run in self.runs:
            found |= known(keys, run)
        return found

    def add(self, keys: Hashes) -> None:
        self.runs.append(np.sort(keys))
        while len(self.runs) > 1 and len(self.runs[-2]) <= 2 * len(self.runs[-1]):
            self.runs[-2:] = [np.sort(np.concatenate(self.runs[-2:]), kind="stable")]


@dataclass
class SoFar:
    wanted: int
    found: int = 0
    chunks: int = 0

    def needs_more(self, under_way: int) -> bool:
        """Will the chunks that are under way be too few, if they are like those before?"""
        return not self.chunks or self.found + under_way * self.found / self.chunks < self.wanted


@dataclass
class PartRows:
    """As many different questions of a part as wanted, or all there are."""

    part: str
    chunks: list[KeptChunk]
    texts: list[Hashes]  # [chunk, question]

    @classmethod
    def of(cls, part: str, found: Iterable[ChunkKeys], so_far: SoFar, dropped: Reasons, unmade: Reasons) -> "PartRows":
        rows, seen, wanted = cls(part, [], []), MetKeys(), so_far.wanted
        report(f"asking about {part} images", 0, wanted)
        for chunk in found:
            dropped.update(chunk.dropped)
            unmade.update(chunk.unmade)
            new = unasked(chunk, seen)
            fate = np.where(new, KEPT, REPEATED).astype(np.uint8)
            fate[cut(new, chunk.pair, wanted - len(seen))] = BEYOND
            seen.add(chunk.ids[new])
            rows.chunks.append(KeptChunk(chunk.place, part, fate, chunk.pair))
            rows.texts.append(chunk.texts)
            so_far.found, so_far.chunks = len(seen), so_far.chunks + 1
            report(f"asking about {part} images", min(len(seen), wanted), wanted)
            if len(seen) >= wanted:
                break
        return rows

    def __len__(self) -> int:
        return sum(int((chunk.fate == KEPT).sum()) for chunk in self.chunks)

    def asked(self) -> Hashes:
        """The texts of its questions."""
        own = (texts[chunk.fate == KEPT] for chunk, texts in zip(self.chunks, self.texts, strict=True))
        return np.unique(np.concatenate([np.zeros(0, np.uint64), *own]))

    def without(self, texts: Hashes) -> "PartRows":
        """Questions with these texts are in the other part."""
        chunks = list[KeptChunk]()
        for chunk, own in zip(self.chunks, self.texts, strict=True):
            gone = (chunk.fate == KEPT) & np.isin(own, texts)
            chunks.append(replace(chunk, fate=np.where(gone, IN_BOTH, chunk.fate).astype(np.uint8)))
        return replace(self, chunks=chunks)


def unasked(chunk: ChunkKeys, seen: MetKeys) -> NDArray[np.bool_]:
    """[question] was neither it nor its twin asked before?"""
    again = seen.holds(chunk.ids)
    first = np.zeros_like(again)
    first[np.unique(chunk.ids, return_index=True)[1]] = True
    return np.isin(chunk.pair, chunk.pair[again | ~first], invert=True)


def cut(new: NDArray[np.bool_], pair: Ints, room: int) -> Ints:
    """Rows of new questions for which there is no room; a pair that would be torn stays out."""
    rows = np.flatnonzero(new)
    if len(rows) <= room:
        return rows[:0]
    return np.asarray(rows[(np.arange(len(rows)) >= room) | (pair[rows] == pair[rows[room]])])


def apart(dev: PartRows, test: PartRows) -> tuple[PartRows, PartRows]:
    """No text is in dev and in test: where it is, a hash of it decides which of the two keeps it."""
    both = np.intersect1d(dev.asked(), test.asked(), assume_unique=True)
    in_dev = both % np.uint64(2) == 1
    return dev.without(both[~in_dev]), test.without(both[in_dev])


def numbered(parts: Sequence[PartRows]) -> Iterator[KeptChunk]:
    """Pairs numbered from 0 through all parts."""
    first = 0
    for chunk in (chunk for part in parts for chunk in part.chunks):
        yield replace(chunk, first=first)
        first += chunk.pairs


def final(place: Path) -> Path:
    """The folder with what stays of a chunk."""
    return place.with_name(f"{place.name}-kept")


def write_kept(chunk: KeptChunk) -> pl.DataFrame:
    """In a worker: the questions that stay, as they are in the table; rows of a pair are neighbours.

    Gives part, template, what and n: how many stay, how many of these have a twin, and how many are dropped and why."""
    table = DRAFTED.read_piece(chunk.place).with_columns(fate=pl.Series(chunk.fate))
    rows = table.filter(fate=KEPT)
    new = (rows["pair"] != rows["pair"].shift()).fill_null(True)
    rows = rows.with_columns(pair=new.cast(pl.UInt32).cum_sum() - 1 + chunk.first, split=pl.lit(chunk.part))
    with new_folder(final(chunk.place)) as folder:
        write_piece(with_forms(rows), folder)
    gone = table.filter(pl.col("fate").is_in([*TOLD]))
    counted = {STAYS: rows, PAIRED: rows.filter(pl.len().over("pair") > 1)}
    counts = [each.select("template", what=pl.lit(what)) for what, each in counted.items()]
    counts.append(gone.select("template", what=pl.col("fate").replace_strict(TOLD, return_dtype=pl.String)))
    return pl.concat(counts).group_by("template", "what", part=pl.lit(chunk.part)).agg(n=pl.len())
