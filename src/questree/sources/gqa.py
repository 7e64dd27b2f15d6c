"""Scene-graph JSON (GQA, Visual Genome's single file, labelled boxes) -> scenes, faults collected."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from questree.faults import UNREADABLE, BadInput, Fault
from questree.progress import watch
from questree.sources.scenes import GqaObject, GqaRelation, GqaScene, Number, SceneReading, split_of
from questree.sources.visual_genome import GenomeScene, genome_scene
from questree.tables.store import content


class SceneOfRaw(Struct):  # the same, its objects still to be read one by one
    objects: dict[str, Raw]


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
    """The records of a file, sorted by image id (GQA) or position; raises msgspec.DecodeError if there are none."""
    if data.lstrip()[:1] == b"[":
        return list(enumerate(msgspec.json.decode(data, type=list[Raw])))
    found = msgspec.json.decode(data, type=dict[str, Raw])
    return [(image, found[image]) for image in sorted(found)]


def read(key: str | int, raw: Raw, file: str) -> Read:
    place = f"{file}, image {key}" if isinstance(key, str) else f"{file}, record {key}"
    try:
        return _gqa(raw, key, place) if isinstance(key, str) else _listed(raw, place)
    except UNREADABLE as error:  # strings are decoded only here
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
            objects[key] = GqaObject("unread")
            faults.append(Fault(f"{place}, object {key}", _reason(error)))
    return objects, faults


def _reason(error: Exception) -> str:
    """'Object missing required field `name`' said in our words, with the path inside the record."""
    return str(error).replace("Object missing required field", "missing").replace(" - at `$", " at `")


def _listed(raw: Raw, place: str) -> Read:
    """A record of a list: labelled boxes if it has a data_path, else Visual Genome."""
    if "data_path" in msgspec.json.decode(raw, type=dict[str, Raw]):
        return _labelled(msgspec.json.decode(raw, type=LabelledBoxes), place)
    return genome_scene(msgspec.json.decode(raw, type=GenomeScene), place)


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

    whole = json.loads(data.decode("utf-8", "replace"), object_pairs_hook=collect)  # what is not read may be anything
    faults = [Fault(place, f"image id {key} is used twice") for key in getattr(whole, "keys_repeated", ())]
    for image, scene in whole.items():
        repeated = getattr(scene.get("objects"), "keys_repeated", ())
        faults += [Fault(f"{place}, image {image}", f"object id {key} is used twice") for key in repeated]
    return faults


NAMES = "train_sceneGraphs.json, val_sceneGraphs.json, scene_graphs.json"


@dataclass(frozen=True)
class SceneFile:
    """A file of scene graphs."""

    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def take(self) -> "SceneFiles":
        reading = SceneFiles()
        reading.path(self.path)
        return reading


def scene_parts(folder: Path) -> list[SceneFile]:
    return [SceneFile(path) for path in scene_graph_files(folder)]


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


class SceneFiles(SceneReading):
    """Scenes of files of any of the shapes."""

    def path(self, path: Path) -> None:
        try:
            self.file(content(path), path.name, split_of(path.name))
        except BadInput as bad:
            self.faults += bad.faults

    def file(self, data: bytes, name: str, split: str) -> None:
        self.names, before = 0, len(self.faults)
        try:
            found = records(data)
        except UNREADABLE as error:
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
