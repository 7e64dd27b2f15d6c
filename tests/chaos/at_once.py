"""Commands at once on one run: the second writer is refused by name, and readers see whole tables only."""

import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from chaos.fuzz import Failure
from chaos.kills import STAGES, content, made
from worlds import forked

PAIRS = (  # each writes a stage of one run, for which what is before it was made
    "augment run",
    "generate run --shard 1 --workers 1",
    "balance run",
    "split run --workers 1",
    "decompose run --workers 1 --train-set",
    "audit run --workers 1",
    "features run --from-facts",
)
READERS = ("show run --json -", "score run --model composition-noise --resamples 0 --json -")
WRITERS = ("augment run", "generate run --shard 1 --workers 1", "decompose run --workers 1 --train-set")


def two_writers(folder: Path) -> Iterator[Failure | None]:
    """One item per stage: while a command writes, the same one is refused and told who is there; two that are started
    at the same moment leave what one of them makes."""
    folder.mkdir(parents=True)
    for command in STAGES[: STAGES.index("audit run --workers 1") + 1]:
        made(folder, command)
    made(folder, "features run --from-facts")
    whole = content(folder)
    for command in PAIRS:
        why = _refused(folder, command) or _raced(folder, command, whole)
        yield Failure("two writers", command, why) if why else None


def _refused(folder: Path, command: str) -> str:
    """Somebody else holds the run, as the first command would."""
    hold = (
        "import sys, pathlib; from questree.tables.owners import writing\n"
        "with writing(pathlib.Path('run'), 'other'): print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = forked.questree(*shlex.split(command), folder=folder)
        other.communicate()
    said = done.stderr.strip()
    right = done.returncode == 1 and "`questree other` (process" in said and len(said.splitlines()) == 1
    return "" if right else f"beside another writer: exit code {done.returncode}, {said[:200]!r}"


def _raced(folder: Path, command: str, whole: dict[str, bytes]) -> str:
    """Two at once: one is done, the other is done or refused, and the run is as if one had been there."""
    line = [sys.executable, "-m", "questree", *shlex.split(command)]
    both = [subprocess.Popen(line, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)]
    ended = [(each.communicate()[1].decode(), each.returncode) for each in both]
    strange = [said for said, code in ended if code and not (code == 1 and "is writing here" in said)]
    if strange or all(code for _, code in ended):
        return f"two at once: {(strange or [ended[0][0]])[0][:200]!r}"
    other = [name for name, data in content(folder).items() if whole.get(name) != data]
    return f"after two at once {other[0]} is another" if other else ""


def readers_beside_writers(folder: Path, times: int = 5) -> Iterator[Failure | None]:
    """One item per look at a run while somebody makes its stages again: what is seen is what one sees without, or one
    line says that something is not there at that moment."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "run").is_dir():
        for command in STAGES[: STAGES.index("audit run --workers 1")]:
            made(folder, command)
    seen = {reader: forked.questree(*shlex.split(reader), folder=folder).stdout for reader in READERS}
    for writer in WRITERS:
        ended = threading.Event()
        work = threading.Thread(target=_again_and_again, args=(folder, writer, ended))
        work.start()
        try:
            for _ in range(times):
                for reader in READERS:
                    done = forked.questree(*shlex.split(reader), folder=folder)
                    why = _whole(done, seen[reader])
                    yield Failure(f"readers beside writers: {writer}", reader, why) if why else None
        finally:
            ended.set()
            work.join()


def _again_and_again(folder: Path, command: str, ended: threading.Event) -> None:
    line = [sys.executable, "-m", "questree", *shlex.split(command), "--quiet"]
    while not ended.is_set():
        subprocess.run(line, cwd=folder, check=True)


def _whole(done: "subprocess.CompletedProcess[str]", seen: str) -> str:
    if done.returncode == 0:
        return "" if done.stdout == seen else "saw something else"
    lines = done.stderr.strip().splitlines()
    right = done.returncode == 1 and len(lines) == 1 and lines[0].startswith("error: ")
    return "" if right else f"exit code {done.returncode}, {done.stderr[-300:]!r}"


def at_once(place: Path) -> Iterator[tuple[str, Iterator[Failure | None]]]:
    yield "two writers", two_writers(place / "writers")
    shutil.rmtree(place / "writers", ignore_errors=True)
    yield "readers beside writers", readers_beside_writers(place / "readers")
