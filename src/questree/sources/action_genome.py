"""Action Genome's two pickles, frame by frame -> columns."""

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput, Fault, refuse
from questree.sources.assemble import BOX_COLUMNS, positions
from questree.sources.pickles import Unfolding, flattened, read_pickle
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


# What a file says as columns; `frame` is a row of `keys`
MARKS = ("objects", "relations")  # frame, object, x1, y1, x2, y2, visible, set; frame, relation, object
PEOPLE = ("persons", "sizes")  # frame, x1, y1, x2, y2, score: one per frame; frame, width, height in pixels


@dataclass(frozen=True)
class FrameColumns:
    """What one of the files says about frames, in the order of the file."""

    keys: pl.DataFrame  # key, id, number
    tables: Mapping[str, pl.DataFrame]  # MARKS or PEOPLE

    @classmethod
    def of(cls, frames: Mapping[str, Any], tables: Mapping[str, pl.DataFrame]) -> "FrameColumns":
        keys = pl.Series("key", list(frames), dtype=pl.String)
        parts = keys.str.extract_groups(KEY).struct.rename_fields(["id", "number"]).struct.unnest()
        return cls(parts.select(keys, "id", pl.col("number").cast(pl.UInt32)), tables)

    def sorted(self) -> "FrameColumns":
        """By the ids of videos; the frames of one stay in the order of the file."""
        order = self.keys.select(pl.arg_sort_by("id", maintain_order=True)).to_series().to_numpy()
        row = np.empty(len(order), np.int64)  # [frame] its new place
        row[order] = np.arange(len(order))
        tables = {name: kept(table, row).sort("frame", maintain_order=True) for name, table in self.tables.items()}
        return FrameColumns(self.keys[order], tables)

    def between(self, first: str, end: str | None) -> "FrameColumns":
        """Of the videos first <= id < end, if these are sorted by them."""
        low, high = span(self.keys, first, end)
        tables = dict[str, pl.DataFrame]()
        for name, table in self.tables.items():
            begin, stop = np.searchsorted(table["frame"].to_numpy(), [low, high]).tolist()
            tables[name] = table[begin:stop].with_columns(pl.col("frame") - low)
        return FrameColumns(self.keys[low:high], tables)

    def write(self, folder: Path) -> None:
        for name, table in {"keys": self.keys, **self.tables}.items():
            table.write_ipc(folder / f"{name}.arrow")

    @classmethod
    def read(cls, folder: Path, names: Sequence[str]) -> "FrameColumns":
        keys, *tables = (
            pl.scan_ipc(os.fspath(folder / f"{name}.arrow"), glob=False).collect() for name in ("keys", *names)
        )
        return cls(keys, dict(zip(names, tables, strict=True)))


def span(table: pl.DataFrame, first: str, end: str | None) -> tuple[int, int]:
    """Begin and end of the rows first <= id < end of a table that is sorted by id."""
    ids = table["id"]
    return ids.search_sorted(first), len(ids) if end is None else ids.search_sorted(end)


def kept(table: pl.DataFrame, row: NDArray[np.int64]) -> pl.DataFrame:
    """The table with its frames renumbered, without those that are left out."""
    return table.with_columns(frame=pl.Series(row[table["frame"].to_numpy()])).filter(pl.col("frame") >= 0)


def read_frames(path: Path) -> dict[str, Any]:
    """A pickle whose keys are frames."""
    content = read_pickle(path)
    if not isinstance(content, dict):
        raise BadInput.at(path, f"expected a dictionary of frames, got {type(content).__name__}")
    wrong = [key for key in content if not isinstance(key, str) or not re.match(KEY, key)]
    refuse([Fault(str(path), f"frame {key!r} is not written like '001YG.mp4/000089.png'") for key in wrong])
    return content


def read_marks(frames: dict[str, Any], vocabulary: Vocabulary, path: Path, skipped: Counter[str]) -> FrameColumns:
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
    named = {group: [names or () for names in map(attrgetter(group), marks)] for group in GROUPS}
    unfolding.take(sum(sum(map(len, lists)) for lists in named.values()))
    groups = [_relations(lists, group, frame, thing, vocabulary, place, faults) for group, lists in named.items()]
    refuse(faults)
    columns = {"frame": frame, "object": thing, "visible": np.array([mark.visible for mark in marks], bool)}
    sets = pl.Series("set", _sets([mark.metadata for mark in marks]), dtype=pl.String)
    objects = pl.DataFrame(columns | dict(zip(BOX_COLUMNS, _corners(boxes).T, strict=True))).with_columns(sets)
    return FrameColumns.of(
        frames, dict(zip(MARKS, (_only_visible_boxes(objects, skipped), pl.concat(groups)), strict=True))
    )


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
    lists: Sequence[Sequence[str]],
    group: str,
    frame: NDArray[np.int64],
    thing: NDArray[np.int64],
    vocabulary: Vocabulary,
    place: Place,
    faults: list[Fault],
) -> pl.DataFrame:
    """Rows (frame, relation, object) of one group, given the relations of each object."""
    row = np.repeat(np.arange(len(lists)), np.fromiter(map(len, lists), np.int64, len(lists)))  # [relation] its object
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


def _sets(metadata: Sequence[Any]) -> list[str | None]:
    """[object] the split that its annotation names."""
    named = [own.get("set") if isinstance(own, dict) else None for own in metadata]
    return named if {*map(type, named)} <= {str, type(None)} else [n if isinstance(n, str) else None for n in named]


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


def read_people(frames: dict[str, Any], path: Path, skipped: Counter[str]) -> FrameColumns:
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
    persons = pl.DataFrame(columns).with_columns(pl.col("score").fill_nan(None))
    return FrameColumns.of(frames, dict(zip(PEOPLE, (persons, _sizes(found)), strict=True)))


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
