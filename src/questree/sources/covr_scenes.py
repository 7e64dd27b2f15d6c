"""COVR's scenes in one file, {"gqa", "imsitu", "attribute_groups"} -> image facts and what attributes are about."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from questree.faults import BadInput, Fault
from questree.sources.gqa import SceneReading
from questree.tables.images import Images
from questree.tables.store import content

SHAPE = '{"gqa": {scene: {objects}}, "imsitu": {scene: {objects}}, "attribute_groups": {attribute: group}}'


class _File(Struct):
    gqa: Raw = Raw(b"")
    imsitu: Raw = Raw(b"")
    attribute_groups: dict[str, str] = {}


@dataclass(frozen=True)
class CovrScenes:
    images: Images  # GQA's first, in the order of the file; no splits
    attribute_groups: dict[str, str]  # attribute -> group: red -> color


def read_scenes(path: Path) -> CovrScenes:
    """A JSON file, gzipped or not; one of gqa and imsitu may be left out, and the groups."""
    try:
        file = msgspec.json.decode(content(path), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput.at(path, f"expected {SHAPE}; {error}") from error
    parts = {"gqa": bytes(file.gqa), "imsitu": bytes(file.imsitu)}
    if not any(parts.values()):
        raise BadInput.at(path, f"expected {SHAPE}; got neither gqa nor imsitu")
    reading = SceneReading()
    for name, data in parts.items():
        if not data:
            continue
        if data.lstrip()[:1] == b"{":
            reading.file(data, f"{path}, {name}", "")
        else:
            got = data[:20].decode(errors="replace")
            reading.faults.append(Fault(f"{path}, {name}", f"expected scenes by id, got {got}"))
    return CovrScenes(reading.done(), file.attribute_groups)
