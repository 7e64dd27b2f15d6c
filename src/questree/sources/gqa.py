"""Scene-graph JSON (GQA, Visual Genome, labelled boxes) -> image facts in a run folder, faults collected."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.sources.runs import write_image_run
from questree.tables.images import Gathering, Images, SceneEdge, Thing
from questree.tables.store import content

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


SPLITS = ("train", "val", "testdev", "test")  # by the beginning of a file's name; others have split ""
LARGEST = 1_000_000  # pixels
NAMES = "train_sceneGraphs.json, val_sceneGraphs.json, scene_graphs.json"


def ingest(folder: Path, run: Path, add: bool = False) -> dict[str, int]:
    """Write RUN/images, or raise BadInput with everything that is wrong and write nothing."""
    return write_image_run(read_gqa(folder), folder, run, add)


def read_gqa(folder: Path) -> Images:
    return read_files(scene_graph_files(folder))


def scene_graph_files(folder: Path) -> list[Path]:
    """The files of a folder whose name says scene graphs; a file stands for itself."""
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise BadInput.at(folder, f"no such folder; expected one with scene graphs ({NAMES})")
    present = sorted(path for path in folder.iterdir() if path.name.endswith((".json", ".json.gz")))
    found = [path for path in present if "scenegraph" in path.name.lower().replace("_", "")]
    if not found:
        names = ", ".join(path.name for path in present) or "no JSON file"
        raise BadInput.at(folder, f"no scene graphs here: expected files like {NAMES}, got {names}")
    return found


def read_files(paths: list[Path]) -> Images:
    reading = SceneReading()
    for path in paths:
        reading.path(path)
    return reading.done()


@dataclass
class SceneReading:
    """Images and faults as they come, over all files."""

    gathering: Gathering = field(default_factory=Gathering)
    faults: list[Fault] = field(default_factory=list)
    image_in: dict[str, str] = field(default_factory=dict)  # image id -> the file it came from
    names: int = 0  # things, relations and prepositions read: each has a "name"

    def done(self) -> Images:
        refuse(self.faults)
        return self.gathering.done()

    def path(self, path: Path) -> None:
        split = next((s for s in SPLITS if path.name.lower().startswith(s)), "")
        try:
            self.file(content(path), path.name, split)
        except BadInput as bad:
            self.faults += bad.faults

    def file(self, data: bytes, name: str, split: str) -> None:
        self.names, before = 0, len(self.faults)
        try:
            found = records(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            what = "not of a known shape" if isinstance(error, msgspec.ValidationError) else "not JSON"
            self.faults.append(Fault(name, f"{what} ({error}); expected {SHAPES}"))
            return
        for key, raw in watch(found, f"reading {name}", len(found)):
            image, scene, faults = read(key, raw, name)
            self.faults += faults
            if scene is not None:
                self.scene(image, scene, split, name)
        is_gqa = data.lstrip()[:1] == b"{"
        if is_gqa and len(self.faults) == before and data.count(b'"name"') != self.names:
            self.faults += repeated_keys(data, name)

    def scene(self, image: str, scene: GqaScene, split: str, file: str) -> None:
        place = f"{file}, image {image}"
        if image in self.image_in:
            self.faults.append(Fault(place, f"image id {image} is used twice; it is also in {self.image_in[image]}"))
        self.image_in[image] = file
        faults = list(scene_faults(scene, place))
        self.faults += faults
        if not self.faults:  # nothing will be written otherwise: only go on looking for faults
            things = _things(scene)
            self.names += len(things) + sum(1 + len(edge.prepositions) for each in things for edge in each.edges)
            self.gathering.add(image, split, (scene.width, scene.height), scene.location, things)


def scene_faults(scene: GqaScene, place: str) -> Iterator[Fault]:
    for side in ("width", "height"):
        if (pixels := getattr(scene, side)) is not None and not 0 < pixels <= LARGEST:
            yield Fault(place, f"{side} must be 1 to {LARGEST} pixels, is {pixels}")
    for key, each in scene.objects.items():
        for message in _object_faults(each, scene):
            yield Fault(f"{place}, object {key}", message)


def _object_faults(each: GqaObject, scene: GqaScene) -> Iterator[str]:
    if not each.name.strip():
        yield "the name is empty"
    if any(not attribute.strip() for attribute in each.attributes):
        yield "an attribute is empty"
    sides = {"x": each.x, "y": each.y, "w": each.w, "h": each.h}
    missing = [side for side, value in sides.items() if value is None]
    if 0 < len(missing) < len(sides):
        yield f"the box has no {', '.join(missing)}; give all of x, y, w, h or none"
    for side in ("w", "h"):
        if (value := sides[side]) is not None and value < 0:
            yield f"a box of negative size: {side} is {value}"
    for relation in each.relations:
        links: list[GqaRelation | GqaPreposition] = [relation, *relation.prepositions]
        for name, target in [(one.name, str(one.object)) for one in links]:
            if not name.strip():
                yield "the name of a relation is empty"
            if target not in scene.objects:
                yield f"relation {name!r} to object {target}, which is not in this image"


def _things(scene: GqaScene) -> list[Thing]:
    at = {key: position for position, key in enumerate(scene.objects)}
    return [Thing(key, each.name, _box(each), each.attributes, _edges(each, at)) for key, each in scene.objects.items()]


def _edges(each: GqaObject, at: dict[str, int]) -> list[SceneEdge]:
    return [
        SceneEdge(one.name, at[str(one.object)], [(p.name, at[str(p.object)]) for p in one.prepositions])
        for one in each.relations
    ]


def _box(each: GqaObject) -> tuple[float, float, float, float] | None:
    if each.x is None or each.y is None or each.w is None or each.h is None:
        return None
    return each.x, each.y, each.x + each.w, each.y + each.h
