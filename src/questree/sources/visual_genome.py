"""Visual Genome -> scenes: objects, relationships and attributes of one file, or joined from its separate files."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from questree.faults import BadInput, Fault
from questree.progress import watch
from questree.sources.scenes import SPLITS, GqaObject, GqaRelation, GqaScene, Number, SceneReading, tidied
from questree.tables.images import Images
from questree.tables.store import read_json

ALREADY_SAID = ("is", "are", "was", "were")  # "is on" is "on"
ARTICLES = ("a", "an", "the")  # "on a" is "on": its object brings its own


class GenomeObject(Struct):
    object_id: int | str
    names: list[str]
    x: Number | None = None
    y: Number | None = None
    w: Number | None = None
    h: Number | None = None
    attributes: list[str] = []
    merged_object_ids: list[int | str] = []  # other ids of the same thing


class GenomeRelation(Struct):
    predicate: str
    subject_id: int | str
    object_id: int | str


class GenomeScene(Struct):
    image_id: int | str
    objects: list[GenomeObject]
    relationships: list[GenomeRelation] = []
    width: int | None = None
    height: int | None = None


@cache
def spoken(words: str) -> str:
    """A name or an attribute in small letters."""
    return tidied(words.lower())


@cache
def predicate(words: str) -> str:
    """In small letters, without a verb that is said anyway and without the article of its object."""
    said = spoken(words).split()
    while len(said) > 1 and said[0] in ALREADY_SAID:
        said = said[1:]
    while len(said) > 1 and said[-1] in ARTICLES:
        said = said[:-1]
    return " ".join(said)


def thing(each: GenomeObject, attributes: Sequence[str] = ()) -> GqaObject:
    said = [spoken(word) for word in (*each.attributes, *attributes)]
    return GqaObject(spoken(next(iter(each.names), "")), each.x, each.y, each.w, each.h, said)


def genome_scene(record: GenomeScene, place: str) -> tuple[str, GqaScene, list[Fault]]:
    """A record of the single file: image id, scene, what is wrong with it."""
    image, objects, faults = str(record.image_id), dict[str, GqaObject](), list[Fault]()
    for each in record.objects:
        key = str(each.object_id)
        if key in objects:
            faults.append(Fault(f"{place}, image {image}", f"object id {key} is used twice"))
        objects[key] = thing(each)
    for relation in record.relationships:
        subject, name = str(relation.subject_id), predicate(relation.predicate)
        if subject not in objects:
            faults.append(
                Fault(f"{place}, image {image}", f"relation {name!r} of object {subject}, which is not there")
            )
        else:
            objects[subject].relations.append(GqaRelation(name, str(relation.object_id)))
    return image, GqaScene(objects, record.width, record.height), faults


class Mention(GenomeObject):
    """A thing as relationships.json and attributes.json name it again."""

    names: list[str] = []
    name: str = ""


class Relationship(Struct):
    predicate: str = ""
    subject: Mention | None = None
    object: Mention | None = None
    subject_id: int | str | None = None  # instead of the subject, as scene graphs have it
    object_id: int | str | None = None

    @property
    def ends(self) -> list[Mention | None]:
        given = ((self.subject, self.subject_id), (self.object, self.object_id))
        return [end if end or key is None else Mention(key, []) for end, key in given]


class Objects(Struct):
    image_id: int | str
    objects: list[GenomeObject] = []


class Relationships(Struct):
    image_id: int | str
    relationships: list[Relationship] = []


class Attributes(Struct):
    image_id: int | str
    attributes: list[Mention] = []


class ImageData(Struct):
    image_id: int | str
    width: int | None = None
    height: int | None = None
    split: str = ""


Record = TypeVar("Record", Objects, Relationships, Attributes, ImageData)
OBJECTS, RELATIONSHIPS, ATTRIBUTES, IMAGE_DATA = ("objects", "relationships", "attributes", "image_data")
MEMBERS = "object_id, names, x, y, w, h"
UNNAMED = "things without a name, left out"
TAKEN_IN = f"things that only {RELATIONSHIPS}.json or {ATTRIBUTES}.json names, taken in"
LOOSE = "relations and attributes of things that are nowhere named, left out"
NAMELESS = "relations without a name, left out"
TWICE = "things listed twice, left out"


def read_visual_genome(folder: Path) -> tuple[Images, Counter[str]]:
    """The images of a folder with the separate files, and what was left out or odd."""
    if not folder.is_dir():
        raise BadInput.at(folder, f"expected a folder with {OBJECTS}.json, got none of this name")
    objects = _records(folder, OBJECTS, Objects, f"[{{image_id, objects: [{{{MEMBERS}}}]}}]")
    there = [path for path in (folder / f"{OBJECTS}{ending}" for ending in (".json", ".json.gz")) if path.is_file()]
    if there and not objects:
        wanted = f"[{{image_id, objects: [{{{MEMBERS}}}]}}]"
        raise BadInput.at(there[0], f"expected images with their objects, {wanted}, got an empty list")
    if not objects:
        found = ", ".join(sorted(path.name for path in folder.iterdir())) or "nothing"
        raise BadInput.at(folder, f"expected {OBJECTS}.json, {RELATIONSHIPS}.json, {ATTRIBUTES}.json, got {found}")
    shape = "[{image_id, relationships: [{predicate, subject: {object_id}, object: {object_id}}]}]"
    links = _records(folder, RELATIONSHIPS, Relationships, shape)
    said = _records(folder, ATTRIBUTES, Attributes, "[{image_id, attributes: [{object_id, attributes}]}]")
    sizes = _records(folder, IMAGE_DATA, ImageData, "[{image_id, width, height}]")
    reading = SceneReading()
    images = sorted({*objects, *links, *said})
    for image in watch(images, f"joining {OBJECTS} and {RELATIONSHIPS}", len(images)):
        scene = _Joined(reading.skipped)
        scene.objects_of(one for record in objects.get(image, ()) for one in record.objects)
        scene.relations_of(one for record in links.get(image, ()) for one in record.relationships)
        scene.attributes_of(one for record in said.get(image, ()) for one in record.attributes)
        size = next(iter(sizes.get(image, ())), ImageData(image))
        made = GqaScene(scene.objects, size.width, size.height)
        reading.scene(image, made, SPLITS.get(size.split, ""), str(folder / f"{OBJECTS}.json"))
    return reading.done(), reading.skipped


def _records(folder: Path, name: str, kind: type[Record], shape: str) -> dict[str, list[Record]]:
    """Image id -> its records; none if there is no such file."""
    found: dict[str, list[Record]] = {}
    for path in (folder / f"{name}{ending}" for ending in (".json", ".json.gz")):
        if path.is_file() and not found:
            wanted: Any = list[kind]  # type: ignore[valid-type]
            for record in read_json(path, wanted, shape):
                found.setdefault(str(record.image_id), []).append(record)
    return found


@dataclass
class _Joined:
    """One image, put together."""

    skipped: Counter[str]
    objects: dict[str, GqaObject] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)  # another id of a thing -> its id

    def objects_of(self, given: Iterator[GenomeObject]) -> None:
        for each in given:
            key, made = str(each.object_id), thing(each)
            if not made.name or key in self.objects:
                self.skipped[TWICE if key in self.objects else UNNAMED] += 1
                continue
            self.objects[key] = made
            self.same |= {str(other): key for other in each.merged_object_ids}

    def relations_of(self, given: Iterator[Relationship]) -> None:
        for each in given:
            name, ends = predicate(each.predicate), [self.known(end) for end in each.ends]
            subject, target = ends
            if subject is None or target is None or not name:
                self.skipped[LOOSE if name else NAMELESS] += 1
                continue
            related = self.objects[subject].relations
            if not any(one.name == name and one.object == target for one in related):
                related.append(GqaRelation(name, target))

    def attributes_of(self, given: Iterator[Mention]) -> None:
        for each in given:
            said = [word for word in map(spoken, each.attributes) if word]
            key = self.known(each)
            if key is None:
                self.skipped[LOOSE] += len(said)
            else:
                self.objects[key].attributes += said

    def known(self, mention: Mention | None) -> str | None:
        """The id of the thing, which is taken in if only this file names it."""
        if mention is None:
            return None
        key = self.same.get(str(mention.object_id), str(mention.object_id))
        if key not in self.objects:
            names = mention.names or [mention.name]
            if not spoken(names[0]):
                return None
            box = mention.x, mention.y, mention.w, mention.h
            self.objects[key] = GqaObject(spoken(names[0]), *(box if None not in box else (None,) * 4))
            self.skipped[TAKEN_IN] += 1
        return key
