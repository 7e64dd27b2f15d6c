"""Records of videos or images, from JSON, JSON lines or a plugin: those of the right form, and faults of the others."""

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

import msgspec
import numpy as np
from msgspec.structs import FieldInfo

from questree.faults import UNREADABLE, BadInput, Fault
from questree.progress import watch
from questree.tables.store import content

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
LINES = ".jsonl"  # a record on each line
EXACT = 1 << 53  # up to here a number with a point is the whole number it looks like


Loose = Callable[[Any], Iterable[tuple[str, str]]]  # further faults inside a record that has not the right form


def given(
    source: Path,
    whole: type[msgspec.Struct],
    faults: list[Fault],
    records: Iterable[Any] | None = None,
    loose: Loose = lambda record: (),
) -> Iterator[tuple[Any, Path]]:
    """(record, file) of a file, or of all JSON files of a folder, or of what a plugin's source yields; every record
    that has not the right form leaves its faults."""
    if records is None:
        yield from OwnFiles(tuple(own_files(source))).records(whole, faults, loose)
        return
    (listed,) = msgspec.structs.fields(whole)
    data = _listing(listed, _encoded(records, listed, str(source), faults))
    yield from ((record, source) for record in _collected(data, source, faults, whole, listed, loose))


@dataclass(frozen=True)
class OwnFiles:
    """Some JSON files, one after the other, or a part of one: whole lines."""

    paths: tuple[Path, ...]
    lines: tuple[int, int] | None = None  # begin and end in bytes

    @property
    def name(self) -> str:
        names = [path.name for path in self.paths]
        whole = names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"
        return f"{whole}, bytes {self.lines[0]:,} to {self.lines[1]:,}" if self.lines else whole

    def records(
        self, whole: type[msgspec.Struct], faults: list[Fault], loose: Loose = lambda record: ()
    ) -> Iterator[tuple[Any, Path]]:
        """(record, file); every record that has not the right form leaves its faults."""
        (listed,) = msgspec.structs.fields(whole)
        for path in self.paths:
            try:
                data = self._data(path)
            except BadInput as bad:
                faults += bad.faults
                continue
            if path.suffix == LINES:
                data = _listing(listed, _lines(data, path, faults))
            found = _collected(data, path, faults, whole, listed, loose)
            yield from ((record, path) for record in watch(found, f"taking in {path.name}", len(found)))

    def _data(self, path: Path) -> bytes:
        if self.lines is None:
            return content(path)
        begin, end = self.lines
        with path.open("rb") as file:
            file.seek(begin)
            return file.read(end - begin).removeprefix(b"" if begin else BOM_UTF8)


def own_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise BadInput.at(source, "no such file or folder")
    found = sorted(path for path in source.iterdir() if path.suffix in (".json", LINES))
    if not found:
        raise BadInput.at(source, "no JSON file in this folder")
    return found


def _listing(listed: FieldInfo, records: Iterable[bytes]) -> bytes:
    return b'{"%s":[%s]}' % (listed.name.encode(), b",".join(records))


def _lines(data: bytes, path: Path, faults: list[Fault]) -> Iterator[bytes]:
    """Lines that are JSON."""
    for at, line in enumerate(data.splitlines(), 1):
        try:
            if line.strip():
                msgspec.json.decode(line, type=msgspec.Raw)
                yield line
        except UNREADABLE as error:
            faults.append(Fault(f"{path}, line {at}", f"not JSON ({error})"))


def _encoded(records: Iterable[Any], listed: FieldInfo, place: str, faults: list[Fault]) -> Iterator[bytes]:
    """Records of a plugin as JSON; what cannot be said in it is told with its record."""
    for at, record in enumerate(records, 1):
        try:
            yield msgspec.json.encode(record, enc_hook=_plain)
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            faults.append(Fault(f"{place}, {_label(listed.name, at, record)}", str(error)))


def _plain(value: Any) -> Any:
    """A number of numpy is a number, and an array of them a list."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"expected texts, numbers, lists and dictionaries, got {type(value).__name__}")


def _collected(
    data: bytes, path: Path, faults: list[Fault], whole: type[msgspec.Struct], listed: FieldInfo, loose: Loose
) -> list[Any]:
    try:
        try:
            return list(getattr(msgspec.json.decode(data, type=whole), listed.name))
        except msgspec.ValidationError:
            plain = _whole_numbers(msgspec.json.decode(data))
        with suppress(msgspec.ValidationError):
            return list(getattr(msgspec.convert(plain, whole), listed.name))
        faults += list(_struct_faults(plain, whole, str(path)))
    except RecursionError:
        faults.append(Fault(str(path), "nested too deeply to be read"))
        return []
    except UNREADABLE as error:
        faults.append(Fault(str(path), f"not JSON ({error})"))
        return []
    records = plain.get(listed.name) if isinstance(plain, dict) else None
    good = []
    for at, one in enumerate(records if isinstance(records, list) else (), 1):
        try:
            good += msgspec.convert([one], listed.type)
        except msgspec.ValidationError:
            place = f"{path}, {_label(listed.name, at, one)}"
            faults += [Fault(f"{place}, {inside}", message) for inside, message in loose(one)]
    return good


def _whole_numbers(value: Any) -> Any:
    """1.0 is 1, as many tools write all numbers with a point; where a point is wanted 1 is as good."""
    if isinstance(value, dict):
        return {name: _whole_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and abs(value) < EXACT and value.is_integer() else value


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
