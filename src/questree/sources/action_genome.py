"""Action Genome's two pickles, frame by frame, with the Charades files beside them -> facts."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput, Fault, refuse
from questree.sources.assemble import BOX_COLUMNS, SourceReading, SourceRows, assemble, positions
from questree.sources.charades import Charades, rates_of, read_rates
from questree.sources.pickles import Unfolding, collector_paused, flattened, read_pickle
from questree.vocabulary.words import Vocabulary

KEY = r"^(.+?)(?:\.mp4)?/(\d{1,9})\.(?:png|jpg)$"  # 001YG.mp4/000089.png
GROUPS = ("attention_relationship", "spatial_relationship", "contacting_relationship")
Record = TypeVar("Record")
Place = Callable[[int], str]


class Annotation(msgspec.Struct):
    """One object of one frame, as released."""

    object: str = msgspec.field(name="class")
    visible: bool
    attention_relationship: list[str] | None
    spatial_relationship: list[str] | None
    contacting_relationship: list[str] | None
    bbox: Any = None  # x, y, width, height
    metadata: Any = None  # {"tag": ..., "set": "train"}


class FoundPeople(msgspec.Struct):
    """The people found in one frame, as released."""

    bbox: Any  # [person, 4] corners
    bbox_score: Any = None  # [person]
    bbox_size: Any = None  # width, height of the frame
    bbox_mode: str = "xyxy"


@dataclass(frozen=True)
class Marks:
    """Columns of the objects file; `frame` is the position of a frame in the file."""

    objects: pl.DataFrame  # frame, object, x1, y1, x2, y2, visible, set
    relations: pl.DataFrame  # frame, relation, object


@dataclass(frozen=True)
class PersonColumns:
    """Columns of the persons file; one person per frame."""

    persons: pl.DataFrame  # frame, x1, y1, x2, y2, score
    sizes: pl.DataFrame  # frame, width, height in pixels


def read_frames(path: Path) -> dict[str, Any]:
    """A pickle whose keys are frames."""
    content = read_pickle(path)
    if not isinstance(content, dict):
        raise BadInput.at(path, f"expected a dictionary of frames, got {type(content).__name__}")
    wrong = [key for key in content if not isinstance(key, str) or not re.match(KEY, key)]
    refuse([Fault(str(path), f"frame {key!r} is not written like '001YG.mp4/000089.png'") for key in wrong])
    return content


def read_marks(frames: dict[str, Any], vocabulary: Vocabulary, path: Path, skipped: Counter[str]) -> Marks:
    keys = list(frames)
    wrong = [key for key in keys if not isinstance(frames[key], list)]
    refuse([Fault(f"{path}, {key}", f"expected a list of objects, got {frames[key]!r:.60}") for key in wrong])
    unfolding, sizes = Unfolding(path), np.fromiter(map(len, frames.values()), np.int64, len(keys))
    unfolding.take(int(sizes.sum()))
    frame = np.repeat(np.arange(len(keys)), sizes)  # [object]

    def place(row: int) -> str:
        return f"{path}, {keys[frame[row]]}, object {row - int(np.searchsorted(frame, frame[row])) + 1}"

    marks = _convert(list(chain.from_iterable(frames.values())), Annotation, place)
    faults: list[Fault] = []
    thing = positions([mark.object for mark in marks], "object", vocabulary, faults, place)
    boxes = _boxes([mark.bbox for mark in marks], place, faults)
    unfolding.take(sum(len(getattr(mark, group) or ()) for mark in marks for group in GROUPS))
    groups = [_relations(marks, group, frame, thing, vocabulary, place, faults) for group in GROUPS]
    refuse(faults)
    columns = {"frame": frame, "object": thing, "visible": np.array([mark.visible for mark in marks], bool)}
    sets = pl.Series("set", [_set(mark.metadata) for mark in marks], dtype=pl.String)
    objects = pl.DataFrame(columns | dict(zip(BOX_COLUMNS, _corners(boxes).T, strict=True))).with_columns(sets)
    return Marks(_only_visible_boxes(objects, skipped), pl.concat(groups))


def _convert(records: list[Any], kind: type[Record], place: Place) -> list[Record]:
    """All records checked at once; one by one only when something is wrong with them."""
    try:
        return msgspec.convert(records, list[kind])  # type: ignore[valid-type]
    except msgspec.ValidationError:
        faults = []
        for row, record in enumerate(records):
            try:
                msgspec.convert(record, kind)
            except msgspec.ValidationError as error:
                faults.append(Fault(place(row), str(error)))
        raise BadInput(faults) from None


def _relations(
    marks: Sequence[Annotation],
    group: str,
    frame: NDArray[np.int64],
    thing: NDArray[np.int64],
    vocabulary: Vocabulary,
    place: Place,
    faults: list[Fault],
) -> pl.DataFrame:
    """Rows (frame, relation, object) of one group; a list may be None."""
    lists = [getattr(mark, group) or () for mark in marks]
    row = np.repeat(np.arange(len(marks)), np.fromiter(map(len, lists), np.int64, len(lists)))  # [relation] its object
    names = list(chain.from_iterable(lists))
    found = positions(names, "relation", vocabulary, faults, lambda at: f"{place(int(row[at]))}, {group}")
    return pl.DataFrame({"frame": frame[row], "relation": found, "object": thing[row]})


def _boxes(boxes: Sequence[Any], place: Place, faults: list[Fault]) -> NDArray[np.float64]:
    """x, y, width, height of each, nan without a box. # [object, 4]"""
    table = np.full((len(boxes), 4), np.nan)
    given = [row for row, box in enumerate(boxes) if box is not None]
    try:
        same = all(len(boxes[row]) == 4 for row in given)
        numbers = np.fromiter(chain.from_iterable(boxes[row] for row in given), np.float64)
    except (TypeError, ValueError):
        same, numbers = False, np.zeros(0)
    if same and np.isfinite(numbers).all():
        table[given] = numbers.reshape(-1, 4)
        return table
    for row in given:
        if not _is_box(boxes[row]):
            faults.append(Fault(place(row), f"a box is (x, y, width, height) or None, is {boxes[row]!r:.60}"))
    return table


def _is_box(box: Any) -> bool:
    try:
        numbers = np.asarray(box, np.float64)
    except (TypeError, ValueError):
        return False
    return numbers.shape == (4,) and bool(np.isfinite(numbers).all())


def _corners(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)


def _set(metadata: Any) -> str | None:
    named = metadata.get("set") if isinstance(metadata, dict) else None
    return named if isinstance(named, str) else None


def _only_visible_boxes(objects: pl.DataFrame, skipped: Counter[str]) -> pl.DataFrame:
    objects = objects.with_columns(pl.col(BOX_COLUMNS).fill_nan(None))
    boxed, visible = pl.col("x1").is_not_null(), pl.col("visible")
    turned = boxed & ((pl.col("x2") < pl.col("x1")) | (pl.col("y2") < pl.col("y1")))
    for what, which in {
        "object that is not visible but has a box, box left out": boxed & ~visible,
        "visible object without a box, kept": ~boxed & visible,
        "box of negative size, left out": turned & visible,
    }.items():
        skipped[what] += objects.select(which.sum()).item()
    keep = visible & ~turned
    return objects.with_columns(pl.when(keep).then(pl.col(name)).alias(name) for name in BOX_COLUMNS)


def read_people(frames: dict[str, Any], path: Path, skipped: Counter[str]) -> PersonColumns:
    keys = list(frames)

    def place(row: int) -> str:
        return f"{path}, {keys[row]}"

    found = _convert(list(frames.values()), FoundPeople, place)
    boxes, count = _people_boxes(found, place)
    scores, given = flattened([each.bbox_score for each in found])
    if not np.array_equal(given, count):
        scores = np.full(len(boxes), np.nan)
        skipped["person file without a score for every box, scores left out"] += 1
    frame = np.repeat(np.arange(len(keys)), count)  # [person]
    order = np.lexsort((-np.nan_to_num(scores), frame))  # surest first; ties stay in the order of the file
    first = order[np.unique(frame[order], return_index=True)[1]]
    skipped["second person in a frame, left out"] += len(frame) - len(first)
    columns = {"frame": frame[first], **dict(zip(BOX_COLUMNS, boxes[first].T, strict=True)), "score": scores[first]}
    return PersonColumns(pl.DataFrame(columns).with_columns(pl.col("score").fill_nan(None)), _sizes(found))


def _people_boxes(found: Sequence[FoundPeople], place: Place) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Corners of all boxes, and how many each frame has. # [person, 4], [frame]"""
    modes = {"xyxy", "xywh"}
    faults = [
        Fault(place(row), f"bbox_mode must be xyxy or xywh, is {each.bbox_mode!r}")
        for row, each in enumerate(found)
        if each.bbox_mode not in modes
    ]
    try:
        numbers, size = flattened([each.bbox for each in found])
    except (TypeError, ValueError):
        numbers, size = np.zeros(0), np.full(len(found), 1)
    faults += [
        Fault(place(row), f"bbox must be numbers of shape (persons, 4), is {found[row].bbox!r:.60}")
        for row in np.flatnonzero(size % 4).tolist()
    ]
    refuse(faults)
    boxes, count = numbers.reshape(-1, 4), size // 4
    sides = np.repeat([each.bbox_mode == "xywh" for each in found], count)
    return np.where(sides[:, None], _corners(boxes), boxes), count


def _sizes(found: Sequence[FoundPeople]) -> pl.DataFrame:
    sized = [(row, *each.bbox_size) for row, each in enumerate(found) if _is_size(each.bbox_size)]
    return pl.DataFrame(sized, schema={"frame": pl.Int64, "width": pl.Float64, "height": pl.Float64}, orient="row")


def _is_size(size: Any) -> bool:
    return isinstance(size, tuple | list) and len(size) == 2 and all(isinstance(side, int | float) for side in size)


OBJECTS, PERSONS = "object_bbox_and_relationship.pkl", "person_bbox.pkl"


def read_action_genome(
    folder: Path, vocabulary: Vocabulary, fps: float | None = None, rates_in: Path | None = None
) -> SourceReading:
    """Facts of a folder; its frame rates may lie in another one."""
    if not folder.is_dir():
        raise BadInput.at(folder, f"no such folder; expected one with {OBJECTS}, {PERSONS} and the Charades CSV files")
    faults = [Fault(str(folder / name), "no such file") for name in (OBJECTS, PERSONS) if not (folder / name).is_file()]
    charades = Charades(folder, vocabulary, faults)
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
    people: PersonColumns,
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
