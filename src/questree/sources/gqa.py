"""GQA and Visual Genome scene graphs -> image facts in a run folder."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.sources import scene_graphs
from questree.sources.runs import write_image_run
from questree.sources.scene_graphs import GqaObject, GqaPreposition, GqaRelation, GqaScene
from questree.tables.images import Edge, Gathering, Images, Thing
from questree.tables.store import content

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
            records = scene_graphs.records(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            what = "not of a known shape" if isinstance(error, msgspec.ValidationError) else "not JSON"
            self.faults.append(Fault(name, f"{what} ({error}); expected {scene_graphs.SHAPES}"))
            return
        for key, raw in watch(records, f"reading {name}", len(records)):
            image, scene, faults = scene_graphs.read(key, raw, name)
            self.faults += faults
            if scene is not None:
                self.scene(image, scene, split, name)
        is_gqa = data.lstrip()[:1] == b"{"
        if is_gqa and len(self.faults) == before and data.count(b'"name"') != self.names:
            self.faults += scene_graphs.repeated_keys(data, name)

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


def _edges(each: GqaObject, at: dict[str, int]) -> list[Edge]:
    return [
        Edge(one.name, at[str(one.object)], [(p.name, at[str(p.object)]) for p in one.prepositions])
        for one in each.relations
    ]


def _box(each: GqaObject) -> tuple[float, float, float, float] | None:
    if each.x is None or each.y is None or each.w is None or each.h is None:
        return None
    return each.x, each.y, each.x + each.w, each.y + each.h
