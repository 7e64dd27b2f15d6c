"""Action Genome's frames with the Charades files beside them -> facts, of whole folders."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

from questree.faults import BadInput, Fault
from questree.sources.action_genome import (
    FrameColumns,
    kept,
    read_frames,
    read_marks,
    read_people,
    span,
)
from questree.sources.assemble import SourceReading, SourceRows
from questree.sources.charades import Charades, read_rates
from questree.sources.pickles import collector_paused
from questree.sources.shared_videos import TRUTH
from questree.vocabulary.words import Vocabulary

OBJECTS, PERSONS = "object_bbox_and_relationship.pkl", "person_bbox.pkl"
CHARADES = "charades"
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


def other_table(raw: SourceReading, truth: SourceReading) -> str:
    """The first table in which the truth is not about the same; empty if there is none."""
    names = ("videos", "frames")
    return next((name for name in names if not getattr(truth.facts, name).equals(getattr(raw.facts, name))), "")


def refuse_unlike(table: str, folder: Path) -> None:
    if table:
        about = f"its {table} are not those of {folder}; the truth is about the same ones"
        raise BadInput.at(folder / TRUTH, about)
