"""A disk that is full at any moment: one line, nothing half-written, and with room again the same bytes."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from chaos.fuzz import SAID, Failure
from chaos.kills import BOOK, content, made
from worlds import forked

ROOMS = (0, 1 << 12, 1 << 14, 1 << 16)  # bytes that are left; none at all, then more and more
KEPT, HALF = "are kept", re.compile(r"(^|/)\.[^/]+\.part/")  # of finished shards it is said that they stay
NOTHING = b"[]"  # of a book without tables
DISK = 1 << 28  # bytes of a small disk


def full_disk(
    folder: Path, commands: Sequence[str], wanted: Sequence[str], rooms: Sequence[int] = ROOMS
) -> Iterator[tuple[str, Iterator[Failure | None]]]:
    """All commands are done one after the other; of those wanted one item per amount of room."""
    folder.mkdir(parents=True)
    kept = folder.with_name("kept")
    with small_disk(folder.with_name("disk")) as disk:
        for command in commands:
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            made(folder, command)
            if command in wanted:
                yield command, _rooms(kept, disk, command, rooms, content(folder))


def _rooms(
    kept: Path, disk: Path, command: str, rooms: Sequence[int], whole: dict[str, bytes]
) -> Iterator[Failure | None]:
    for room in rooms:
        why = _tried(kept, disk, command, room, whole)
        yield Failure("full disk", f"{command}, room for {room:,} bytes", why) if why else None


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of its own, where this is allowed; else a folder, in which files cannot grow."""
    place.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "questree-chaos", str(place)], capture_output=True
    ).returncode
    try:
        yield place
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)


def _tried(kept: Path, disk: Path, command: str, room: int, whole: dict[str, bytes]) -> str:
    again = disk / "work"
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(kept, again)
    before = content(again)
    with _filled(disk, room) as limited:
        done = _limited(command, again, room) if limited else forked.questree(*shlex.split(command), folder=again)
    if done.returncode == 0:
        return "" if content(again) == whole else "it says that all is well, and has not written everything"
    lines = done.stderr.strip().splitlines()  # one for each file that has no room, and which shards are kept
    if done.returncode != 1 or not lines or not all(line.startswith(SAID) for line in lines):
        return f"exit code {done.returncode}, said {done.stderr[-300:]!r}"
    kept_shards = KEPT in lines[-1]
    left = {
        name: data
        for name, data in content(again).items()
        if not (kept_shards and HALF.search(name))
        and (not name.endswith(BOOK) or data == NOTHING)  # a book has what was said so far
    }
    if other := sorted(name for name, data in left.items() if data not in (before.get(name), whole.get(name))):
        return f"{other[0]} is neither as before nor as afterwards"
    made(again, command)
    return "" if content(again) == whole else "with room again it makes other bytes"


@contextmanager
def _filled(disk: Path, room: int) -> Iterator[bool]:
    """Only so much room is left; or nothing is done about it, which is said."""
    filler = disk / "filler"
    if not os.path.ismount(disk):
        yield True
        return
    size = os.statvfs(disk)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(size.f_bavail * size.f_frsize - room, 1))
    try:
        yield False
    finally:
        filler.unlink()


def _limited(command: str, folder: Path, size: int) -> "subprocess.CompletedProcess[str]":
    """No file may grow beyond a size, which is what a full disk says of the next byte."""
    limits = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    line = [sys.executable, "-c", f"{limits}; {START}", *shlex.split(command)]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True)


START = (
    "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); sys.argv = ['questree', *sys.argv[1:]]; "
    "from questree.__main__ import process; process()"
)
