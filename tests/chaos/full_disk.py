"""A disk that is full at any moment: one line, nothing half-written, and with room again the same bytes."""

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from chaos.fuzz import Failure
from chaos.kills import STAGES, content, made

SIZES = (0, 1 << 10, 1 << 13, 1 << 16)  # bytes a file may have; none at all, then more and more


def full_disk(folder: Path) -> Iterator[Failure | None]:
    """One item per command and size: no file may grow beyond it, which is what a full disk says of the next byte."""
    folder.mkdir(parents=True)
    for command in STAGES:
        kept = folder.with_name("kept")
        shutil.rmtree(kept, ignore_errors=True)
        shutil.copytree(folder, kept)
        made(folder, command)
        whole = content(folder)
        for size in SIZES:
            why = _tried(kept, folder.with_name("again"), command, size, whole)
            yield Failure(f"full disk: {command.split(' --')[0]}", f"files of {size:,} bytes", why) if why else None


def _tried(kept: Path, again: Path, command: str, size: int, whole: dict[str, bytes]) -> str:
    shutil.rmtree(again, ignore_errors=True)
    shutil.copytree(kept, again)
    before = content(again)
    limits = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))"
    line = [sys.executable, "-c", f"{limits}; {START}", *shlex.split(command)]
    done = subprocess.run(line, cwd=again, capture_output=True, text=True)
    if done.returncode == 0:
        return "" if content(again) == whole else "it says that all is well, and has not written everything"
    if done.returncode != 1 or len(done.stderr.strip().splitlines()) != 1 or not done.stderr.startswith("error: "):
        return f"exit code {done.returncode}, said {done.stderr[-300:]!r}"
    if other := sorted(
        name for name, data in content(again).items() if data not in (before.get(name), whole.get(name))
    ):
        return f"{other[0]} is neither as before nor as afterwards"
    made(again, command)
    return "" if content(again) == whole else "with room again it makes other bytes"


START = (
    "import signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); sys.argv = ['questree', *sys.argv[1:]]; "
    "from questree.__main__ import process; process()"
)
