"""A path at a URL: listed as the store lists it, read from this machine's mirror, written through `tables/store.py`."""

import os
import shutil
import stat
from collections.abc import Generator, Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PosixPath
from typing import IO, TYPE_CHECKING, Any

from questree.faults import BadInput
from questree.places.addresses import MIRRORS, checked, home, mirror, scheme_of, url_of
from questree.places.mirror import fetch, make_folder
from questree.places.publish import (
    Staged,
    arrived,
    borrow,
    clear,
    delivered,
    on_the_way,
    published,
    published_file,
    removed,
)
from questree.places.seen import FINISHED, below, file_at, listed, names_in, visible, watch
from questree.places.stores import Entry, delete

PART = ".part"  # what is half-written is hidden and ends so, or lies in something that does

if TYPE_CHECKING:
    Local = PosixPath
else:
    Local = type(Path())


def path_of(given: "str | os.PathLike[str]") -> Path:
    """A path of a text: at a URL if it is one. What is there is looked at anew."""
    if isinstance(given, Place):
        watch(given.url)
        return given
    text = os.fspath(given)
    scheme = scheme_of(text)
    if scheme is None:
        inside = url_of(Path(text).parts)
        return Place(text) if inside else Path(text)
    if scheme == "file":
        return Path("/" + text.partition(":")[2].lstrip("/"))
    url = checked(text)
    watch(url)
    return Place(mirror(url))


def _there(url: str, origin: str) -> "Place":
    """A place that travelled between processes."""
    own = Place(mirror(url))
    return own if origin == home() or own.work is None else Place(arrived(url, own.work.url))


class Place(Local):
    """Its text is its URL; what opens it gets a file of this machine with the content.

    Half-written places are folders of this machine, and what workers elsewhere delivered to them.
    """

    __slots__ = ()

    @property
    def url(self) -> str:
        return url_of(self.parts) or ""

    @property
    def local(self) -> Path:
        """On this machine, without a look at the store."""
        return Path(*self.parts)

    @property
    def work(self) -> "Place | None":
        """The half-written place it is or lies in."""
        parts = self.parts
        for at in range(parts.index(MIRRORS) + 1, len(parts)):
            if parts[at].startswith(".") and parts[at].endswith(PART):
                return Place(*parts[: at + 1])
        return None

    def _delivered(self) -> dict[str, Entry]:
        """In a half-written place: files that are in the store and not here, by their name below this one."""
        work = self.work
        if work is None:
            return {}
        own = self.local.relative_to(work.local).as_posix()
        before = "" if own == "." else f"{own}/"
        there = {name: entry for name, (entry, _) in delivered(work.url).items()}
        found = {name.removeprefix(before): entry for name, entry in there.items() if name.startswith(before)}
        return found | ({"": there[own]} if own in there else {})

    def __str__(self) -> str:
        return self.url or str(self.local)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __fspath__(self) -> str:
        if self.work is None:
            return str(fetch(self.url))
        if not os.path.lexists(self.local):
            if on_the_way(self.local):  # its folder is there on the machine it came from
                make_folder(self.local.parent)
            if "" in self._delivered():
                borrow(self.url, self.local)
        return str(self.local)

    def __reduce__(self) -> Any:
        if self.url.startswith("memory:"):
            told = "is seen by one process; choose another store, or work without other processes (--workers 1)"
            raise BadInput.at(self, told)
        return _there, (self.url, home())

    def __copy__(self) -> "Place":
        return self

    def __deepcopy__(self, known: object) -> "Place":
        return self

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        return self.is_file() or self.is_dir()

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        if self.work is None:
            return file_at(self.url) is not None
        return self.local.is_file() or "" in self._delivered()

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        if self.work is None:
            return visible(self.url)
        return self.local.is_dir() or bool(self._delivered().keys() - {""})

    def is_symlink(self) -> bool:
        return self.work is not None and self.local.is_symlink()

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        if self.work is not None and self.local.exists():
            return self.local.stat(follow_symlinks=follow_symlinks)
        entry = file_at(self.url) if self.work is None else self._delivered().get("")
        if entry is not None:
            return _stat(stat.S_IFREG | 0o644, entry)
        if not self.is_dir():
            raise FileNotFoundError(2, "No such file or directory", str(self))
        return _stat(stat.S_IFDIR | 0o755, Entry(0, _identity(self.url)))

    def lstat(self) -> os.stat_result:
        return self.stat()

    def iterdir(self) -> Generator["Place", None, None]:
        if self.work is None:
            names = names_in(self.url)
        else:
            here = os.listdir(self.local) if self.local.is_dir() else []
            names = sorted({*here, *(name.partition("/")[0] for name in self._delivered())} - {""})
        yield from (self / name for name in names)

    def glob(self, pattern: str, **_: Any) -> Generator["Place", None, None]:
        found = _matching(self, [part for part in pattern.split("/") if part not in ("", ".")])
        folders = pattern.endswith("/")
        yield from (path for path in dict.fromkeys(found) if not folders or path.is_dir())

    def rglob(self, pattern: str, **_: Any) -> Generator["Place", None, None]:
        return self.glob(f"**/{pattern}")

    def open(self, mode: str = "r", *args: Any, **named: Any) -> IO[Any]:  # type: ignore[override]
        if self.work is None and set(mode) & set("wxa+"):
            raise BadInput.at(self, "cannot be written in a store; choose a folder of this machine")
        return open(os.fspath(self), mode, *args, **named)

    def mkdir(self, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
        """Stores have no folders, but for those that something is in."""
        if self.work is not None:
            self.local.mkdir(mode, parents or not self.local.parent.exists(), exist_ok)
        else:
            make_folder(self.local)

    def unlink(self, missing_ok: bool = False) -> None:
        if self.work is None:
            if not self.is_file() and not missing_ok:
                raise FileNotFoundError(2, "No such file or directory", str(self))
            removed(self.url)
            return
        there = "" in self._delivered()
        if there:
            delete([self.url])
            Staged.removed.add(self.url)
        self.local.unlink(missing_ok or there)

    def rmdir(self) -> None:
        if self.local.is_dir() or self.work is None:
            self.local.rmdir()

    def remove(self) -> None:
        """With all that is in it, here and in the store."""
        if self.work is None:
            removed(self.url)
        elif below(self.url):
            clear(self.url)
        if self.local.is_dir() and not self.local.is_symlink():
            shutil.rmtree(self.local, ignore_errors=True)
        else:
            self.local.unlink(missing_ok=True)

    def take_place(self, target: "Place") -> None:
        """What is half-written here becomes the target in the store, whole or not at all."""
        if self.local.is_file():
            published_file(self.local, target.url)
        else:
            published(self.local, self.url, target.url)
            shutil.rmtree(self.local, ignore_errors=True)

    def symlink_to(self, target: Any, target_is_directory: bool = False) -> None:
        self.local.symlink_to(fetched(target) if isinstance(target, Place) else target)

    def resolve(self, strict: bool = False) -> "Place":
        return self

    def absolute(self) -> "Place":
        return self

    def as_uri(self) -> str:
        return str(self)

    def chmod(self, mode: int, *, follow_symlinks: bool = True) -> None:
        self.local.chmod(mode)


def fetched(path: Path) -> Path:
    """A file, or a folder with all that is in it, on this machine."""
    if not isinstance(path, Place):
        return path
    for inner in path.rglob("*"):
        if inner.is_file():
            os.fspath(inner)
    return Path(os.fspath(path)) if path.is_file() else path.local


def _identity(url: str) -> int:
    """Of a folder: that of its marker, or of all that is in it."""
    found = listed(url)
    if FINISHED in found.files:
        return found.files[FINISHED].identity
    inner = tuple(sorted((name, _identity(f"{url}/{name}")) for name in found.folders))
    return hash((tuple(sorted(found.files.items())), inner)) % (1 << 60)


def _stat(mode: int, entry: Entry) -> os.stat_result:
    seconds = entry.identity // 10**9
    times = {f"st_{kind}time_ns": entry.identity for kind in "amc"}
    return os.stat_result((mode, entry.identity, 0, 1, 0, 0, entry.size, seconds, seconds, seconds), times)


def _matching(folder: Place, parts: list[str]) -> Iterator[Place]:
    if not parts:
        yield folder
        return
    first, *rest = parts
    if first == "**":
        yield from _matching(folder, rest) if rest else ()
        for inner in folder.iterdir():
            if inner.is_dir():
                yield from () if rest else (inner,)
                yield from _matching(inner, parts)
    elif first == ".." or not set(first) & set("*?["):
        inner = folder.parent if first == ".." else folder / first
        if not isinstance(inner, Place) or inner.exists():
            yield from _matching(inner, rest)
    elif folder.is_dir():
        for inner in folder.iterdir():
            if fnmatchcase(inner.name, first) and (not rest or inner.is_dir()):
                yield from _matching(inner, rest)
