"""People's own images as JSON -> image facts."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from questree.faults import BadInput, Fault
from questree.progress import watch
from questree.sources.gqa import SceneReading
from questree.sources.own_json import own_files
from questree.sources.own_schema import Image, ImageThing, decode_images
from questree.sources.scene_graphs import GqaObject, GqaPreposition, GqaRelation, GqaScene
from questree.tables.images import Images
from questree.tables.store import content


def read_own_images(source: Path) -> Images:
    """A file or all JSON files of a folder; with any fault nothing is taken and all faults are raised."""
    reading = SceneReading()
    for path in own_files(source):
        try:
            images = decode_images(content(path), path, reading.faults)
        except BadInput as bad:
            reading.faults += bad.faults
            continue
        for image in watch(images, f"taking in {path.name}", len(images)):
            _take(image, path, reading)
    return reading.done()


def read_image_records(records: Iterable[Any], source: Path) -> Images:
    """Images that a plugin's source yields, each a record as one in a JSON file is."""
    reading = SceneReading()
    data = msgspec.json.encode({"images": list(records)})
    for image in decode_images(data, source, reading.faults):
        _take(image, source, reading)
    return reading.done()


def _take(image: Image, path: Path, reading: SceneReading) -> None:
    place = f"{path}, image {image.id}"
    objects = {thing.id: _object(thing) for thing in image.things}
    if not image.id.strip():
        reading.faults.append(Fault(place, "the id is empty"))
    times = Counter(thing.id for thing in image.things)
    reading.faults += [Fault(place, f"thing id {name} is used twice") for name, n in times.items() if n > 1]
    scene = GqaScene(objects, image.width, image.height, image.location)
    reading.scene(image.id, scene, image.split, str(path))


def _object(thing: ImageThing) -> GqaObject:
    relations = [
        GqaRelation(one.name, one.object, [GqaPreposition(each.name, each.object) for each in one.prepositions])
        for one in thing.relations
    ]
    if thing.box is None:
        return GqaObject(thing.name, attributes=thing.attributes, relations=relations)
    x1, y1, x2, y2 = thing.box
    return GqaObject(thing.name, x1, y1, x2 - x1, y2 - y1, thing.attributes, relations)
