"""COVR's scenes in one file, {"gqa", "imsitu", "attribute_groups"} -> image facts and what attributes are about."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec import Raw, Struct

from questree.faults import BadInput, Fault
from questree.sources.gqa import Reading
from questree.tables.content import content
from questree.tables.images import Images

SHAPE = '{"gqa": {scene: {objects}}, "imsitu": {scene: {objects}}, "attribute_groups": {attribute: group}}'


class _File(Struct, forbid_unknown_fields=True):
    gqa: Raw = Raw(b"{}")
    imsitu: Raw = Raw(b"{}")
    attribute_groups: dict[str, str] = {}


@dataclass(frozen=True)
class Scenes:
    images: Images  # GQA's first, in the order of the file; no splits
    attribute_groups: dict[str, str]  # attribute -> group: red -> color


def read_scenes(path: Path) -> Scenes:
    """A JSON file, gzipped or not; each of the three parts may be left out."""
    try:
        file = msgspec.json.decode(content(path), type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput.at(path, f"wanted {SHAPE}; {error}") from error
    reading = Reading()
    for name in ("gqa", "imsitu"):
        data = bytes(getattr(file, name))
        if data.lstrip()[:1] == b"{":
            reading.file(data, f"{path}, {name}", "")
        else:
            reading.faults.append(
                Fault(f"{path}, {name}", f"wanted scenes by id, came {data[:20].decode(errors='replace')}")
            )
    return Scenes(reading.done(), file.attribute_groups)
