"""People's own videos and images as JSON <-> facts, with one line for everything that is wrong in a file."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import Fault
from questree.sources.assemble import BOX_COLUMNS, NO_BOX, OTHER_SUBJECT, SourceReading, Taking
from questree.sources.clock import clock_frames
from questree.sources.own_records import given
from questree.sources.scenes import SPLITS as IMAGE_SPLITS
from questree.sources.scenes import GqaObject, GqaPreposition, GqaRelation, GqaScene, SceneReading
from questree.tables.facts import SPLITS, Facts
from questree.tables.images import Images
from questree.tables.store import new_file
from questree.vocabulary.words import Vocabulary

Corners = tuple[float, float, float, float]  # x1, y1, x2, y2 in pixels


class OwnThing(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    name: str = msgspec.field(name="class")
    box: Corners | None = None
    visible: bool = True
    relations: list[str] = []  # of the person to this object


class OwnFrame(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    number: int
    seconds: float
    person: Corners | None = None
    person_score: float | None = None
    objects: list[OwnThing] = []
    # [relation, object] for objects that are not annotated themselves, or [subject, relation, object]
    relations: list[list[str]] = []


class OwnSpan(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    name: str = msgspec.field(name="class")
    start: float
    end: float
    subject: str = ""  # who does it; the person, if nobody is named


class OwnVideo(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    frames: list[OwnFrame] = []  # without any they are made from the clock
    split: str = ""
    length: float | None = None
    width: int | None = None
    height: int | None = None
    actions: list[OwnSpan] = []


class OwnVideos(msgspec.Struct, forbid_unknown_fields=True):
    videos: list[OwnVideo]


class OwnPreposition(GqaPreposition, forbid_unknown_fields=True):
    object: str  # its name goes with its relation: "pouring:_into"


class OwnRelation(GqaRelation, forbid_unknown_fields=True):
    object: str  # id of a thing of the same image
    prepositions: list[OwnPreposition] = msgspec.field(default_factory=list)  # type: ignore[assignment]


class ImageThing(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    name: str
    box: Corners | None = None
    attributes: list[str] = []
    relations: list[OwnRelation] = []


class Image(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    things: list[ImageThing]
    split: str = ""
    width: int | None = None
    height: int | None = None
    location: str | None = None


class Album(msgspec.Struct, forbid_unknown_fields=True):
    images: list[Image]


OTHER_SPELLING = "object that its frame has under another spelling, counted as that one"
SLACK = 1.0  # pixels a box may reach over the edge: other tools round
MOST_PIXELS, MOST_NUMBER = (1 << 16) - 1, (1 << 32) - 1  # what the columns of the tables hold


class OwnRows(Taking):
    """Rows and faults of all files so far."""

    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary)
        self.person = vocabulary.object_at[vocabulary.person]

    def video(self, video: OwnVideo, path: Path) -> None:
        place = f"{path}, video {video.id}"
        self.say(place, *_video_faults(video))
        if other := self.meet(video.id, path):
            self.say(place, also_in(video.id, other))
        at = self.add("videos", video.id, video.split, video.length, video.width, video.height)
        self.say(place, *_order_faults(video.frames))
        for frame in video.frames:
            self.frame(at, frame, video, f"{place}, frame {frame.number}")
        own = [span for span in video.actions if self.about_person(span.subject)]
        spans = [(span.start, span.end) for span in own if 0 <= span.start <= span.end]
        for moment in clock_frames(spans, video.length) if not video.frames else ():
            self.add("frames", at, *moment)
        for number, span in enumerate(video.actions, 1):
            self.action(at, span, video, f"{place}, action {number} ({span.name})")

    def frame(self, video: int, frame: OwnFrame, whole: OwnVideo, place: str) -> None:
        at = self.add("frames", video, frame.number, frame.seconds)
        if frame.person is not None:
            self.say(place, *(f"person: {fault}" for fault in _box_faults(frame.person, whole)))
            self.add("persons", at, *frame.person, frame.person_score)
        seen = dict[int | None, str]()
        for thing in frame.objects:
            kind = self.position("object", thing.name, place)
            again = kind is not None and kind in seen
            if again and seen[kind] == thing.name:
                self.say(place, f"two objects of class {thing.name}; the facts hold one per class and frame")
            self.skipped[OTHER_SPELLING] += again
            seen.setdefault(kind, thing.name)
            self.thing(at, kind, thing, whole, f"{place}, object {thing.name}", again)
        for fact in frame.relations:
            if not 2 <= len(fact) <= 3:
                self.say(place, f"relations: expected [relation, object] or [subject, relation, object], got {fact}")
                continue
            *subject, relation, name = fact
            if self.about_person(*subject):
                thing_at = self.position("object", name, place)
                self.add("relations", at, self.position("relation", relation, place), thing_at)
            else:
                self.skipped[OTHER_SUBJECT] += 1

    def about_person(self, subject: str = "") -> bool:
        """Questions are about one person; whoever else does something, or whatever else is somewhere, is left out."""
        return not subject or self.words["object"].get(subject) == self.person

    def thing(self, frame: int, kind: int | None, thing: OwnThing, whole: OwnVideo, place: str, again: bool) -> None:
        if thing.box is not None:
            self.say(place, *_box_faults(thing.box, whole))
            if not thing.visible:
                self.say(place, "has a box but is not visible; leave one of them out")
        if not again:
            self.add("objects", frame, kind, *(thing.box or NO_BOX), thing.visible)
        for relation in thing.relations:
            self.add("relations", frame, self.position("relation", relation, place), kind)

    def action(self, video: int, span: OwnSpan, whole: OwnVideo, place: str) -> None:
        if not self.about_person(span.subject):
            self.skipped["action of another than the person, left out"] += 1
            return
        if span.end < span.start:
            self.say(place, f"end {span.end:g} is before start {span.start:g}")
        if span.start < 0:
            self.say(place, f"start must not be negative, is {span.start:g}")
        self.skipped["action that ends after its video, kept"] += whole.length is not None and span.end > whole.length
        self.add("actions", video, self.position("action", span.name, place), span.start, span.end)


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


def also_in(_: str, file: str) -> str:
    return f"a video of this id is also in {file}"


def read_own_json(source: Path, vocabulary: Vocabulary, records: Iterable[Any] | None = None) -> SourceReading:
    """With any fault nothing is taken and all faults are raised."""
    taken = OwnRows(vocabulary)
    for video, path in given(source, OwnVideos, taken.faults, records):
        taken.video(video, path)
    return taken.reading(str(source))


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
            frames[video, at].relations.append([names[relation], vocabulary.objects[kind].name])
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


def read_own_images(source: Path, records: Iterable[Any] | None = None) -> tuple[Images, Counter[str]]:
    """The same of images, sorted by id, and what was odd about them."""
    reading = SceneReading()
    found = given(source, Album, reading.faults, records, loose_relations)
    for image, path in sorted(found, key=lambda each: each[0].id):
        _take(image, path, reading)
    return reading.done(), reading.skipped


def loose_relations(image: Any) -> Iterator[tuple[str, str]]:
    """Of an image that has not the right form: its relations to things that it does not list, by object."""
    things = image.get("things") if isinstance(image, dict) else None
    known = [thing for thing in things if isinstance(thing, dict)] if isinstance(things, list) else []
    ids = {str(thing.get("id")) for thing in known}
    for thing in known:
        relations = thing.get("relations")
        for relation in relations if isinstance(relations, list) else ():
            if isinstance(relation, dict) and str(relation.get("object")) not in ids and "object" in relation:
                name, target = relation.get("name"), relation["object"]
                yield f"object {thing.get('id')}", f"relation {name!r} to object {target}, which is not in this image"


def _take(image: Image, path: Path, reading: SceneReading) -> None:
    place = f"{path}, image {image.id}"
    objects = {thing.id: _object(thing) for thing in image.things}
    if not image.id.strip():
        reading.faults.append(Fault(place, "the id is empty"))
    if image.split and image.split not in IMAGE_SPLITS:
        known = ", ".join(IMAGE_SPLITS)
        reading.faults.append(Fault(place, f"expected a split, got {image.split!r}; choose from {known}, or none"))
    times = Counter(thing.id for thing in image.things)
    reading.faults += [Fault(place, f"thing id {name} is used twice") for name, n in times.items() if n > 1]
    scene = GqaScene(objects, image.width, image.height, image.location)
    reading.scene(image.id, scene, IMAGE_SPLITS.get(image.split, ""), str(path))


def _object(thing: ImageThing) -> GqaObject:
    """With its words in small letters."""
    made = GqaObject(thing.name.lower(), attributes=[word.lower() for word in thing.attributes])
    for relation in thing.relations:
        more = [GqaPreposition(each.name.lower(), each.object) for each in relation.prepositions]
        made.relations.append(GqaRelation(relation.name.lower(), relation.object, more))
    if thing.box is not None:
        x1, y1, x2, y2 = thing.box
        made.x, made.y, made.w, made.h = x1, y1, x2 - x1, y2 - y1
    return made
