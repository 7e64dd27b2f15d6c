"""The same bytes whatever the number of workers and threads, the seed of hashes, the time zone, the language, the order
of records in source files and the version of Python."""

import csv
import json
import os
import pickle
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from chaos.fuzz import Failure
from chaos.kills import content

RAW = ("synth --out world --videos 6 --workers {workers}", "synth images --out pictures --images 30")
RAW_FILES = ("world/", "pictures/", "own/")
LINES = (
    "build world --out run --shard 2 --text --workers {workers}",
    "answer run --model composition-noise",
    "export agqa run --out agqa --workers {workers}",
    "export decomp run --out decomp --workers {workers}",
    "score run --model composition-noise --json scores.json",
    "build pictures --out sets --questions 60 --workers {workers}",
    "export covr sets --out covr",
    "build own/own_videos.json --out told --workers {workers}",
    "build own/album.json --out album --questions 20 --workers {workers}",
    "features run --from-facts",
    "features sets --from-facts",
    "import agqa agqa --out imported",
    "import decomp decomp --out imported",
    "export hf run --out hf",
    "export traces run --out traces",
    "export inspect run --out inspect",
    "export lmms-eval run --out lmms",
    "report run --out report.html --resamples 20",
)
LEARNED = ("train sets --model lstm --blind --epochs 1 --sample 8", "predict sets --model lstm-blind")
OWN = Path(__file__).parent.parent / "fixtures" / "own_videos.json"


@dataclass(frozen=True)
class Elsewhere:
    """Another way to make the same."""

    name: str
    environment: dict[str, str] = field(default_factory=dict)
    workers: int = 1
    turned: bool = False  # source files list everything in the opposite order
    python: str = sys.executable


ELSEWHERE = (
    Elsewhere("two workers", workers=2),
    Elsewhere("three workers", workers=3),
    Elsewhere("other hashes", {"PYTHONHASHSEED": "1"}),
    Elsewhere("random hashes", {"PYTHONHASHSEED": "random"}),
    Elsewhere("another time zone", {"TZ": "Asia/Kathmandu"}),
    Elsewhere("another language", {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    Elsewhere("no language", {"LC_ALL": "C"}),
    Elsewhere("one thread", {"POLARS_MAX_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}),
    Elsewhere("many threads", {"POLARS_MAX_THREADS": "8", "OMP_NUM_THREADS": "2"}),
    Elsewhere("another order", turned=True),
    # two of all ways, for those who have little time
    Elsewhere(
        "everything at once",
        {
            "PYTHONHASHSEED": "random",
            "TZ": "Asia/Kathmandu",
            "LC_ALL": "tr_TR.UTF-8",
            "LANG": "tr_TR.UTF-8",
            "POLARS_MAX_THREADS": "1",
            "NUMBA_NUM_THREADS": "1",
        },
        workers=3,
        turned=True,
    ),
    Elsewhere(
        "everything once more",
        {
            "PYTHONHASHSEED": "77",
            "TZ": "America/St_Johns",
            "LC_ALL": "C",
            "POLARS_MAX_THREADS": "8",
            "OMP_NUM_THREADS": "2",
        },
        workers=2,
    ),
)


def same(place: Path, pythons: Sequence[str] = (), only: Sequence[str] = ("",)) -> Iterator[Failure | None]:
    """One item per way to make it, and one per further Python."""
    lines = LINES + (LEARNED if find_spec("torch") and not pythons else ())  # other interpreters may be without
    known = made(place / "made", Elsewhere("here"), lines)
    unturned = {name: b"" if name.startswith(RAW_FILES) else data for name, data in known.items()}
    others = [Elsewhere(f"Python {python}", python=python) for python in pythons]
    for how in (each for each in (*ELSEWHERE, *others) if each.name.startswith(tuple(only))):
        found = made(place / "made", how, lines)
        wanted = unturned if how.turned else known
        other = sorted(file for file in wanted.keys() | found.keys() if wanted.get(file) != found.get(file))
        yield Failure("sameness", how.name, f"{len(other)} files differ: {', '.join(other)}") if other else None


def made(folder: Path, how: Elsewhere, lines: Sequence[str]) -> dict[str, bytes]:
    """All files of a benchmark of videos and one of images; of raw files their names, as their order may be another."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _run(folder, how, RAW)
    own(folder)
    if how.turned:
        turn(folder)
    _run(folder, how, lines)
    return {name: b"" if how.turned and name.startswith(RAW_FILES) else data for name, data in content(folder).items()}


def _run(folder: Path, how: Elsewhere, lines: Sequence[str]) -> None:
    for line in lines:
        command = [how.python, "-m", "questree", *shlex.split(line.format(workers=how.workers)), "--quiet"]
        subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONHASHSEED": "0"} | how.environment, check=True)


def own(folder: Path) -> None:
    """Videos and images in our JSON format, the images those of the made-up world."""
    (folder / "own").mkdir()
    shutil.copy(OWN, folder / "own")
    scenes = json.loads((folder / "pictures" / "train_sceneGraphs.json").read_text())
    album = [
        {"id": image, "things": [{"id": id, "name": thing["name"]} for id, thing in scene["objects"].items()]}
        for image, scene in scenes.items()
    ]
    (folder / "own" / "album.json").write_text(json.dumps({"images": album}))


def turn(folder: Path) -> None:
    """Tables, objects and pickled dicts of source files in the opposite order."""
    for path in (folder / "world").glob("Charades*.csv"):
        with path.open(newline="") as file:
            head, *rows = csv.reader(file)
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([head, *reversed(rows)])
    for path in (folder / "world").glob("*.pkl"):
        with path.open("rb") as file:
            whole = pickle.load(file)
        path.write_bytes(pickle.dumps(dict(reversed(whole.items()))))
    for path in (folder / "pictures").glob("*.json"):
        path.write_text(json.dumps(dict(reversed(json.loads(path.read_text()).items()))))
    for path in (folder / "own").glob("*.json"):
        whole = json.loads(path.read_text())
        path.write_text(json.dumps({name: records[::-1] for name, records in whole.items()}))
