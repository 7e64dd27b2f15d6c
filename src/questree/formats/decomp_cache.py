"""What was read of large folders of hierarchies, kept in the user's cache folder for the next time.

A folder is known by its content: the names, sizes and digests of its files. Where neither names, sizes nor times
of change differ from when it was read, its content is not looked at again.
"""

import os
import re
import shutil
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import BadInput
from questree.formats import decomp_files
from questree.formats.decomp_files import hierarchy_files, read_hierarchies
from questree.places.addresses import cache_folder as places_cache
from questree.tables import hierarchies as tables
from questree.tables.hierarchies import COMPOSED, DAGS, EDGES, ISOLATED, NAMED, NODES, Hierarchies
from questree.tables.store import new_file, new_folder
from questree.tables.table import Table

KEYS = Table("keys", {"key": pl.String})
TABLES = (NODES, COMPOSED, EDGES, DAGS, ISOLATED)
LISTS, NAME = "names.json", re.compile("[0-9a-f]{32}-[0-9a-f]{32}")
LARGE = 25_000_000  # bytes; keeping less does not pay
LARGEST = 4 * 2**30  # bytes of all that is kept
SETTLED = 2.0  # seconds; a file that changed later than this before it was read may change again unnoticed


class Kept(msgspec.Struct):
    """What stands beside the tables: the lists of a `Hierarchies`, and digests of the other files."""

    names: dict[str, list[str]]
    digests: dict[str, str]


def cache_folder() -> Path:
    return places_cache() / "hierarchies"


def cached_hierarchies(folder: Path, say: Callable[[str], None]) -> Hierarchies:
    """The hierarchies of a folder, those of large ones as they were read before; a cache that fails is none."""
    files = hierarchy_files(folder)
    if sum(path.stat().st_size for path in files) <= LARGE:
        return read_hierarchies(folder)
    cache, begun, seen = cache_folder(), time.time(), looks(files)
    link = cache / f"{seen}.folder"
    known = _noted(link)
    if not known and any(cache.glob(f"{sizes(files)}-*")):
        known = content(files)
    if known and (found := loaded(cache / known)):
        say(f"hierarchies as read before, from {cache}; --no-cache reads the files")
        _linked(link, known, files, begun)
        return found
    read = read_hierarchies(folder)
    known = content(files)
    if looks(files) == seen and (size := kept(read, cache / known)):
        _linked(link, known, files, begun)
        say(f"kept for the next time in {cache}, {size / 1e6:,.0f} MB; --no-cache keeps nothing")
        tidied(cache, known)
    return read


def looks(files: Sequence[Path]) -> str:
    """A digest of the names, sizes and times of files."""
    stats = [(str(path.absolute()), path.stat()) for path in files]
    return _digest([_code(), *((name, s.st_size, s.st_mtime_ns, s.st_ctime_ns, s.st_ino) for name, s in stats)])


def sizes(files: Sequence[Path]) -> str:
    return _digest([_code(), *((path.name, path.stat().st_size) for path in files)])


def content(files: Sequence[Path]) -> str:
    """Sizes and digests: the name under which a folder is kept."""
    return f"{sizes(files)}-{_digest([_sha(path) for path in files])}"


def _noted(link: Path) -> str:
    """Under what the folder of a note is kept, "" if there is none."""
    found = link.read_bytes().decode("ascii", "replace") if link.is_file() else ""
    return found if NAME.fullmatch(found) else ""


def _digest(told: Any) -> str:
    return blake2b(msgspec.json.encode(told), digest_size=16).hexdigest()


def _code() -> list[str]:
    """What is kept was read by this code, of which the tables are."""
    return [_sha(Path(str(module.__file__))) for module in (decomp_files, tables)]


def kept(found: Hierarchies, place: Path) -> int:
    """Write it; its bytes, 0 if that is not possible, or more than there is room for."""
    try:
        with new_folder(place) as work:
            for table in TABLES:
                table.write(getattr(found, table.name), work)
            KEYS.write(pl.DataFrame({"key": found.keys}), work)
            names = {what: getattr(found, what) for what in NAMED}
            told = Kept(names, {path.name: _sha(path) for path in sorted(work.iterdir())})
            (work / LISTS).write_bytes(msgspec.json.encode(told))
            size = _size(work)
            if size > LARGEST:
                raise BadInput.at(place, "too large to be kept")
    except (BadInput, OSError):
        return 0
    return size


def loaded(place: Path) -> Hierarchies | None:
    """What was kept there, None if anything is not as it was written."""
    try:
        told = msgspec.json.decode((place / LISTS).read_bytes(), type=Kept)
        if any(_sha(place / name) != digest for name, digest in told.digests.items()):
            return None
        found: dict[str, Any] = {table.name: table.read(place) for table in TABLES}
        return Hierarchies(**found, **told.names, keys=KEYS.read(place)["key"])  # type: ignore[arg-type]
    except (BadInput, OSError, TypeError, msgspec.MsgspecError):
        return None


def tidied(cache: Path, newest: str) -> None:
    """Remove what was not used for longest until the rest has room; and notes on folders that are not kept."""
    try:
        entries = sorted((path for path in cache.iterdir() if path.is_dir()), key=lambda path: path.stat().st_mtime)
        room = LARGEST - _size(cache / newest)
        for path in reversed([path for path in entries if path.name != newest]):
            room -= _size(path)
            if room < 0:
                shutil.rmtree(path, ignore_errors=True)
        for link in cache.glob("*.folder"):
            if not (name := _noted(link)) or not (cache / name).is_dir():
                link.unlink()
    except OSError:  # another process tidies too
        pass


def _linked(link: Path, known: str, files: Sequence[Path], begun: float) -> None:
    """Note under what a folder is kept, unless it has only just changed; and that it was used."""
    try:
        os.utime(link.parent / known)
        if max(max(s.st_mtime, s.st_ctime) for s in (path.stat() for path in files)) < begun - SETTLED:
            with new_file(link) as work:
                work.write_text(known)
    except (BadInput, OSError):
        pass


def _sha(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
