"""Files given to us; and our own, which are written whole or not at all: renamed when they are complete."""

import gzip
import io
import os
import re
import shutil
import tempfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import msgspec

from questree.faults import UNREADABLE, BadInput, why_unwritten
from questree.tables.owners import make_room, part, present, take_place

Record = TypeVar("Record")
GZIP = b"\x1f\x8b"
TIMES, USUAL_TIMES = "QUESTREE_UNPACK_TIMES", 64  # in the environment: how many times its size a packed file may hold
MORE_UNPACKED = "a larger --unpack-times reads it"
YAML_NESTING, NESTED = re.compile(rb"[\[\]{}]|(?:[-?:] +){9,}"), 500  # brackets, and lists in one line; levels
BY_SYSTEM = re.compile(r"([A-Z][\w ]+) \(os error \d+\)")  # what the system says, inside an error of a library
ALWAYS, MOST, PIECE = 1 << 26, 1 << 35, 1 << 22  # bytes: read whatever the size, never read, read at once


def content(path: Path) -> bytes:
    """Without a byte order mark; what cannot be read is told in one line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInput.at(path, "no such file") from None
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error
    return (_unpacked(path, data) if data[:2] == GZIP else data).removeprefix(BOM_UTF8)


def is_packed(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(GZIP)) == GZIP
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror})") from error


def unpack_times() -> int:
    """How many times its size a packed file may hold."""
    given = os.environ.get(TIMES, "")
    if given and not (given.isascii() and given.isdigit() and int(given)):
        raise BadInput.at("--unpack-times", f"expected a whole number from 1 on, got {given!r}")
    return int(given or USUAL_TIMES)


@contextmanager
def unpacking(times: str) -> Iterator[None]:
    """In a worker: what the client allows a packed file to hold; as here, if it says nothing."""
    before = os.environ.get(TIMES)
    os.environ.update({TIMES: times} if times else {})
    try:
        yield
    finally:
        if times and before is None:
            del os.environ[TIMES]
        elif times:
            os.environ[TIMES] = before or ""


def _unpacked(path: Path, data: bytes) -> bytes:
    """Piece by piece, so that a small file that unpacks to all of memory is refused before it does."""
    times = unpack_times()
    most, found = min(max(times * len(data), ALWAYS), MOST), bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            while piece := file.read(PIECE):
                found += piece
                if len(found) > most:
                    raise BadInput.at(path, f"refused: unpacks to more than {times} times its size; {MORE_UNPACKED}")
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput.at(path, "a damaged gzip file") from error
    return bytes(found)


def shallow(path: Path, data: bytes) -> bytes:
    """The same; a YAML file nested so deep that its parser would fall through the stack is refused."""
    depth = deepest = 0
    for sign in YAML_NESTING.finditer(data):
        depth += {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(sign[0], 0)
        deepest = max(deepest, depth, sign[0].count(b" "))
    if deepest > NESTED:
        raise BadInput.at(path, f"nested more than {NESTED} deep")
    return data


def only_earlier(out: Path, ours: Callable[[str], bool], whole: Collection[str] = (), called: str = "export") -> None:
    """What was made here earlier may be replaced, nothing else: only names of ours, and all that it has whole."""
    there = [path.name for path in present(out)]
    strange = [name for name in there if not ours(name)] or ([] if set(whole) <= set(there) else there)
    if strange:
        raise BadInput.at(out, f"not empty and not an earlier {called} (it has {strange[0]}); choose a new folder")


def read_json(path: Path, shape: Any, wanted: str) -> Any:
    """The content of a JSON file of this shape, gzipped or not; `wanted` says it in words."""
    if not path.is_file():
        raise BadInput.at(path, f"no such file; expected {wanted}")
    try:
        return msgspec.json.decode(content(path), type=shape)
    except UNREADABLE as error:
        raise BadInput.at(path, f"expected {wanted}; {error}") from error


def own_note(path: Path, *names: str) -> dict[str, Any]:
    """A JSON object that we wrote, with at least these fields; that it is damaged is told in one line."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
    except (OSError, *UNREADABLE) as error:
        raise BadInput.at(path, f"damaged ({error}); `questree verify` tells what else is") from error
    if missing := [name for name in names if name not in found]:
        raise BadInput.at(path, f"damaged: no field {missing[0]!r}; `questree verify` tells what else is")
    return found


def json_records(path: Path, record: type[Record], wanted: str) -> Iterator[tuple[str, Record]]:
    """The members of a JSON object one by one, so that there is room for large ones; `wanted` says it in words."""
    decoder, members = msgspec.json.Decoder(record), read_json(path, dict[str, msgspec.Raw], wanted)
    for name, text in members.items():
        try:
            found = decoder.decode(text)
        except UNREADABLE as error:
            raise BadInput.at(f"{path}, {name}", f"expected {wanted}; {error}") from error
        yield name, found


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill; it takes the place of `target` only when the block ends without an error."""
    if target.exists() and not target.is_dir():
        raise BadInput.at(target, "expected a folder, got a file")
    if target.name in ("", ".."):  # it cannot be renamed
        raise BadInput.at(target, "expected a folder with a name, got the one you are in; choose a new folder")
    if target.is_symlink():
        target = target.resolve()
    with part(target, folder=True) as work:
        with _said(target):
            yield work
        work.chmod(0o777 & ~_umask())  # it was made private
        take_place(work, target)


@contextmanager
def scratch(target: Path) -> Iterator[Path]:
    """A folder for what is needed on the way to `target`; gone at the end."""
    with part(target, folder=True) as work, _said(target):
        yield work


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """A file to write; it takes the place of `target` only when the block ends without an error."""
    target = target.resolve() if target.is_symlink() else target
    if target.is_dir():
        raise BadInput.at(target, "expected a file, got a folder")
    if target.exists() and not target.is_file():  # a pipe or a device is written to, not replaced
        with tempfile.TemporaryDirectory() as place:
            yield Path(place) / "piece"
            with _said(target), target.open("wb") as through:
                through.write((Path(place) / "piece").read_bytes())
        return
    with part(target, folder=False) as work:
        with _said(target):
            yield work
        work.chmod(0o666 & ~_umask())
        take_place(work, target)


@contextmanager
def for_others(target: Path) -> Iterator[Path]:
    """A file of a stage at work, for its other tasks to read.

    It is renamed when it is complete: a worker that was given up may still write the same one.
    """
    make_room(target.parent)
    work = target.with_name(f".{target.name}.{uuid4().hex}")
    yield work
    os.replace(work, target)


def end_to_end(pieces: Iterable[Path], target: Path) -> None:
    """A file of the content of others, one after the other; never all in memory."""
    with target.open("wb") as file:
        for piece in pieces:
            with piece.open("rb") as source:
                shutil.copyfileobj(source, file, PIECE)


@contextmanager
def _said(target: Path) -> Iterator[None]:
    """A full disk, or whatever else keeps a file from being written, is told in one line."""
    try:
        yield
    except BadInput:
        raise
    except OSError as error:
        raise BadInput.at(target, f"cannot be written ({why_unwritten(error)})") from error
    except Exception as error:
        why = BY_SYSTEM.search(str(error))
        if not why and not type(error).__module__.startswith("polars"):
            raise
        said = why[1] if why else str(error).splitlines()[0]
        raise BadInput.at(target, f"cannot be written ({said})") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
