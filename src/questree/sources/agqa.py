"""AGQA's released scene graphs -> facts: vertices are read by what their id says, links are never followed far."""

import gc
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

import polars as pl

from questree.faults import BadInput
from questree.progress import watch
from questree.sources.assemble import COLUMNS, NO_BOX, SourceReading, Taking, unknown
from questree.sources.pickles import Unfolding, collector_paused, read_pickle
from questree.sources.shared_videos import PiecedReading, Sharing, read_parts
from questree.vocabulary.words import Vocabulary

FILES = {"train": "AGQA_train_stsgs.pkl", "test": "AGQA_test_stsgs.pkl"}
VERTEX = re.compile(r"(?P<frame>\d{1,9})$|(?:(?P<action>c)|(?P<object>[oh])|(?P<relation>[rv]))\d+/\d+$")
GROUPS = ("attention", "contact", "spatial", "verb")  # lists of an object's relations
Box = tuple[float | None, float | None, float | None, float | None]
FRAMED = {
    **COLUMNS,
    "actions": {**COLUMNS["actions"], "first_frame": pl.Int64, "last_frame": pl.Int64},
}  # actions name their frames
IN_BOTH = "is in both files"


class ReleasedGraphs(Taking):
    """Vertices as they come; `frame_at` is of the video that is being read: the name of a frame -> its row."""

    columns = FRAMED
    frame_at: dict[str, int]
    place: str
    unfolding: Unfolding

    def file(self, path: Path, split: str) -> None:
        content, self.unfolding = read_pickle(path), Unfolding(path)
        if not isinstance(content, dict):
            raise BadInput.at(path, f"expected a dictionary of videos, got {type(content).__name__}")
        for video, vertices in watch(content.items(), f"taking in {path.name}", len(content)):
            self.place, self.frame_at = f"{path}, video {video}", {}
            if not isinstance(vertices, dict) or not isinstance(video, str):
                self.say(self.place, "expected a dictionary of vertices")
            elif self.meet(video, path):
                self.say(self.place, IN_BOTH)
            else:
                self.video(video, split, vertices)

    def video(self, video: str, split: str, vertices: dict[Any, Any]) -> None:
        at = self.add("videos", video, split, None, None, None)
        kinds: dict[str, list[tuple[str, dict[str, Any]]]] = {"frame": [], "object": [], "relation": [], "action": []}
        for name, vertex in vertices.items():
            match = VERTEX.match(name) if isinstance(name, str) else None
            if match is None or not isinstance(vertex, dict):
                wanted = "expected a dictionary under an id like 000105, o4/000105, r22/000105, c076/1"
                self.fault(name, f"not a vertex: {wanted}")
            else:
                kinds[str(match.lastgroup)].append((name, vertex))
        for name, vertex in kinds["frame"]:
            self.frame(at, name, vertex)
        other = {_split(vertex) for _, vertex in kinds["frame"]} - {split, None}
        self.skipped["video whose frames name another split than its file"] += bool(other)
        for name, vertex in kinds["object"]:
            self.object(name, vertex)
        for name, vertex in kinds["relation"]:
            self.relation(name, vertex)
        for name, vertex in kinds["action"]:
            self.action(at, name, vertex)

    def frame(self, video: int, name: str, vertex: dict[str, Any]) -> None:
        seconds = vertex.get("secs")
        if _finite(seconds):
            self.frame_at[name] = self.add("frames", video, int(name), float(seconds))
        else:
            self.fault(name, f"secs must be a number, is {seconds!r:.40}")

    def object(self, name: str, vertex: dict[str, Any]) -> None:
        kind, frame, box = self.own_class("object", name), self.frame_row(name.split("/")[1]), _box(vertex.get("bbox"))
        if box is None:
            self.fault(name, f"bbox must be (x, y, width, height) or None, is {vertex.get('bbox')!r:.60}")
        if kind is None or frame is None or box is None:
            return
        visible = vertex.get("visible") is not False
        self.add("objects", frame, kind, *(box if visible else NO_BOX), visible)
        for group in GROUPS:
            for relation in self.classes("relation", name, vertex.get(group)):
                self.add("relations", frame, relation, kind)

    def relation(self, name: str, vertex: dict[str, Any]) -> None:
        kind, frame = self.own_class("relation", name), self.frame_row(name.split("/")[1])
        if kind is not None and frame is not None:
            for thing in self.classes("object", name, vertex.get("objects")):
                self.add("relations", frame, kind, thing)

    def action(self, video: int, name: str, vertex: dict[str, Any]) -> None:
        kind, start, end = self.own_class("action", name), vertex.get("start"), vertex.get("end")
        if not _finite(start) or not _finite(end):
            self.fault(name, f"start and end must be seconds, are {start!r:.40} and {end!r:.40}")
        elif end < start:
            self.skipped["action that ends before it starts, left out"] += 1
        elif kind is not None:
            rows = [self.frame_row(frame) for frame in self.names(vertex.get("all_f"))]
            frames = sorted((self.tables["frames"][row][1], row) for row in rows if row is not None)
            ends = (frames[0][1], frames[-1][1]) if frames else (None, None)
            self.add("actions", video, kind, float(start), float(end), *ends)

    def own_class(self, kind: str, name: str) -> int | None:
        """The class is in the id; a class field would say the same."""
        return self.position(kind, name.split("/")[0], f"{self.place}, vertex {name}")

    def classes(self, kind: str, name: str, value: Any) -> Iterator[int]:
        for each in self.names(value):
            found = self.words[kind].get(each.split("/")[0])
            if found is None:
                self.fault(name, unknown(kind, each, self.vocabulary))
            else:
                yield found

    def names(self, value: Any) -> Iterator[str]:
        for name in _names(value):
            self.unfolding.take(1)
            yield name

    def frame_row(self, frame: str) -> int | None:
        row = self.frame_at.get(frame)
        self.skipped["mention of a frame that is not there, left out"] += row is None
        return row

    def fault(self, name: Any, message: str) -> None:
        self.say(f"{self.place}, vertex {name}", message)


@dataclass(frozen=True)
class GraphFile:
    """The scene graphs of a split."""

    path: Path
    split: str

    @property
    def name(self) -> str:
        return self.path.name

    def take(self, vocabulary: Vocabulary) -> ReleasedGraphs:
        graphs = ReleasedGraphs(vocabulary)
        self.into(graphs)
        return graphs

    def into(self, graphs: ReleasedGraphs) -> None:
        gc.freeze()  # what was there before need not be looked at
        try:
            with collector_paused():
                graphs.file(self.path, self.split)
            gc.collect()  # cyclic links: only the collector frees a graph, and the next file needs the room
        finally:
            gc.unfreeze()


def read_agqa(folder: Path, vocabulary: Vocabulary) -> SourceReading:
    graphs = ReleasedGraphs(vocabulary)
    for split, path in _files(folder).items():
        GraphFile(path, split).into(graphs)
    return graphs.reading(str(folder))


def share_agqa(folder: Path, vocabulary: Vocabulary, sharing: Sharing) -> PiecedReading:
    """The same, a file at a time."""
    parts = [GraphFile(path, split) for split, path in _files(folder).items()]
    return read_parts(sharing, folder, vocabulary, parts, lambda *_: IN_BOTH)


def _files(folder: Path) -> dict[str, Path]:
    if not folder.is_dir():
        raise BadInput.at(folder, f"no such folder; expected one with {' or '.join(FILES.values())}")
    found = {split: folder / name for split, name in FILES.items() if (folder / name).is_file()}
    if not found:
        raise BadInput.at(folder, f"no scene graphs here; expected {' or '.join(FILES.values())}")
    return found


def _names(value: Any) -> Iterator[str]:
    """Ids in any shape the files use: ids or vertices in a list, {"names": [...]}, {"vertices": [...]}, or just one."""
    if isinstance(value, dict) and "id" not in value:
        value = value.get("names", value.get("vertices", value.get("class")))
    several = isinstance(value, list | tuple | set | frozenset)
    for each in value if several else [value]:
        name = each.get("id", each.get("class")) if isinstance(each, dict) else each
        if isinstance(name, str):
            yield name


def _finite(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and math.isfinite(value)


def _box(value: Any) -> Box | None:
    """x, y, width, height as Action Genome gives them -> corners; None if it is something else."""
    if value is None:
        return NO_BOX
    if not isinstance(value, list | tuple) or len(value) != 4 or not all(map(_finite, value)):
        return None
    x, y, width, height = map(float, value)
    return x, y, x + width, y + height


def _split(vertex: dict[str, Any]) -> str | None:
    said = vertex.get("metadata", vertex.get("split"))
    said = said.get("set") if isinstance(said, dict) else said
    return said if isinstance(said, str) else None
