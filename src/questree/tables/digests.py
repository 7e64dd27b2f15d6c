"""Digests of files, and notes that know whether they and the files beside them are still what was written."""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import msgspec

from questree.faults import BadInput, Fault
from questree.tables.store import own_note

PIECE = 1 << 22  # bytes read at once
FILES, SELF = "files", "note"  # of a note: digests of the files beside it, and its own


def digest(*paths: Path, under: Path | None = None) -> str:
    """Of the content of files; of their names, too, if a folder is given they lie in."""
    found = blake2b(digest_size=16)
    for path in paths:
        found.update(f"{path.relative_to(under)}\0".encode() if under else b"")
        with path.open("rb") as file:
            while piece := file.read(PIECE):
                found.update(piece)
    return found.hexdigest()


def write_note(path: Path, said: Mapping[str, Any], files: Iterable[Path], folder: Path | None = None) -> None:
    """What is said, with the digests of the note itself and of files in its folder, or the one it will lie in."""
    beside = folder or path.parent
    note = {**said, FILES: {str(file.relative_to(beside)): digest(file) for file in sorted(files)}}
    path.write_bytes(msgspec.json.format(msgspec.json.encode(note | {SELF: _own(note)})) + b"\n")


def _own(note: Mapping[str, Any]) -> str:
    said = {name: value for name, value in note.items() if name != SELF}
    return blake2b(msgspec.json.encode(said, order="sorted"), digest_size=16).hexdigest()


def changed(path: Path) -> Iterator[Fault]:
    """What is no longer as a note says; one that says no digests, as those of older versions, is believed."""
    try:
        note = own_note(path)
    except BadInput as bad:
        yield from bad.faults
        return
    if SELF in note and note[SELF] != _own(note):
        yield Fault(str(path), "has changed")
        return
    for name, known in note.get(FILES, {}).items():
        file = path.parent / name
        if not file.is_file():
            yield Fault(str(file), "is missing")
        elif digest(file) != known:
            yield Fault(str(file), "has changed")
