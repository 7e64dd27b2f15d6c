"""Content on this machine: fetched when it is first used, checked, and kept until the store has another."""

import os
import shutil
import tempfile
from pathlib import Path

from questree.faults import BadInput
from questree.places.addresses import mirror
from questree.places.finished import digest, digests_of
from questree.places.seen import file_at, forget
from questree.places.stores import Entry, get

CHANGING = dict[str, Path]()  # URL -> the file of this machine that this process changes; others see it at the end
TRIES = 3  # if a file is put anew while it is fetched


def fetch(url: str) -> Path:
    """The content of a file of a store; if it is not there, a name where nothing is."""
    if url in CHANGING:
        return CHANGING[url]
    local = mirror(url)
    for _ in range(TRIES):
        entry = file_at(url)
        if entry is None:
            if local.is_file():
                local.unlink(missing_ok=True)
            return local
        if _has(local, entry) or _fetched(url, local, entry):
            return local
        forget(url)
    raise BadInput.at(url, "not what its marker says: damaged, or written again and again while it is read")


def _has(local: Path, entry: Entry) -> bool:
    try:
        found = os.stat(local)
    except OSError:
        return False
    return found.st_size == entry.size and found.st_mtime_ns == entry.identity


def _fetched(url: str, local: Path, entry: Entry) -> bool:
    """False if it is another by now."""
    wanted = digests_of(url)
    make_folder(local.parent)
    opened, name = tempfile.mkstemp(".fetched", f".{local.name}.", local.parent)
    os.close(opened)
    work = Path(name)
    try:
        get(url, work)
        if os.stat(work).st_size != entry.size or (wanted and digest(work) not in wanted):
            return False
        keep(work, local, entry)
    except FileNotFoundError:
        return False
    finally:
        work.unlink(missing_ok=True)
    return True


def keep(work: Path, local: Path, entry: Entry) -> None:
    """A file whose content the store has is the mirror's from now on: its time tells which content it is."""
    os.utime(work, ns=(entry.identity, entry.identity))
    if local.is_dir() and not local.is_symlink():
        shutil.rmtree(local)
    os.replace(work, local)


def make_folder(folder: Path) -> None:
    """In the mirror; a file in its way is one of a store that has changed."""
    for above in (*reversed(folder.parents), folder):
        if above.is_file():
            above.unlink()
    folder.mkdir(parents=True, exist_ok=True)
