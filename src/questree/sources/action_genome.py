"""Action Genome pickles with the Charades files beside them -> facts."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput, Fault, refuse
from questree.sources.assemble import SourceReading, SourceRows, assemble
from questree.sources.charades import Charades, rates_of, read_charades, read_rates
from questree.sources.frame_pickles import KEY, Marks, People, read_frames, read_marks, read_people
from questree.sources.pickles import collector_paused
from questree.vocabulary.words import Vocabulary

OBJECTS, PERSONS = "object_bbox_and_relationship.pkl", "person_bbox.pkl"


def read_action_genome(
    folder: Path, vocabulary: Vocabulary, fps: float | None = None, rates_in: Path | None = None
) -> SourceReading:
    """Facts of a folder; its frame rates may lie in another one."""
    if not folder.is_dir():
        raise BadInput.at(folder, f"no such folder; expected one with {OBJECTS}, {PERSONS} and the Charades CSV files")
    faults = [Fault(str(folder / name), "no such file") for name in (OBJECTS, PERSONS) if not (folder / name).is_file()]
    charades = read_charades(folder, vocabulary, faults)
    rates = read_rates(rates_in or folder, faults)
    refuse(faults)
    with collector_paused():
        frames = read_frames(folder / OBJECTS)
        keys = list(frames)
        marks = read_marks(frames, vocabulary, folder / OBJECTS, charades.skipped)
        del frames
        frames = read_frames(folder / PERSONS)
        person_keys = list(frames)
        people = read_people(frames, folder / PERSONS, charades.skipped)
        del frames
    videos, table = _frames(keys, charades, rates, fps, folder)
    return assemble(_rows(videos, table, keys, person_keys, marks, people, charades), vocabulary, str(folder))


def read_with_truth(folder: Path, vocabulary: Vocabulary, fps: float | None = None) -> SourceReading:
    """The same; a folder `truth` inside, with the same files, holds the clean facts about the same frames."""
    raw, inside = read_action_genome(folder, vocabulary, fps), folder / "truth"
    if not inside.is_dir():
        return raw
    truth = read_action_genome(inside, vocabulary, fps, rates_in=folder).facts
    for table in ("videos", "frames"):
        if not getattr(truth, table).equals(getattr(raw.facts, table)):
            raise BadInput.at(inside, f"its {table} are not those of {folder}; the truth is about the same ones")
    return replace(raw, truth=truth)


def _frames(
    keys: list[str], charades: Charades, rates: dict[str, float], fps: float | None, folder: Path
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Videos (id, split, length) that both sources know, and their frames (video, number, seconds, key)."""
    parts = pl.Series("key", keys, dtype=pl.String).str.extract_groups(KEY).struct.rename_fields(["id", "number"])
    table = parts.struct.unnest().with_columns(pl.col("number").cast(pl.UInt32)).with_row_index("key")
    ids = table["id"].unique(maintain_order=True).to_list()
    both = [each for each in ids if each in charades.split]
    charades.skipped["video with frames but without a Charades row, left out"] += len(ids) - len(both)
    charades.skipped["Charades video without frames, left out"] += len(charades.split) - len(both)
    columns = {
        "id": pl.Series(both, dtype=pl.String),
        "split": pl.Series([charades.split[each] for each in both], dtype=pl.String),
        "length": pl.Series([charades.length[each] for each in both], dtype=pl.Float64),
        "rate": pl.Series(rates_of(both, rates, fps, folder), dtype=pl.Float64),
    }
    videos = pl.DataFrame(columns).with_row_index("video")
    table = table.join(videos, on="id", maintain_order="left")
    single = table.unique(["video", "number"], keep="first", maintain_order=True)
    charades.skipped["frame written in two ways, second left out"] += len(table) - len(single)
    return videos.drop("rate"), single.select("key", "video", "number", seconds=pl.col("number") / pl.col("rate"))


def _rows(
    videos: pl.DataFrame,
    frames: pl.DataFrame,
    keys: list[str],
    person_keys: list[str],
    marks: Marks,
    people: People,
    charades: Charades,
) -> SourceRows:
    row = np.full(len(keys) + 1, -1, np.int64)  # [key] row in `frames`; the last stands for keys without objects
    row[frames["key"].to_numpy()] = np.arange(len(frames))
    at = {key: position for position, key in enumerate(keys)}
    person_row = row[np.fromiter((at.get(key, -1) for key in person_keys), np.int64, len(person_keys))]
    charades.skipped["frame with persons but without objects, left out"] += sum(key not in at for key in person_keys)
    objects = _kept(marks.objects, row)
    _count_sets(objects, frames, videos, charades.skipped)
    sizes = _kept(people.sizes, person_row)
    sizes = sizes.with_columns(video=frames["video"][sizes["frame"]]).unique("video", keep="first", maintain_order=True)
    return SourceRows(
        videos=videos.join(sizes.drop("frame"), on="video", how="left", maintain_order="left"),
        frames=frames,
        objects=objects,
        persons=_kept(people.persons, person_row),
        relations=_kept(marks.relations, row),
        actions=_actions(charades, videos),
        skipped=charades.skipped,
    )


def _kept(table: pl.DataFrame, row: NDArray[np.int64]) -> pl.DataFrame:
    """The table with its frames renumbered, without those that are left out."""
    return table.with_columns(frame=pl.Series(row[table["frame"].to_numpy()])).filter(pl.col("frame") >= 0)


def _count_sets(objects: pl.DataFrame, frames: pl.DataFrame, videos: pl.DataFrame, skipped: Counter[str]) -> None:
    """The Charades file a video is listed in decides; annotations that name another set are only counted."""
    video = frames["video"][objects["frame"]]
    other = objects.select(pl.col("set").is_not_null() & (pl.col("set") != videos["split"][video])).to_series()
    skipped["video whose annotations name another split than its Charades file"] += video.filter(other).n_unique()


def _actions(charades: Charades, videos: pl.DataFrame) -> pl.DataFrame:
    schema = {"id": pl.String, "action": pl.Int64, "start": pl.Float64, "end": pl.Float64}
    actions = pl.DataFrame(charades.actions, schema=schema, orient="row")
    return actions.join(videos.select("id", "video"), on="id", maintain_order="left").drop("id")
