"""Damaged files: every reader takes them or refuses them in lines, soon, and leaves nothing half-written."""

import shlex
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from chaos.mutations import mutated
from chaos.readers import OUT, READERS
from worlds.commands import questree

LONGEST = 20.0  # seconds
CODES = (0, 1, 2)
SAID = ("error: ", "warning: ", "note: ")


@dataclass(frozen=True)
class Failure:
    test: str
    input: str  # file and seed
    why: str


def fuzz(corpus: Path, name: str, seeds: range) -> Iterator[Failure]:
    """Failures of one reader; the corpus is whole again afterwards."""
    reader = READERS[name]
    files = sorted({path for pattern in reader.files for path in corpus.glob(pattern) if path.is_file()})
    for seed in seeds:
        path = files[seed % len(files)]
        whole = path.read_bytes()
        kind, damaged = mutated(whole, f"{name} {seed}")
        path.write_bytes(damaged)
        try:
            with unchanged(corpus / reader.writes, corpus.parent / "kept"):
                why = tried(corpus, reader.command)
        finally:
            path.write_bytes(whole)
        if why:
            yield Failure(name, f"{path.relative_to(corpus)}, seed {seed} ({kind})", why)


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


def tried(corpus: Path, command: str) -> str:
    """What is wrong with how the command ended; nothing if all is well."""
    begin = time.monotonic()
    try:
        done = questree(*shlex.split(command), folder=corpus)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frame = error.__traceback__
        while frame and frame.tb_next:
            frame = frame.tb_next
        place = f"{Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno}" if frame else ""
        return f"{type(error).__name__} at {place}: {str(error)[:200]}"
    if time.monotonic() - begin > LONGEST:
        return f"took {time.monotonic() - begin:.0f} s"
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
