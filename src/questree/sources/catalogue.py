"""Every kind of raw files that can be read, by the name `questree ingest` calls it; readers are imported when used."""

from codecs import BOM_UTF8
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from questree.extensions import Registry
from questree.faults import BadInput

Reader = Callable[..., Any]
FOLDER, OWN = "Folder with the raw files.", "A file of JSON or JSON lines, or a folder of them."


@dataclass(frozen=True)
class Setting:
    """A further parameter of a plugin's reader."""

    kind: type
    default: Any

    def __str__(self) -> str:
        return f"{self.kind.__name__}, {self.default!r} without it"


@dataclass(frozen=True)
class Source:
    """A video reader takes (folder, vocabulary), and fps if it is `rated`, an image reader (folder); then settings."""

    says: str
    medium: Literal["video", "images"]
    reader: str | Reader = ""  # module:function, or the function itself; none if files are always shared out
    sign: str = ""  # a file name by which `questree build` knows such a folder
    rated: bool = False  # needs frames per second for some videos
    takes: str = FOLDER
    settings: Mapping[str, Setting] = field(default_factory=dict)
    sharer: str = ""  # module:function: of videos a reader that also takes a `Sharing`, of images the parts of a folder

    @property
    def read(self) -> Reader:
        return self.reader if not isinstance(self.reader, str) else _found(self.reader)

    @property
    def share(self) -> Reader | None:
        return _found(self.sharer) if self.sharer else None


def _found(place: str) -> Reader:
    module, _, name = place.partition(":")
    found: Reader = getattr(import_module(f"questree.sources.{module}"), name)
    return found


SOURCES = Registry[Source]("source")
for _name, _source in {
    "action-genome": Source(
        "Charades CSV files and Action Genome pickles.",
        "video",
        sign="object_bbox_and_relationship.pkl",
        rated=True,
        sharer="shared_action_genome:share_action_genome",
    ),
    "charades": Source(
        "Charades CSV files alone: actions, no objects.",
        "video",
        "charades:read_charades",
        "Charades_v1_*.csv",
        rated=True,
    ),
    "agqa": Source(
        "AGQA's released scene-graph pickles.",
        "video",
        sign="AGQA_*_stsgs.pkl",
        sharer="agqa:share_agqa",
    ),
    "star": Source("STAR situation JSON.", "video", "star:read_star", "STAR_*.json", rated=True),
    "gqa": Source(
        "GQA or Visual Genome scene graphs (images).",
        "images",
        sign="*[sS]cene*[gG]raphs*.json*",
        sharer="gqa:scene_parts",
    ),
    "visual-genome": Source(
        "Visual Genome's objects.json, relationships.json, attributes.json and image_data.json (images).",
        "images",
        "visual_genome:read_visual_genome",
        "relationships.json*",
    ),
    "imsitu": Source(
        "imSitu's situations: frames and verbs (images).", "images", "imsitu:read_imsitu", "imsitu_space.json"
    ),
    "json": Source(
        "Your own videos, in our JSON format.",
        "video",
        "own_json:read_own_json",
        "*.json*",
        takes=OWN,
        sharer="own_parts:share_own_json",
    ),
    "images": Source("Your own images, in our JSON format.", "images", "own_json:read_own_images", takes=OWN),
}.items():
    SOURCES.add(_name, _source)


def kind_of(folder: Path) -> str:
    """What kind of raw files a folder holds, or a file is; any JSON file is people's own only if it is nothing else."""
    if folder.is_file():
        return own_kind(folder)
    signs = {name: source.sign for name, source in SOURCES.items() if source.sign}
    signs["json"] = signs.pop("json")
    for name, sign in signs.items():
        found = sorted(folder.glob(sign)) if folder.is_dir() else []
        if found:
            return own_kind(found[0]) if name == "json" else name
    wanted = "; ".join(f"{sign} ({name})" for name, sign in signs.items())
    if not folder.is_dir():
        raise BadInput.at(folder, "expected a folder or file, got nothing of this name")
    raise BadInput.at(folder, f"expected raw files, got none; choose from {wanted}")


def own_kind(path: Path) -> str:
    """People's own JSON is of images if it lists some, else of videos; a line of JSON lines is one record."""
    import msgspec  # `questree --help` does without

    from questree.faults import UNREADABLE

    try:
        data = path.read_bytes().removeprefix(BOM_UTF8)
        first = data.lstrip().partition(b"\n")[0] if path.suffix == ".jsonl" else data
        keys = msgspec.json.decode(first, type=dict[str, msgspec.Raw])
    except (*UNREADABLE, OSError):
        return "json"  # its reader says what is wrong with it
    return "images" if {"images", "things"} & {*keys} else "json"
