"""People's own videos as JSON <-> facts, with one line for everything that cannot be true."""

from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.sources.assemble import BOX_COLUMNS, SourceReading, SourceRows, assemble
from questree.sources.classes import known, unknown
from questree.sources.own_schema import Corners, OwnFrame, OwnSpan, OwnThing, OwnVideo, OwnVideos, decode
from questree.tables.facts import SPLITS, Facts
from questree.tables.store import new_file
from questree.vocabulary.words import Vocabulary

SLACK = 1.0  # pixels a box may reach over the edge: other tools round
MOST_PIXELS, MOST_NUMBER = (1 << 16) - 1, (1 << 32) - 1  # what the columns of the tables hold
NO_BOX = (None, None, None, None)


@dataclass
class Taken:
    """Rows and faults of all files so far."""

    vocabulary: Vocabulary
    tables: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)  # as `Rows.of` wants them
    file_of: dict[str, Path] = field(default_factory=dict)  # video id -> file
    faults: list[Fault] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.words = {kind: known(self.vocabulary, kind) for kind in ("object", "relation", "action")}
        self.tables = {name: [] for name in ("videos", "frames", "objects", "persons", "relations", "actions")}

    def rows(self) -> SourceRows:
        return SourceRows.of(self.skipped, **self.tables)

    def video(self, video: OwnVideo, path: Path) -> None:
        place = f"{path}, video {video.id}"
        self.say(place, _video_faults(video))
        if video.id in self.file_of:
            self.say(place, [f"a video of this id is also in {self.file_of[video.id]}"])
        self.file_of[video.id] = path
        at = len(self.tables["videos"])
        self.tables["videos"].append((video.id, video.split, video.length, video.width, video.height))
        self.say(place, _order_faults(video.frames))
        for frame in video.frames:
            self.frame(at, frame, video, f"{place}, frame {frame.number}")
        for number, span in enumerate(video.actions, 1):
            self.action(at, span, video, f"{place}, action {number} ({span.name})")

    def frame(self, video: int, frame: OwnFrame, whole: OwnVideo, place: str) -> None:
        at = len(self.tables["frames"])
        self.tables["frames"].append((video, frame.number, frame.seconds))
        if frame.person is not None:
            self.say(place, (f"person: {fault}" for fault in _box_faults(frame.person, whole)))
            self.tables["persons"].append((at, *frame.person, frame.person_score))
        seen: set[int | None] = set()
        for thing in frame.objects:
            kind = self.position("object", thing.name, place)
            if kind is not None and kind in seen:
                self.say(place, [f"two objects of class {thing.name}; the facts hold one per class and frame"])
            seen.add(kind)
            self.thing(at, kind, thing, whole, f"{place}, object {thing.name}")
        for relation, name in frame.relations:
            self.relation(at, relation, self.position("object", name, place), place)

    def thing(self, frame: int, kind: int | None, thing: OwnThing, whole: OwnVideo, place: str) -> None:
        if thing.box is not None:
            self.say(place, _box_faults(thing.box, whole))
            if not thing.visible:
                self.say(place, ["has a box but is not visible; leave one of them out"])
        self.tables["objects"].append((frame, kind, *(thing.box or NO_BOX), thing.visible))
        for relation in thing.relations:
            self.relation(frame, relation, kind, place)

    def relation(self, frame: int, name: str, thing: int | None, place: str) -> None:
        self.tables["relations"].append((frame, self.position("relation", name, place), thing))

    def action(self, video: int, span: OwnSpan, whole: OwnVideo, place: str) -> None:
        if span.end < span.start:
            self.say(place, [f"end {span.end:g} is before start {span.start:g}"])
        if span.start < 0:
            self.say(place, [f"start must not be negative, is {span.start:g}"])
        self.skipped["action that ends after its video, kept"] += whole.length is not None and span.end > whole.length
        self.tables["actions"].append((video, self.position("action", span.name, place), span.start, span.end))

    def position(self, kind: str, name: str, place: str) -> int | None:
        at = self.words[kind].get(name)
        if at is None:
            self.say(place, [unknown(kind, name, self.vocabulary)])
        return at

    def say(self, place: str, messages: Any) -> None:
        self.faults += [Fault(place, message) for message in messages]


def _video_faults(video: OwnVideo) -> Iterator[str]:
    if not video.id:
        yield "id is empty"
    if video.split not in SPLITS:
        yield f"unknown split {video.split!r}; known: {', '.join(filter(None, SPLITS))}, or none"
    if video.length is not None and video.length <= 0:
        yield f"length must be positive, is {video.length:g}"
    for side in ("width", "height"):
        pixels = getattr(video, side)
        if pixels is not None and not 0 < pixels <= MOST_PIXELS:
            yield f"{side} must be 1 to {MOST_PIXELS} pixels, is {pixels}"


def _order_faults(frames: list[OwnFrame]) -> Iterator[str]:
    """Numbers are unique, and later frames have later seconds."""
    for number, times in Counter(frame.number for frame in frames).items():
        if times > 1:
            yield f"frame {number} is there {times} times"
        if not 0 <= number <= MOST_NUMBER:
            yield f"frame {number}: a number is 0 to {MOST_NUMBER}"
    ordered = sorted(frames, key=lambda frame: frame.number)
    for before, after in pairwise(ordered):
        if before.number < after.number and not before.seconds < after.seconds:
            early, late = (f"frame {each.number} ({each.seconds:g} s)" for each in (before, after))
            yield f"{late} has a higher number than {early} and must be later"
    if ordered and ordered[0].seconds < 0:
        yield f"frame {ordered[0].number}: seconds must not be negative, are {ordered[0].seconds:g}"


def _box_faults(box: Corners, video: OwnVideo) -> Iterator[str]:
    x1, y1, x2, y2 = box
    if x2 < x1 or y2 < y1:
        yield f"box {list(box)} is not [x1, y1, x2, y2] with x1 <= x2 and y1 <= y2"
    width, height = video.width or float("inf"), video.height or float("inf")
    if min(x1, y1) < -SLACK or x2 > width + SLACK or y2 > height + SLACK:
        yield f"box {list(box)} is outside the frame of {video.width or '?'} x {video.height or '?'} pixels"


def read_own_json(source: Path, vocabulary: Vocabulary) -> SourceReading:
    """A file or all JSON files of a folder; with any fault nothing is taken and all faults are raised."""
    taken = Taken(vocabulary)
    for path in own_files(source):
        try:
            data = path.read_bytes().removeprefix(BOM_UTF8)
        except OSError as error:
            taken.faults.append(Fault(str(path), f"cannot be read ({error.strerror})"))
            continue
        videos = decode(data, path, taken.faults)
        for video in watch(videos, f"taking in {path.name}", len(videos)):
            taken.video(video, path)
    refuse(taken.faults)
    return assemble(taken.rows(), vocabulary, str(source))


def read_records(records: Iterable[Any], vocabulary: Vocabulary, source: Path) -> SourceReading:
    """Videos that a plugin's source yields, each a record as one in a JSON file is."""
    taken = Taken(vocabulary)
    data = msgspec.json.encode({"videos": list(records)})
    for video in decode(data, source, taken.faults):
        taken.video(video, source)
    refuse(taken.faults)
    return assemble(taken.rows(), vocabulary, str(source))


def own_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise BadInput.at(source, "no such file or folder")
    found = sorted(source.glob("*.json"))
    if not found:
        raise BadInput.at(source, "no JSON file in this folder")
    return found


def write(facts: Facts, vocabulary: Vocabulary, path: Path) -> None:
    """The facts as a file that `questree ingest json` reads; presence comes from visible objects again."""
    frames = _frames(facts, vocabulary)
    videos = [
        OwnVideo(id, [], split, length, width, height) for id, split, length, width, height in facts.videos.iter_rows()
    ]
    for (video, _), frame in frames.items():
        videos[video].frames.append(frame)
    for video, action, start, end in facts.actions.select("video", "action", "start", "end").iter_rows():
        videos[video].actions.append(OwnSpan(vocabulary.actions[action].id, start, end))
    with new_file(path) as work:
        work.write_bytes(msgspec.json.format(msgspec.json.encode(OwnVideos(videos)), indent=1) + b"\n")


def _frames(facts: Facts, vocabulary: Vocabulary) -> dict[tuple[int, int], OwnFrame]:
    """(video, position) -> frame with everything in it."""
    frames = {(video, at): OwnFrame(number, seconds) for video, at, number, seconds in facts.frames.iter_rows()}
    things: dict[tuple[int, int, int], OwnThing] = {}
    for video, at, kind, *box, visible in _short(facts.objects).iter_rows():
        thing = OwnThing(vocabulary.objects[kind].name, None if box[0] is None else tuple(box), visible)
        things[video, at, kind] = thing
        frames[video, at].objects.append(thing)
    for video, at, *box, score in _short(facts.persons).iter_rows():
        frames[video, at].person, frames[video, at].person_score = tuple(box), score
    names = _relation_names(vocabulary)
    for video, at, relation, kind in facts.relations.iter_rows():
        own = things.get((video, at, kind))
        if names[relation] and own:
            own.relations.append(names[relation])
        elif names[relation]:
            frames[video, at].relations.append((names[relation], vocabulary.objects[kind].name))
    return frames


def _short(table: pl.DataFrame) -> pl.DataFrame:
    """Single precision numbers with the digits they need, not with those of double precision."""
    single = [name for name in (*BOX_COLUMNS, "score") if name in table.columns]
    return table.with_columns(pl.col(single).cast(pl.String).cast(pl.Float64))


def _relation_names(vocabulary: Vocabulary) -> list[str]:
    """The name where it is unique, else the id; "" for derived relations, which are not written."""
    at = vocabulary.relation_at
    return [
        "" if word.group == "derived" else word.name if at[word.name] == position else word.id
        for position, word in enumerate(vocabulary.relations)
    ]
