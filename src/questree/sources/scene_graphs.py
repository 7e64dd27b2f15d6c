"""Three shapes of scene-graph JSON (GQA, Visual Genome, labelled boxes) -> one record per image, faults collected."""

import json
from typing import Any

import msgspec
from msgspec import Raw, Struct

from questree.faults import Fault

Number = int | float


class GqaPreposition(Struct):
    name: str
    object: str | int


class GqaRelation(Struct):
    name: str
    object: str | int
    prepositions: list[GqaPreposition] = []


class GqaObject(Struct):
    name: str
    x: Number | None = None
    y: Number | None = None
    w: Number | None = None
    h: Number | None = None
    attributes: list[str] = []
    relations: list[GqaRelation] = []


class GqaScene(Struct):
    """One image as GQA writes it; the other shapes are turned into it."""

    objects: dict[str, GqaObject]
    width: int | None = None
    height: int | None = None
    location: str | None = None


class SceneOfRaw(Struct):  # the same, its objects still to be read one by one
    objects: dict[str, Raw]


class GenomeObject(Struct):
    object_id: int | str
    names: list[str]
    x: Number | None = None
    y: Number | None = None
    w: Number | None = None
    h: Number | None = None
    attributes: list[str] = []


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


class GqaBoxes(Struct):  # parallel lists; a relation names positions in them
    bboxes: list[tuple[Number, Number, Number, Number]]  # x1, y1, x2, y2
    labels: list[str]
    attributes: list[list[str]] = []
    relations: list[tuple[int, str, int]] = []
    width: int | None = None
    height: int | None = None


class LabelledBoxes(Struct):
    data_path: str
    annotation: GqaBoxes


Read = tuple[str, GqaScene | None, list[Fault]]  # image id, its scene if it could be read, what is wrong with it
SHAPES = "{image: {objects}} (GQA), [{image_id, objects}] (Visual Genome) or [{data_path, annotation}] (labelled boxes)"


def records(data: bytes) -> list[tuple[str | int, Raw]]:
    """The records of a file, by image id (GQA) or position; raises msgspec.DecodeError if there are none."""
    if data.lstrip()[:1] == b"[":
        return list(enumerate(msgspec.json.decode(data, type=list[Raw])))
    return list(msgspec.json.decode(data, type=dict[str, Raw]).items())


def read(key: str | int, raw: Raw, file: str) -> Read:
    place = f"{file}, image {key}" if isinstance(key, str) else f"{file}, record {key}"
    try:
        return _gqa(raw, key, place) if isinstance(key, str) else _listed(raw, place)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:  # strings are decoded only here
        return str(key), None, [Fault(place, _reason(error))]


def _gqa(raw: Raw, image: str, place: str) -> Read:
    try:
        return image, msgspec.json.decode(raw, type=GqaScene), []
    except msgspec.ValidationError as error:
        objects, faults = _objects(raw, place)
        return image, GqaScene(objects), faults or [Fault(place, _reason(error))]


def _objects(raw: Raw, place: str) -> tuple[dict[str, GqaObject], list[Fault]]:
    """Object by object, because the error of a whole scene does not say which; what does not read gets a stand-in."""
    objects, faults = dict[str, GqaObject](), list[Fault]()
    try:
        each_raw = msgspec.json.decode(raw, type=SceneOfRaw).objects
    except msgspec.ValidationError:
        return objects, faults
    for key, each in each_raw.items():
        try:
            objects[key] = msgspec.json.decode(each, type=GqaObject)
        except msgspec.ValidationError as error:
            objects[key] = GqaObject("?")
            faults.append(Fault(f"{place}, object {key}", _reason(error)))
    return objects, faults


def _reason(error: Exception) -> str:
    """'Object missing required field `name`' said in our words, with the path inside the record."""
    return str(error).replace("Object missing required field", "missing").replace(" - at `$", " at `")


def _listed(raw: Raw, place: str) -> Read:
    """A record of a list: labelled boxes if it has a data_path, else Visual Genome."""
    if "data_path" in msgspec.json.decode(raw, type=dict[str, Raw]):
        return _labelled(msgspec.json.decode(raw, type=LabelledBoxes), place)
    return _genome(msgspec.json.decode(raw, type=GenomeScene), place)


def _labelled(record: LabelledBoxes, place: str) -> Read:
    boxes, image = record.annotation, record.data_path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    lengths = {len(boxes.bboxes), len(boxes.labels), len(boxes.attributes or boxes.labels)}
    if len(lengths) > 1:
        return image, None, [Fault(place, f"bboxes, labels and attributes differ in length: {sorted(lengths)}")]
    attributes = boxes.attributes or [[] for _ in boxes.labels]
    objects = [
        GqaObject(label, x1, y1, x2 - x1, y2 - y1, given)
        for label, (x1, y1, x2, y2), given in zip(boxes.labels, boxes.bboxes, attributes, strict=True)
    ]
    faults = []
    for subject, name, target in boxes.relations:
        if not 0 <= subject < len(objects):
            faults.append(Fault(place, f"relation {name!r} of box {subject}, but there are {len(objects)} boxes"))
        else:
            objects[subject].relations.append(GqaRelation(name, f"{image}_{target}"))
    scene = GqaScene({f"{image}_{i}": each for i, each in enumerate(objects)}, boxes.width, boxes.height)
    return image, scene, faults


def _genome(record: GenomeScene, place: str) -> Read:
    image, objects, faults = str(record.image_id), dict[str, GqaObject](), list[Fault]()
    for each in record.objects:
        key, name = str(each.object_id), next(iter(each.names), "").strip().lower()
        if key in objects:
            faults.append(Fault(f"{place}, image {image}", f"object id {key} is used twice"))
        objects[key] = GqaObject(name, each.x, each.y, each.w, each.h, [a.strip().lower() for a in each.attributes])
    for relation in record.relationships:
        subject, name = str(relation.subject_id), relation.predicate.strip().lower()
        if subject not in objects:
            faults.append(
                Fault(f"{place}, image {image}", f"relation {name!r} of object {subject}, which is not there")
            )
        else:
            objects[subject].relations.append(GqaRelation(name, str(relation.object_id)))
    return image, GqaScene(objects, record.width, record.height), faults


class _Repeats(dict[str, Any]):
    """A JSON object in which some keys came more than once."""

    keys_repeated: list[str]


def repeated_keys(data: bytes, place: str) -> list[Fault]:
    """Ids that a GQA file uses twice. A decoder keeps only the last, so a slow reader searches for them."""

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        repeats, seen = _Repeats(found), set[str]()
        repeats.keys_repeated = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
        return repeats

    whole = json.loads(data, object_pairs_hook=collect)
    faults = [Fault(place, f"image id {key} is used twice") for key in getattr(whole, "keys_repeated", ())]
    for image, scene in whole.items():
        repeated = getattr(scene.get("objects"), "keys_repeated", ())
        faults += [Fault(f"{place}, image {image}", f"object id {key} is used twice") for key in repeated]
    return faults
