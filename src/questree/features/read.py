"""Features of a run, taken by scope: a video, or a set of images one after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.features.files import read_shard
from questree.features.rows import OBJECTS, WHEN, StreamRows
from questree.tables.owners import present
from questree.tables.store import own_note
from questree.tables.table import Table

Float32s = NDArray[np.float32]
Bools = NDArray[np.bool_]
Ints = NDArray[Any]
Kept = Sequence[Sequence[int] | Ints | None]  # [row] the boxes it may show, None for all
NOTE = "features.json"
PLACES = Table("places", {"id": pl.String, "shard": pl.UInt32, "row": pl.UInt32, "boxes": pl.UInt32})


@dataclass(frozen=True)
class StreamShape:
    items: int  # most of a scope: frames, clips, objects
    width: int


def scope_key(scope: str | Sequence[str]) -> str:
    """The name of what a question is about: a video's id, or those of images in order."""
    return scope if isinstance(scope, str) else "\0".join(scope)


def features_folder(run: Path) -> Path:
    return run / "features"


def open_features(run: Path, name: str) -> "FeatureSet":
    """The features of a run that have this name."""
    folder = features_folder(run) / name
    if not (folder / NOTE).is_file():
        there = ", ".join(path.name for path in present(features_folder(run)) if (path / NOTE).is_file())
        known = f"; choose from {there}" if there else "; `questree features` makes some"
        raise BadInput.at(run, f"expected features of the run, got {name!r}{known}")
    return FeatureSet(folder)


class FeatureSet:
    """What models see of the scopes of a run; numbers are read when they are taken."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.note = own_note(folder / NOTE, "streams", "shards", "medium", "digest")
        self.streams = {name: StreamShape(**shape) for name, shape in self.note["streams"].items()}
        self._shards = dict[int, Mapping[str, StreamRows]]()

    @property
    def digest(self) -> str:
        """Of all numbers: other features, another digest."""
        return str(self.note["digest"])

    @property
    def detected(self) -> bool:
        """Are its objects those of a detector?"""
        return bool(self.note["made"]["detections"])

    @cached_property
    def _places(self) -> pl.DataFrame:
        return PLACES.read(self.folder)

    @cached_property
    def _at(self) -> dict[str, int]:
        """Id of a video or an image -> its place."""
        return {id: at for at, id in enumerate(self._places["id"].to_list())}

    @cached_property
    def _columns(self) -> dict[str, Ints]:
        return {name: self._places[name].to_numpy().astype(np.int64) for name in ("shard", "row", "boxes")}

    def take(
        self, scopes: Sequence[str], streams: Sequence[str], keep: Kept | None = None
    ) -> dict[str, tuple[Float32s, Bools]]:
        """Stream -> ([row, item, width], [row, item] is there an item?); of objects only so many items as needed.

        keep: [row] numbers of boxes, counted over the images of a scope; other objects are left out.
        """
        place, row = self._parts(scopes)
        return {name: self._stream(name, place, row, len(scopes), keep) for name in streams}

    def boxes(self, scopes: Sequence[str]) -> Ints:
        """[row, object] which of the scope's boxes it shows, counted over its images; -1 for none."""
        place, row = self._parts(scopes)
        part, _, number = self._rows(OBJECTS, place)
        own, item = row[part], _items(row[part])
        found = np.full((len(scopes), max(int(item.max(initial=-1)) + 1, 1)), -1)
        found[own, item] = self._counted(place, row, part, number)
        return found

    def _parts(self, scopes: Sequence[str]) -> tuple[Ints, Ints]:
        """(place, row) of every video or image of these scopes."""
        ids = [scope.split("\0") for scope in scopes]
        place = self._found([id for own in ids for id in own])
        return place, np.repeat(np.arange(len(ids)), [len(own) for own in ids])

    def _counted(self, place: Ints, row: Ints, part: Ints, number: Ints) -> Ints:
        """[item] the number of a box of a place, counted over all places of its scope."""
        boxes = self._columns["boxes"][place]
        before = np.cumsum(boxes) - boxes
        shift = before - before[np.searchsorted(row, row)]  # [part] boxes of the images before it
        return np.where(number < 0, -1, number + shift[part])

    def _found(self, ids: Sequence[str]) -> Ints:
        try:
            return np.array([self._at[id] for id in ids], np.int64)
        except KeyError as missing:
            raise BadInput.at(self.folder, f"expected features of {missing.args[0]!r}, got none") from missing

    def _stream(self, name: str, place: Ints, row: Ints, rows: int, keep: Kept | None) -> tuple[Float32s, Bools]:
        """place, row: a scope's videos or images, and whose they are, ascending."""
        shape = self.streams[name]
        part, values, number = self._rows(name, place)
        own = row[part]
        if name == OBJECTS:
            nth = np.arange(len(row)) - np.searchsorted(row, row)  # [part] which image of the set
            if self.note["medium"] == "images":
                values[:, WHEN] = nth[part] / np.maximum(np.bincount(row, minlength=rows)[own] - 1, 1)
            if keep is not None:
                held = _kept(own, self._counted(place, row, part, number), keep)
                own, values = own[held], values[held]
        item = _items(own)
        most = shape.items if name != OBJECTS else int(item.max(initial=-1)) + 1
        found, there = np.zeros((rows, max(most, 1), shape.width), np.float32), np.zeros((rows, max(most, 1)), bool)
        found[own, item], there[own, item] = values, True
        return found, there

    def _rows(self, name: str, place: Ints) -> tuple[Ints, Float32s, Ints]:
        """(part, values, number) of every row of these places, in their order; part: position in `place`."""
        shard, row = self._columns["shard"][place], self._columns["row"][place]
        found = []
        for at in np.unique(shard).tolist():
            part = np.flatnonzero(shard == at)
            own = self._shard(at)[name].of(row[part])
            found.append((np.repeat(part, np.diff(own.start)), own.values, own.number))
        part, values, number = (np.concatenate(each) for each in zip(*found, strict=True))
        order = np.argsort(part, kind="stable")
        return part[order], values[order], number[order]

    def _shard(self, at: int) -> Mapping[str, StreamRows]:
        if at not in self._shards:
            name = self.note["shards"][at]
            self._shards[at] = read_shard(self.folder / name, int(np.sum(self._columns["shard"] == at)))
        return self._shards[at]


def _items(row: Ints) -> Ints:
    """[item] how many of its row come before it; row: ascending."""
    return np.asarray(np.arange(len(row)) - np.searchsorted(row, row))


def _kept(row: Ints, number: Ints, keep: Kept) -> Ints:
    """[item] may it be shown?"""
    every = np.array([own is None for own in keep], bool)
    size = int(max([number.max(initial=0), *(max(own, default=0) for own in keep if own is not None)])) + 1
    listed = [(at, box) for at, own in enumerate(keep) if own is not None for box in own]
    wanted = np.array([at * size + box for at, box in listed], np.int64)
    return every[row] | ((number >= 0) & np.isin(row * size + number, wanted))
