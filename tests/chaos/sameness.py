"""The same bytes whatever the number of workers and threads, the seed of hashes, the time zone and the language."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from chaos.fuzz import Failure
from chaos.kills import content

LINES = (
    "synth --out world --videos 6 --workers {workers}",
    "build world --out run --shard 2 --text --workers {workers}",
    "answer run --model composition-noise",
    "export agqa run --out agqa --workers {workers}",
    "export decomp run --out decomp --workers {workers}",
    "score run --model composition-noise --json scores.json",
    "synth images --out pictures --images 30",
    "build pictures --out sets --questions 60 --workers {workers}",
    "export covr sets --out covr",
)
ELSEWHERE: dict[str, dict[str, str]] = {  # how it is run -> environment
    "two workers": {"workers": "2"},
    "three workers": {"workers": "3"},
    "other hashes": {"PYTHONHASHSEED": "1"},
    "random hashes": {"PYTHONHASHSEED": "random"},
    "another time zone": {"TZ": "Asia/Kathmandu"},
    "another language": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "no language": {"LC_ALL": "C"},
    "one thread": {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
    "many threads": {"POLARS_MAX_THREADS": "8"},
}


def made(folder: Path, workers: str = "1", **environment: str) -> dict[str, bytes]:
    """All files of a benchmark of videos and one of images."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for line in LINES:
        command = [sys.executable, "-m", "questree", *shlex.split(line.format(workers=workers)), "--quiet"]
        subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONHASHSEED": "0"} | environment, check=True)
    return content(folder)


def same(place: Path) -> Iterator[Failure | None]:
    """One item per way to run it."""
    known = made(place / "made")
    for name, how in ELSEWHERE.items():
        found = made(place / "made", **how)
        other = sorted(file for file in known.keys() | found.keys() if known.get(file) != found.get(file))
        yield Failure("sameness", name, f"{len(other)} files differ: {', '.join(other[:3])}") if other else None
