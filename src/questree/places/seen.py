"""What a store has, as last listed: files and folders by their URL, without what is not finished."""

from dataclasses import dataclass, field
from threading import RLock
from time import monotonic
from typing import ClassVar

from questree.places.stores import Entry, entries_in, files_below

FINISHED, UNFINISHED = ".finished", ".unfinished"  # in a folder: it is whole; it is being written or taken away
WRITING = ".writing"  # in a run: who writes in it
DELIVERED = ".delivered."  # in what is half-written: a worker's files, each whole
FRESH, TIMES = 10.0, 20.0  # seconds a listing is believed, or as many times as long as it took


@dataclass
class Listed:
    """One folder, and the file of the same name if there is one."""

    files: dict[str, Entry] = field(default_factory=dict)  # name -> file; empty name: the place itself is a file
    folders: set[str] = field(default_factory=set)
    until: float = 0.0

    @property
    def there(self) -> bool:
        return bool(self.folders) or any(self.files)

    @property
    def whole(self) -> bool:
        return UNFINISHED not in self.files or FINISHED in self.files


class Seen:
    """Shared by the threads of a process."""

    roots: ClassVar[set[str]] = set()  # places that are listed at once with all that is in them
    folders: ClassVar[dict[str, Listed]] = {}
    guard: ClassVar[RLock] = RLock()


def watch(root: str) -> None:
    """A place that was named by whoever calls: seen anew from now on, with all that is in it."""
    with Seen.guard:
        forget(root)
        Seen.roots.add(root)


def forget(place: str = "") -> None:
    """Drop what was seen of a place, of what is in it and of the folders it is in; of everything without a place."""
    with Seen.guard:
        for url in [url for url in Seen.folders if not place or _inside(url, place) or _inside(place, url)]:
            del Seen.folders[url]


def _inside(url: str, folder: str) -> bool:
    return url == folder or url.startswith(f"{folder}/")


def listed(url: str) -> Listed:
    """A folder as it is in the store, finished or not."""
    with Seen.guard:
        root = max((root for root in Seen.roots if _inside(url, root)), key=len, default=url)
        known = Seen.folders.get(root)
        if known is None or known.until < monotonic():
            _look(root, root in Seen.roots)
        return Seen.folders.get(url) or Listed()


def below(url: str) -> dict[str, Entry]:
    """Relative name -> file, of all in a folder, finished or not."""
    own = listed(url)
    found = {name: entry for name, entry in own.files.items() if name}
    for folder in own.folders:
        found |= {f"{folder}/{name}": entry for name, entry in below(f"{url}/{folder}").items()}
    return found


def _look(url: str, with_all: bool) -> None:
    """List a folder, if told so with all that is in it."""
    begun = monotonic()
    files, folders = (files_below(url), set[str]()) if with_all else entries_in(url)
    now = monotonic()
    made = {url: Listed(folders=folders, until=now + max(FRESH, TIMES * (now - begun)))}
    for name, entry in files.items():
        *parents, last = name.split("/")
        place = url
        for parent in parents:
            made[place].folders.add(parent)
            place = f"{place}/{parent}"
            made.setdefault(place, Listed(until=made[url].until))
        made[place].files[last] = entry
    for old in [old for old in Seen.folders if with_all and _inside(old, url)]:
        del Seen.folders[old]
    Seen.folders |= made


def _parent(url: str) -> str | None:
    """The folder a place is in; a bucket is in none."""
    above, _, _ = url.rpartition("/")
    return above if "://" in above and not above.endswith("/") else None


def visible(folder: str) -> bool:
    """Is a folder there, and is it and what it is in whole, as far as we looked?"""
    if not listed(folder).there:
        return False
    with Seen.guard:
        place: str | None = folder
        while place is not None:
            known = Seen.folders.get(place)
            if known is not None and not known.whole:
                return False
            place = _parent(place)
    return True


def file_at(url: str) -> Entry | None:
    """A file that is there for readers."""
    above, name = _parent(url), url.rpartition("/")[2]
    if above is None:
        return None
    watched = any(_inside(above, root) for root in Seen.roots)
    if watched or ("." in name and url not in Seen.roots):  # the folder is asked once for all its files
        found = listed(above).files.get(name)
    else:
        found = listed(url).files.get("")
    return found if found and (visible(above) or not watched) else None


def is_marker(name: str) -> bool:
    """Does this only say what is whole?"""
    return name in (FINISHED, UNFINISHED) or (name.startswith(".") and name.endswith(FINISHED))


def names_in(folder: str) -> list[str]:
    """What is in a folder for readers, in order."""
    if not visible(folder):
        return []
    found = listed(folder)
    known = {name: Seen.folders.get(f"{folder}/{name}") for name in found.folders}
    inner = (name for name, own in known.items() if own is None or own.whole)
    return sorted([*(name for name in found.files if name and name != WRITING and not is_marker(name)), *inner])
