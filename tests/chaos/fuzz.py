"""Damaged files: every reader takes them or refuses them in lines, soon, and leaves nothing half-written."""

import os
import shlex
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chaos.mutations import mutated
from chaos.readers import OUT, READERS, Reader
from worlds.commands import questree

LONGEST = 20.0  # seconds of processor time
HANGS = 120  # seconds on the clock after which it is interrupted
KEPT = Path(__file__).parent.parent / "data" / "chaos"  # READER/SEED/FILE: each is a test of tests/test_chaos.py
CODES = (0, 1, 2)
SAID = ("error: ", "warning: ", "note: ")


@dataclass(frozen=True)
class Failure:
    test: str
    input: str  # file and seed
    why: str


def fuzz(corpus: Path, name: str, seeds: range, kept: Path | None = None) -> Iterator[Failure | None]:
    """One item per damaged file of a reader; the corpus is whole again afterwards. Files that break it are kept."""
    reader = READERS[name]
    files = sorted({path for pattern in reader.files for path in corpus.glob(pattern) if path.is_file()})
    for seed in seeds:
        path = files[seed % len(files)]
        kind, damaged = mutated(path.read_bytes(), f"{name} {seed}")
        why = broken(corpus, reader, path, damaged)
        if why and kept:
            keep(kept / slug(name) / str(seed) / path.relative_to(corpus), damaged)
        yield Failure(name, f"{path.relative_to(corpus)}, seed {seed} ({kind})", why) if why else None


def broken(corpus: Path, reader: Reader, path: Path, damaged: bytes) -> str:
    """What is wrong with how a reader ends when a file of the corpus has other content."""
    whole = path.read_bytes()
    path.write_bytes(damaged)
    try:
        with unchanged(corpus / reader.writes, corpus.parent / "kept"):
            return tried(corpus, reader.command)
    finally:
        path.write_bytes(whole)


def slug(name: str) -> str:
    return name.replace(",", "").replace(" ", "-")


def kept_inputs() -> list[Path]:
    return sorted(path for path in KEPT.rglob("*") if path.is_file())


def keep(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@contextmanager
def unchanged(place: Path, kept: Path) -> Iterator[None]:
    """Afterwards what was there is there again, and nothing else."""
    if place.is_dir():
        shutil.copytree(place, kept)
    yield
    if place.is_dir():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
    if kept.is_dir():
        kept.rename(place)


@contextmanager
def alarmed(seconds: int) -> Iterator[None]:
    """What goes on for longer is stopped by an error."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"no end after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def printed() -> Iterator[list[bytes]]:
    """What arrives at the standard error of the process, past Python: known at the end."""
    found, kept = list[bytes](), os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield found
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            found += [data] if (data := file.read()) else []


def tried(corpus: Path, command: str) -> str:
    """What is wrong with how the command ended; nothing if all is well."""
    begin = time.process_time()
    try:
        with alarmed(HANGS), printed() as lines_of_libraries:
            done = questree(*shlex.split(command), folder=corpus)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frame = error.__traceback__
        while frame and frame.tb_next:
            frame = frame.tb_next
        place = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else ""
        return f"{type(error).__name__} at {place}: {str(error)[:200]}"
    if lines_of_libraries:
        return f"a library said {lines_of_libraries[0][:300]!r}"
    if time.process_time() - begin > LONGEST:
        return f"took {time.process_time() - begin:.0f} s"
    if done.returncode not in CODES:
        return f"exit code {done.returncode}"
    lines = done.stderr.splitlines()
    if done.returncode and not (lines and all(line.startswith((*SAID, "... and ", "  ")) for line in lines if line)):
        return f"said {done.stderr[:300]!r}"
    if done.returncode and (corpus / OUT).exists():
        return "left something where it writes"
    if left := [path for path in corpus.rglob(".*") if path.suffix in (".part", ".old")]:
        return f"left {left[0].relative_to(corpus)}"
    return ""
