"""The JSON form of people's own videos and images: its fields, and everything in a file that has not this form."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

import msgspec

from questree.faults import Fault

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
    relations: list[tuple[str, str]] = []  # (relation, object) for objects that are not annotated themselves


class OwnSpan(msgspec.Struct, forbid_unknown_fields=True):
    name: str = msgspec.field(name="class")
    start: float
    end: float


class OwnVideo(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    id: str
    frames: list[OwnFrame]
    split: str = ""
    length: float | None = None
    width: int | None = None
    height: int | None = None
    actions: list[OwnSpan] = []


class OwnVideos(msgspec.Struct, forbid_unknown_fields=True):
    videos: list[OwnVideo]


class OwnPreposition(msgspec.Struct, forbid_unknown_fields=True):
    name: str  # with its relation: "pouring:_into"
    object: str


class OwnRelation(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    object: str  # id of a thing of the same image
    prepositions: list[OwnPreposition] = []


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


Record = TypeVar("Record", bound=msgspec.Struct)
NAMED = {
    "videos": ("video", "id"),
    "frames": ("frame", "number"),
    "objects": ("object", ""),
    "actions": ("action", ""),
    "images": ("image", "id"),
    "things": ("thing", "id"),
    "relations": ("relation", "name"),
    "prepositions": ("preposition", "name"),
}


def decode(data: bytes, path: Path, faults: list[Fault]) -> list[OwnVideo]:
    """The videos of a file that have the right form; every other one leaves its faults."""
    return _collected(data, path, faults, OwnVideos, OwnVideo, "videos")


def decode_images(data: bytes, path: Path, faults: list[Fault]) -> list[Image]:
    """The same for images."""
    return _collected(data, path, faults, Album, Image, "images")


def _collected(
    data: bytes, path: Path, faults: list[Fault], whole: type[msgspec.Struct], each: type[Record], name: str
) -> list[Record]:
    try:
        try:
            return list(getattr(msgspec.json.decode(data, type=whole), name))
        except msgspec.ValidationError:
            plain = msgspec.json.decode(data)
        faults += list(_struct_faults(plain, whole, str(path)))
    except RecursionError:
        faults.append(Fault(str(path), "nested too deeply to be read"))
        return []
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        faults.append(Fault(str(path), f"not JSON ({error})"))
        return []
    records = plain.get(name) if isinstance(plain, dict) else None
    return [made for one in records if (made := _convert(one, each))] if isinstance(records, list) else []


def _convert(value: Any, kind: type[Record]) -> Record | None:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return None


def _struct_faults(value: Any, kind: type[msgspec.Struct], place: str) -> Iterator[Fault]:
    """Every field that is missing, unknown or of another type, here and in the records inside."""
    fields = msgspec.structs.fields(kind)
    if not isinstance(value, dict):
        names = ", ".join(each.encode_name for each in fields if each.required) or fields[0].encode_name
        yield Fault(place, f"expected an object with {names}, got {value!r:.40}")
        return
    for each in fields:
        if each.encode_name in value:
            yield from _value_faults(value[each.encode_name], each.type, each.encode_name, place)
        elif each.required:
            yield Fault(place, f"{each.encode_name} is missing")
    known = [each.encode_name for each in fields]
    for name in value:
        if name not in known:
            yield Fault(place, f"unknown field {name!r}; known: {', '.join(known)}")


def _value_faults(value: Any, kind: Any, name: str, place: str) -> Iterator[Fault]:
    inner = get_args(kind)[0] if get_origin(kind) is list else None
    if isinstance(inner, type) and issubclass(inner, msgspec.Struct) and isinstance(value, list):
        for at, each in enumerate(value, 1):
            yield from _struct_faults(each, inner, f"{place}, {_label(name, at, each)}")
        return
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        yield Fault(place, f"{name}: {error}")


def _label(name: str, at: int, record: Any) -> str:
    """How a record is called: by its id or number, by its place in the list without one."""
    word, key = NAMED[name]
    own = record.get(key) if isinstance(record, dict) else None
    return f"{word} {own}" if isinstance(own, str | int) else f"{word} {at} of the list"
