"""Commands killed before every operation on files: nothing is damaged, a rerun gives the same bytes, no litter."""

import shlex
import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

from chaos.fuzz import Failure
from worlds import forked

LEARNED = (
    "train sets --model lstm --blind --epochs 1 --sample 8",
    "predict sets --model lstm-blind",
    "experiment covr sets --models lstm --splits has-quant --epochs 1 --sample 8 --resamples 2 --workers 1",
    "experiment fpvg sets --epochs 1 --sample 8 --resamples 2 --workers 1",
)
STAGES = (  # each begins with what the ones before it wrote
    "synth --out world --videos 2 --workers 1",
    "ingest action-genome world --out run",
    "augment run",
    "generate run --shard 1 --workers 1",
    "balance run",
    "split run --workers 1",
    "decompose run --workers 1 --train-set",
    "answer run --model composition-noise",
    "score run --model composition-noise --resamples 0 --json scores.json",
    "audit run --workers 1",
    "report run --out report.html --resamples 0",
    "export agqa run --out agqa --workers 1",
    "export decomp run --out decomp --workers 1",
    "import agqa agqa --out imported",
    "import decomp decomp --out imported",
    "synth images --out pictures --images 30",
    "ingest gqa pictures --out sets",
    "generate sets --questions 40 --workers 1",
    "balance sets",
    "split sets --workers 1",
    "decompose sets --workers 1",
    "answer sets --model perception-noise",
    "export covr sets --out covr",
    "ingest gqa --out theirs pictures",
    "import covr covr --out theirs --workers 1",
    "ask run --python worlds.talker:yes --name talker --questions 2 --no-media",
    "people new run --sample 4 --gold 0 --split all",
    "people simulate run",
    "people export run --out people.csv",
    "features run --from-facts",
    *(LEARNED if find_spec("torch") else ()),
)
SIGNALS = {"killed": signal.SIGKILL, "terminated": signal.SIGTERM, "interrupted": signal.SIGINT}


BOOK, BESIDE = ".sqlite", (".sqlite-wal", ".sqlite-shm")
OF_THE_MOMENT = ("token", "since", "seconds", "at")  # columns of books that differ whenever they are written


def content(folder: Path) -> dict[str, bytes]:
    """Path -> bytes; of books of answers what is written in them."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.name.endswith(BESIDE)]
    return {
        str(path.relative_to(folder)): written(path) if path.suffix == BOOK else path.read_bytes() for path in files
    }


def written(book: Path) -> bytes:
    """All rows of a book, but for moments and secrets."""
    found = list[object]()
    with closing(sqlite3.connect(book)) as file:
        for (table,) in file.execute("select name from sqlite_master where type = 'table' order by name").fetchall():
            columns = [row[1] for row in file.execute(f"pragma table_info({table})")]
            kept = ", ".join(name for name in columns if name not in OF_THE_MOMENT)
            found.append((table, sorted(map(repr, file.execute(f"select {kept} from {table}")))))
    return repr(found).encode()


def made(folder: Path, command: str) -> None:
    """The command is done in a folder, and nobody kills it."""
    done = forked.questree(*shlex.split(command), folder=folder)
    assert done.returncode == 0, f"{command}: {done.stderr}"


def kill_points(folder: Path, command: str, how: str, every: int = 1, first: int = 1) -> Iterator[Failure | None]:
    """One item per point: what went wrong there, or nothing. Afterwards the command is done in `folder`."""
    words, kept = shlex.split(command), folder.with_name("kept")
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(folder, kept)
    before = content(folder)
    made(folder, command)
    whole, again = content(folder), folder.with_name("again")
    at = first
    while True:
        shutil.rmtree(again, ignore_errors=True)
        shutil.copytree(kept, again)
        done = forked.questree(*words, folder=again, killed_at=at, by=SIGNALS[how])
        if done.returncode == 0 and content(again) == whole:  # it has fewer operations than that
            break
        why = _after(again, words, before, whole, done.stderr)
        yield Failure(f"{command.split(' --')[0]}, {how}", f"operation {at}", why) if why else None
        at += every
    shutil.rmtree(again)
    shutil.rmtree(kept)


def _after(folder: Path, words: list[str], before: dict[str, bytes], whole: dict[str, bytes], said: str) -> str:
    """What is wrong after a command was killed; nothing if all is well."""
    if "Traceback" in said:
        return said.strip().splitlines()[-1]
    for name, data in content(folder).items():
        half = any(part.startswith(".") for part in Path(name).parts) or name.endswith(BOOK)
        if not half and data not in (before.get(name), whole.get(name)):
            return f"{name} is neither as before nor as afterwards"
    done = forked.questree(*words, folder=folder)
    now = content(folder)
    if done.returncode and not (now == whole and "already" in done.stderr):
        return f"the rerun says {done.stderr.strip()[:200]}"
    if now != whole:
        other = sorted(name for name in now.keys() | whole.keys() if now.get(name) != whole.get(name))
        return f"after the rerun {other[0]} is {'left' if other[0] not in whole else 'another'}"
    return ""
