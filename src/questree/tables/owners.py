"""Who writes where: what is half-written belongs to a process, and one command at a time makes the stages of a run."""

import ctypes
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT
from pathlib import Path
from typing import ClassVar

from questree.faults import BadInput
from questree.places import Place
from questree.places.lease import Held, lease
from questree.places.seen import WRITING, is_marker

try:
    import fcntl
except ImportError:  # a system without: nothing can be told about owners, so nothing is taken for left behind
    fcntl = None  # type: ignore[assignment]

PART, OLD = ".part", ".old"
HERE, EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE


@contextmanager
def part(target: Path, folder: bool) -> Iterator[Path]:
    """A new hidden file or folder beside `target` for this process to fill; gone at the end, unless it was renamed."""
    try:
        make_room(target.parent)
        sweep(target)
        work, handle = _own(target, folder)
    except OSError as error:
        raise BadInput.at(target, f"cannot be written ({error.strerror})") from error
    try:
        yield work
    finally:
        remove(_renamed(work))
        _let_go(handle)


def make_room(folder: Path) -> None:
    """A folder, unless it is there; not inside a half-written one that is gone: the command has ended which wanted it,
    and a worker elsewhere does not know yet."""
    for above in (folder, *folder.parents):
        if is_half_written(above) and not isinstance(above, Place) and not above.is_dir():
            raise FileNotFoundError(ENOENT, "No longer wanted")
    folder.mkdir(parents=True, exist_ok=True)


def is_half_written(path: Path) -> bool:
    return path.name.startswith(".") and path.suffix in (PART, OLD)


def _renamed(work: Path) -> Path:
    """A folder that is to be removed, where nobody who is still at work in it makes anything new."""
    gone = work.with_name(f"{work.stem}-gone{PART}")
    if isinstance(work, Place) or not work.is_dir():
        return work
    with suppress(OSError):
        return work.rename(gone)
    return work


def _own(target: Path, folder: bool) -> tuple[Path, int]:
    while True:
        if folder:
            name = tempfile.mkdtemp(PART, f".{target.name}.", target.parent)
        else:
            opened, name = tempfile.mkstemp(PART, f".{target.name}.", target.parent)
            os.close(opened)
        work = type(target)(name)
        handle = _locked(work, wait=True)
        if handle is not None and work.exists():  # else it was swept before we had it
            return work, handle
        _let_go(handle)


def present(folder: Path) -> list[Path]:
    """What is in a folder, in order, but for what is half-written and markers that came with a copy out of a store;
    nothing if there is no folder."""
    there = [path for path in sorted(folder.iterdir()) if not is_marker(path.name)] if folder.is_dir() else []
    return [path for path in there if not is_half_written(path)]


def sweep(target: Path) -> None:
    """Remove what killed processes left beside `target` while they made it."""
    with suppress(OSError):
        drawn = re.compile(rf"\.{re.escape(target.name)}\.[^.]+({re.escape(PART)}|{re.escape(OLD)})")
        for name in filter(drawn.fullmatch, os.listdir(target.parent)):
            _swept(target.parent / name, target)


def _swept(left: Path, target: Path) -> None:
    if (handle := _locked(left, wait=False)) is not None:
        if left.suffix == OLD and not target.exists():  # killed between the two names of `take_place`
            left.rename(target)
        remove(left)
        _let_go(handle)


def remove(path: Path) -> None:
    """A file or a folder with all that is in it, if it is there."""
    if isinstance(path, Place):
        path.remove()
    elif path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def take_place(work: Path, target: Path) -> None:
    """`work` becomes `target`, at any moment one of the two is there whole; what was there is removed."""
    if isinstance(target, Place) and isinstance(work, Place) and target.work is None:
        work.take_place(target)
        return
    if work.is_file() or not target.exists():
        work.replace(target)
        return
    old = work.with_name(f".{target.name}.{os.getpid()}{OLD}")
    if _exchange(work, target):
        work.rename(old)
    else:
        target.rename(old)
        work.rename(target)
    remove(old)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step, where the system can."""
    try:
        swap = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    return not swap(HERE, os.fsencode(one), HERE, os.fsencode(other), EXCHANGE)


def _locked(path: Path, wait: bool) -> int | None:
    """A handle with the lock of a file or folder; none if it is another's, or gone."""
    if fcntl is None:
        return -1 if wait else None
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if wait and not isinstance(error, BlockingIOError):
            return handle  # a file system without locks
        os.close(handle)
        return None
    return handle


def _let_go(handle: int | None) -> None:
    if handle is not None and handle >= 0:
        os.close(handle)


def writer(run: Path) -> str:
    """Who makes stages of a run at this moment: "`questree generate` (process 7 on here)"; empty if nobody does."""
    if fcntl is None or (handle := _locked(run / WRITING, wait=False)) is None:
        with suppress(OSError):
            return (run / WRITING).read_text("utf-8", "replace")
        return ""
    _let_go(handle)
    return ""


class Writing:
    """Runs in which this process writes."""

    now: ClassVar[set[Path]] = set()


@contextmanager
def writing(run: Path, what: str) -> Iterator[None]:
    """Only one command at a time makes stages of a run; another is refused and told who is there."""
    place = run.resolve()
    if isinstance(place, Place) and place not in Writing.now and place.work is None and place.is_dir():
        with _leased(place, what):
            yield
        return
    if fcntl is None or place in Writing.now or not place.is_dir():  # what is not there yet is made beside it
        yield
        return
    file = place / WRITING
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadInput.at(run, f"cannot be written ({error.strerror})") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.pread(handle, 200, 0).decode("utf-8", "replace") or "another command"
            raise BadInput.at(run, f"{who} is writing here; wait until it ends") from None
        except OSError:  # a file system without locks
            pass
        if not file.exists() or os.fstat(handle).st_ino != file.stat().st_ino:  # the last writer just took it away
            with writing(run, what):
                yield
            return
        Writing.now.add(place)
        try:
            _sign(handle, run, what)
            yield
        finally:
            Writing.now.discard(place)
            file.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _sign(handle: int, run: Path, what: str) -> None:
    """Say in the file of a run's lock who has it."""
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, _called(what).encode(), 0)
    except OSError as error:
        raise BadInput.at(run, f"cannot be written ({error.strerror})") from error


def _called(what: str) -> str:
    return f"`questree {what}` (process {os.getpid()} on {socket.gethostname()})"


@contextmanager
def _leased(run: Place, what: str) -> Iterator[None]:
    """The same for a run in a store."""
    try:
        with lease(f"{run.url}/{WRITING}", _called(what)):
            Writing.now.add(run)
            try:
                yield
            finally:
                Writing.now.discard(run)
    except Held as other:
        raise BadInput.at(run, f"{other.who} is writing here; wait until it ends") from None
