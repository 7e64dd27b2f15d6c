"""What is known about videos: six tables, with every relation track a bitset over the annotated frames."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.joins import listed
from questree.columns.keys import BY_FRAME, BY_TRACK, distinct, from_keys, keys, weights, word_type
from questree.tables.table import Table, rows_in

VIDEO, FRAME = {"video": pl.UInt32}, {"frame": pl.UInt16}  # row in `videos`; position among the video's frames
BOX = {"x1": pl.Float32, "y1": pl.Float32, "x2": pl.Float32, "y2": pl.Float32}  # pixels, all null without a box
SPLITS = ("train", "test", "")  # "" = the source does not say
SPLIT_UNSAID = "test"  # where the questions of a video go whose source names no split

VIDEOS = Table(
    "videos",
    {"id": pl.String, "split": pl.String, "length": pl.Float64, "width": pl.UInt16, "height": pl.UInt16},
    optional=frozenset({"length", "width", "height"}),
)
FRAMES = Table("frames", VIDEO | FRAME | {"number": pl.UInt32, "seconds": pl.Float64})
OBJECTS = Table(
    "objects",
    VIDEO | FRAME | {"object": pl.UInt8} | BOX | {"visible": pl.Boolean},
    optional=frozenset(BOX),
    wide={"object": pl.UInt16},
)
PERSONS = Table("persons", VIDEO | FRAME | BOX | {"score": pl.Float32}, frozenset({"score"}))
PAIR, WIDE_PAIR = {"relation": pl.UInt8, "object": pl.UInt8}, {"relation": pl.UInt16, "object": pl.UInt16}
RELATIONS = Table("relations", {**VIDEO, **FRAME, **PAIR}, wide=WIDE_PAIR)  # tracks, one row per frame
TRACKS = Table("tracks", VIDEO | PAIR | {"bits": pl.List(pl.UInt64)}, wide=WIDE_PAIR)
ACTIONS = Table(  # frames first..last (null: no annotated frame lies inside start..end, in seconds)
    "actions",
    VIDEO
    | {"action": pl.UInt8, "instance": pl.UInt8, "start": pl.Float64, "end": pl.Float64}
    | {"first": pl.UInt16, "last": pl.UInt16},
    optional=frozenset({"first", "last"}),
    wide={"action": pl.UInt16, "instance": pl.UInt16},  # the instance where some action has more than 255
)
RANGE = 8192  # videos of which rows are in memory together, where all are looked at
TABLES: Mapping[str, Table] = {t.name: t for t in (VIDEOS, FRAMES, OBJECTS, PERSONS, TRACKS, ACTIONS)}


@dataclass(frozen=True)
class Facts:
    """Tables sorted by video, then frame. Class columns are positions in the vocabulary's lists."""

    videos: pl.DataFrame
    frames: pl.DataFrame
    objects: pl.DataFrame
    persons: pl.DataFrame
    tracks: pl.DataFrame
    actions: pl.DataFrame

    def save(self, folder: Path) -> None:
        for name, table in TABLES.items():
            table.write(getattr(self, name), folder)

    def save_piece(self, folder: Path, begin: int = 0) -> None:
        """As a piece of the tables of many videos, of which these are begin, begin + 1, ..."""
        for name, table in TABLES.items():
            rows: pl.DataFrame = getattr(self, name)
            table.write_piece(rows if name == "videos" else rows.with_columns(pl.col("video") + begin), folder)

    @classmethod
    def load(cls, folder: Path) -> "Facts":
        return cls(**{field.name: TABLES[field.name].read(folder) for field in fields(cls)})

    @classmethod
    def load_piece(cls, folder: Path) -> "Facts":
        return cls(**{name: table.read_piece(folder) for name, table in TABLES.items()})

    @classmethod
    def none(cls) -> "Facts":
        return cls(**{name: table.empty() for name, table in TABLES.items()})

    @property
    def told(self) -> bool:
        """Is anything known about any video but its name?"""
        return len(self.frames) + len(self.actions) > 0

    @property
    def relations(self) -> pl.DataFrame:
        """The tracks as rows (video, frame, relation, object), sorted."""
        return unpack(self.tracks)

    def between(self, begin: int, end: int) -> "Facts":
        """The videos begin <= v < end, renumbered from 0; quick, because every table is sorted by video."""

        def few(table: pl.DataFrame) -> pl.DataFrame:
            lo, hi = np.searchsorted(table["video"].to_numpy(), [begin, end])
            return table[int(lo) : int(hi)].with_columns(video=pl.col("video") - begin)

        rest = {f.name: few(getattr(self, f.name)) for f in fields(self) if f.name != "videos"}
        return Facts(videos=self.videos[begin:end], **rest)


@dataclass(frozen=True)
class FactPieces:
    """Facts of many videos as pieces in folders, one after the other."""

    folders: Sequence[Path]

    def save(self, folder: Path) -> None:
        """The tables, put together without holding them."""
        for table in TABLES.values():
            table.join(self.folders, folder)


@dataclass(frozen=True)
class StoredFacts:
    """Facts of many videos where they lie: those of some videos are read when they are asked for."""

    folder: Path
    videos: pl.DataFrame  # of all

    @classmethod
    def of(cls, folder: Path) -> "StoredFacts":
        return cls(folder, VIDEOS.read(folder))

    @cached_property
    def told(self) -> bool:
        """Is anything known about any video but its name?"""
        return any(rows_in(self.folder / f"{table.name}.parquet") for table in (FRAMES, ACTIONS))

    def ranges(self, table: Table) -> Iterator[tuple[int, int, pl.DataFrame]]:
        """All rows of a table, those of videos begin <= v < end together; in them the first is number 0."""
        for begin in range(0, max(len(self.videos), 1), RANGE):
            end = min(begin + RANGE, len(self.videos))
            yield begin, end, self._rows(table, begin, end)

    def between(self, begin: int, end: int) -> Facts:
        """The videos begin <= v < end, renumbered from 0."""
        rest = {name: self._rows(table, begin, end) for name, table in TABLES.items() if table is not VIDEOS}
        return Facts(videos=self.videos[begin:end], **rest)

    def _rows(self, table: Table, begin: int, end: int) -> pl.DataFrame:
        inside = pl.col("video").is_between(begin, end, closed="left")
        return table.read(self.folder, inside).with_columns(video=pl.col("video") - begin)


def instances(actions: pl.DataFrame) -> pl.DataFrame:
    """Instances of an action in a video counted from 1, in the order of the rows."""
    counted = actions.with_columns(instance=pl.int_range(1, pl.len() + 1).over("video", "action"))
    many = not counted["instance"].is_between(0, 255).all()
    return counted.with_columns(pl.col("instance").cast(pl.UInt16 if many else pl.UInt8))


def pack(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows (video, frame, relation, object), any order, repeats allowed -> tracks; a track ends with its last word."""
    if rows.is_empty():
        return TRACKS.frame(rows.with_columns(bits=pl.lit([], pl.List(pl.UInt64))))
    word = word_type(rows)
    key = distinct(keys(rows, BY_TRACK))
    track_key, frame = key >> np.uint64(16), (key & np.uint64(0xFFFF)).astype(np.int64)
    new = np.append(True, track_key[1:] != track_key[:-1])  # [row] first row of its track
    begin = np.flatnonzero(new)
    last = np.append(begin[1:], len(key)) - 1
    words = frame[last] // 64 + 1  # [track]
    start = np.concatenate([[0], np.cumsum(words)])
    bits = np.zeros(start[-1], np.uint64)
    track = np.cumsum(new) - 1
    np.bitwise_or.at(bits, start[track] + frame // 64, np.uint64(1) << (frame % 64).astype(np.uint64))
    return TRACKS.frame(from_keys(key[begin], BY_TRACK, word).with_columns(bits=listed(bits, start)))


def unpack(tracks: pl.DataFrame) -> pl.DataFrame:
    """Tracks -> rows (video, frame, relation, object), sorted by them."""
    words = tracks.with_columns(word=pl.int_ranges(pl.col("bits").list.len())).explode("bits", "word")
    bits = words["bits"].fill_null(0).to_numpy()
    flags = np.unpackbits(bits.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")  # [word, bit]
    row, bit = np.nonzero(flags)
    begin = words.select("video", "relation", "object", frame=pl.col("word").fill_null(0) * 64)
    word = word_type(tracks)
    key = keys(begin)[row] + (bit.astype(np.uint64) << np.uint64(weights(BY_FRAME, word)["frame"]))
    return from_keys(np.sort(key), word=word)
