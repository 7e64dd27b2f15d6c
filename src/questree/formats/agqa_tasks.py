"""Question files shared out: parts of files are read and packed, then shards are made of whole videos."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.video import Videos, videos
from questree.formats.agqa_import import SETS, AgqaImported, FilePart, read_part
from questree.formats.agqa_packed import NONE, Packer, Values, tables
from questree.notation.agqa import AgqaShapes
from questree.readings.answer import answer
from questree.tables.facts import StoredFacts
from questree.tables.hierarchies import Numbers
from questree.tables.questions import TABLES, TEXT
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.terms import Node, Term
from questree.vocabulary.packed import unpacked_words
from questree.vocabulary.words import Vocabulary

LISTED = {
    "video": pl.UInt32,
    "number": pl.UInt32,
    "twin": pl.UInt32,
    **dict.fromkeys(("template", "steps", "flags", "novel_comp", "more_steps"), pl.Int64),
    "side": pl.String,
    "balanced": pl.Boolean,
}
PIECES, FACTS = (
    ".pieces",
    "facts",
)  # of a run that is being made: a folder for what workers write, facts of graphs among it
PACKED, LEFT, IDS = "packed.parquet", "left.parquet", "ids.arrow"  # files of a piece
LISTING = "listed.arrow"  # of a shard: some columns of its questions


@dataclass(frozen=True)
class PackedPiece:
    """Questions of a set that lie in a folder, packed; what is left out of them beside."""

    folder: Path
    set: str
    split: str
    names: list[str] | None  # of its videos, if it numbers them by itself
    own: Ints  # [video] its number in the piece
    video: Ints  # [video] its number in the run
    questions: Ints  # [video]

    def among(self, first: int, end: int) -> Ints:
        """Rows of the videos first <= v < end."""
        return np.flatnonzero((self.video >= first) & (self.video < end))

    def of(self, first: int, end: int) -> pl.DataFrame:
        """The questions of these videos."""
        rows = self.among(first, end)
        found = pl.scan_parquet(os.fspath(self.folder / PACKED), glob=False).filter(
            pl.col("video").is_in(self.own[rows].tolist())
        )
        to = dict(zip(self.own[rows].tolist(), self.video[rows].tolist(), strict=True))
        moved = pl.col("video").replace_strict(to, return_dtype=pl.Int64)
        return found.with_columns(moved, balanced=pl.lit(self.set == SETS[0])).collect()


def pack(packer: Packer, records: pl.DataFrame, folder: Path, set: str, split: str, own: bool) -> PackedPiece:
    """Put records into a folder. own: the packer numbers the videos of this piece alone."""
    found, left = packer.pack(records)
    with new_folder(folder) as work:
        found.write_parquet(work / PACKED, compression="lz4")
        left.write_parquet(work / LEFT, compression="lz4")
        records["id"].hash().to_frame().write_ipc(work / IDS)
    counted = found.group_by("video").len().sort("video")
    names = list(packer.videos) if own else None
    video = counted["video"].to_numpy()
    return PackedPiece(folder, set, split, names, video, video, counted["len"].to_numpy())


@dataclass(frozen=True)
class ReadTask:
    """A part of a question file on its way into a run."""

    words: bytes  # the vocabulary, packed
    facts: Path | None  # folder of those that are known
    part: FilePart
    folder: Path  # for the packed questions


@lru_cache(maxsize=1)
def reading(words: bytes, known: bool) -> tuple[Vocabulary, AgqaShapes, Packer]:
    """Shapes and templates that are met again are not read again."""
    vocabulary = unpacked_words(words)
    return vocabulary, AgqaShapes(vocabulary), Packer(vocabulary, more_videos=not known)


def take_in(task: ReadTask) -> tuple[AgqaImported, PackedPiece]:
    """Read a part of a file, keep it as it came, and pack it."""
    words, shapes, packer = reading(task.words, task.facts is not None)
    facts = None if task.facts is None else StoredFacts.of(task.facts)
    records, told = read_part(task.part, shapes)
    own = replace(packer, videos=Numbers())
    if facts is not None:
        for name in facts.videos["id"].to_list():
            own.videos[name]
        own.resolve = Referred(facts, words, [own.videos.get(name) for name in records["video_id"].unique()])
    return told, pack(own, records, task.folder, task.part.set, task.part.split, facts is None)


class Referred:
    """What a reference stands for on the facts, of which those of some videos are read when they are needed."""

    def __init__(self, facts: StoredFacts, vocabulary: Vocabulary, wanted: Sequence[int | None]):
        known = [video for video in wanted if video is not None] or [0]
        self.facts, self.vocabulary, self.first, self.end = facts, vocabulary, min(known), max(known) + 1

    @cached_property
    def world(self) -> Videos:
        return videos(self.facts.between(self.first, self.end), self.vocabulary)

    def __call__(self, term: Term, words: Values, video: Ints) -> Ints:
        if not isinstance(term, Node):
            return np.full(len(video), NONE)
        return np.maximum(answer(term, self.world.ask(video - self.first), words), NONE)


@dataclass(frozen=True)
class QuestionsTask:
    """A shard of questions that is to be made of packed pieces."""

    run: Path  # that is being made
    words: bytes
    name: str
    first: int  # videos first <= v < end
    end: int
    pieces: tuple[PackedPiece, ...]
    sides: tuple[str, ...]  # of the videos: train, test
    edition: str

    @property
    def listing(self) -> Path:
        return self.run / PIECES / f"shard-{self.name}"


def write_questions(task: QuestionsTask) -> None:
    """The tables of a shard, each question once, and a list of it for selections and splits."""
    found = pl.concat([piece.of(task.first, task.end) for piece in task.pieces])
    chosen = found.filter("balanced").select("video", "number").unique().with_columns(chosen=pl.lit(True))
    once = found.unique(["video", "number"], keep="first", maintain_order=True).drop("balanced")
    with new_folder(Run(task.run).questions / task.name) as folder:
        for name, table in tables(once, reading(task.words, known=False)[0]).items():
            (TEXT if name == TEXT.name else TABLES[task.edition][name]).write(table, folder)
    side = pl.Series(task.sides, dtype=pl.String).gather(once["video"].cast(pl.Int64) - task.first)
    listed = once.with_columns(side=side).join(chosen, on=["video", "number"], how="left")
    listed = listed.with_columns(balanced=pl.col("chosen").fill_null(False)).sort("video", "number")
    with new_folder(task.listing) as folder:
        listed.select(pl.col(name).cast(dtype) for name, dtype in LISTED.items()).write_ipc(folder / LISTING)
