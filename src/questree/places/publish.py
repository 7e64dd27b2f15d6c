"""From this machine to a store: a folder or file is there whole or not at all, as a marker says that is put last."""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar
from uuid import uuid4

from questree.places.addresses import cache_folder, mirror
from questree.places.finished import digest, digests_of, marker, marker_of_file, read_marker
from questree.places.lease import lease
from questree.places.mirror import keep, make_folder
from questree.places.seen import DELIVERED, FINISHED, UNFINISHED, WRITING, below, file_at, forget
from questree.places.stores import Entry, copy, delete, file_entry, files_below, get, get_bytes, put, put_bytes


class Staged:
    """What workers elsewhere delivered to half-written places, and what was taken out of it again."""

    notes: ClassVar[dict[str, dict[str, list[str]]]] = {}  # URL of a note, which never changes -> its files
    removed: ClassVar[set[str]] = set()


def published(work: Path, staged: str, target: str) -> None:
    """A folder that was filled here, and in the store at `staged` by workers elsewhere, takes the place of a URL."""
    local = {path.relative_to(work).as_posix(): path for path in sorted(work.rglob("*")) if path.is_file()}
    forget(staged)
    elsewhere = {name: own for name, (_, own) in delivered(staged).items() if name not in local}
    digests = {name: [digest(path)] for name, path in local.items()} | elsewhere
    with lease(f"{target}/{UNFINISHED}", "publishing", wait=True, stays=True):
        _emptied(target)
        put([(path, f"{target}/{name}") for name, path in local.items()])
        copy([(f"{staged}/{name}", f"{target}/{name}") for name in elsewhere])
        _marked(target, digests)
        _mirrored(local, target)
    if elsewhere:
        clear(staged)
    forget(target)


def _emptied(target: str) -> None:
    """Its marker goes first: from then on nobody takes for whole what is left."""
    there = [name for name in files_below(target) if name and name not in (UNFINISHED, WRITING)]
    delete([f"{target}/{FINISHED}"] if FINISHED in there else [])
    delete([f"{target}/{name}" for name in there if name != FINISHED])


def _marked(target: str, digests: dict[str, list[str]]) -> None:
    """A marker in every folder, for its own files; that of the whole comes last."""
    folders: dict[str, dict[str, list[str]]] = {"": {}}
    for name, own in digests.items():
        above, _, last = name.rpartition("/")
        folders.setdefault(above, {})[last] = own
    for above in sorted(folders, key=len, reverse=True):
        put_bytes("/".join(filter(None, (target, above, FINISHED))), marker(folders[above]))


def _mirrored(local: dict[str, Path], target: str) -> None:
    """What was uploaded is the mirror's, so that nobody fetches it again."""
    there, here = files_below(target), mirror(target)
    if here.is_file():
        here.unlink()
    shutil.rmtree(here, ignore_errors=True)
    for name, path in local.items():
        if name in there and there[name].size == path.stat().st_size:
            make_folder((here / name).parent)
            keep(path, here / name, there[name])


def published_file(work: Path, target: str) -> None:
    """A file that was written here takes the place of a URL, in one step; its marker knows both before that."""
    own, before = digest(work), digests_of(target) if file_at(target) else []
    put_bytes(marker_of_file(target), marker({target.rpartition("/")[2]: [*before[-1:], own]}))
    put([(work, target)])
    forget(target)
    entry = file_entry(target)
    if entry is not None and entry.size == work.stat().st_size:
        make_folder(mirror(target).parent)
        keep(work, mirror(target), entry)


def removed(target: str) -> None:
    """A folder or file is taken out of a store, and what is here of it."""
    forget(target)
    if file_at(target) is not None:
        delete([target])
        if get_bytes(marker_of_file(target)) is not None:
            delete([marker_of_file(target)])
    elif files_below(target):
        with lease(f"{target}/{UNFINISHED}", "removing", wait=True, stays=True):
            _emptied(target)
    forget(target)
    here = mirror(target)
    if here.is_dir():
        shutil.rmtree(here, ignore_errors=True)
    else:
        here.unlink(missing_ok=True)


def delivered(work: str) -> dict[str, tuple[Entry, list[str]]]:
    """Files of a half-written place that workers elsewhere delivered, each whole, with their digests."""
    found: dict[str, list[str]] = {}
    there = below(work)
    for name in there:
        folder, _, last = name.rpartition("/")
        if last.startswith(DELIVERED):
            url = f"{work}/{name}"
            if url not in Staged.notes:
                Staged.notes[url] = read_marker(url, get_bytes(url) or b"")
            before = f"{folder}/" if folder else ""
            found |= {f"{before}{inner}": own for inner, own in Staged.notes[url].items()}
    left = {name: own for name, own in found.items() if f"{work}/{name}" not in Staged.removed}
    return {name: (there[name], own) for name, own in left.items() if name in there}


def clear(staged: str) -> None:
    """Nothing of a half-written place is left in the store."""
    delete([f"{staged}/{name}" for name in files_below(staged)])
    forget(staged)
    Staged.removed -= {url for url in Staged.removed if url.startswith(f"{staged}/")}


class Travelled(threading.local):
    """Half-written places that came to this thread from another machine, with the task it works on."""

    base: Path | None = None  # of their mirrors: nobody else writes there
    works: dict[str, Path]  # URL of each -> where it is here
    fetched: set[Path]  # what others delivered there and was read here


TRAVELLED = Travelled()


def arrived(url: str, work: str) -> Path:
    """Where a place of another machine is on this one, that is or lies in a half-written one."""
    if TRAVELLED.base is None:
        return mirror(url)
    if work not in TRAVELLED.works:
        forget(work)  # others may have delivered since
        TRAVELLED.works[work] = TRAVELLED.base / mirror(work).relative_to(cache_folder())
    return TRAVELLED.base / mirror(url).relative_to(cache_folder())


def on_the_way(local: Path) -> bool:
    """Does a path of this machine belong to what this thread's task will deliver?"""
    return TRAVELLED.base is not None and local.is_relative_to(TRAVELLED.base)


def borrow(url: str, local: Path) -> None:
    """Fetch what another worker delivered; it is not delivered again."""
    make_folder(local.parent)
    get(url, local)
    if on_the_way(local):
        TRAVELLED.fetched.add(local)


@contextmanager
def delivering() -> Iterator[None]:
    """In a worker: what a task writes below places of another machine goes to the store at its end."""
    TRAVELLED.base, TRAVELLED.works, TRAVELLED.fetched = cache_folder() / "tasks" / uuid4().hex, {}, set()
    try:
        yield
        for work, here in sorted(TRAVELLED.works.items()):
            _deliver(work, here)
    finally:
        shutil.rmtree(TRAVELLED.base, ignore_errors=True)
        TRAVELLED.base = None


def _deliver(url: str, here: Path) -> None:
    """Files first, then the note that says they are whole."""
    made = (path for path in sorted(here.rglob("*")) if path.is_file() and path not in TRAVELLED.fetched)
    files = {path.relative_to(here).as_posix(): path for path in made}
    if here.is_file() and here not in TRAVELLED.fetched:
        files, url = {here.name: here}, url.rpartition("/")[0]
    if files:
        put([(path, f"{url}/{name}") for name, path in files.items()])
        note = marker({name: [digest(path)] for name, path in files.items()})
        put_bytes(f"{url}/{DELIVERED}{uuid4().hex}", note)
        forget(url)
