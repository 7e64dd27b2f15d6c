"""The same commands on this machine's disk and at a URL: what they write, file by file."""

import subprocess
import sys
from hashlib import blake2b
from pathlib import Path

from questree.places import Place, path_of
from worlds.commands import questree

VIDEOS = """
synth --out AT/world --videos 4 --seed 3
ingest action-genome AT/world --out AT/run
augment AT/run
generate AT/run --shard 2 --rare-below 1
balance AT/run
split AT/run
decompose AT/run
answer AT/run --model perception-noise --noise 0.3
score decomp AT/run --resamples 0 --json AT/scores.json --csv AT/scores.csv
audit AT/run
report AT/run --out AT/report.html --resamples 0
export agqa AT/run --out AT/agqa
export decomp AT/run --out AT/decomp
import agqa AT/agqa --out AT/read --facts AT/agqa
verify AT/run
"""
IMAGES = """
synth images --out AT/world --images 60 --seed 4
ingest gqa AT/world --out AT/run
generate AT/run --questions 12
balance AT/run
split AT/run
decompose AT/run
answer AT/run --model perception-noise --noise 0.3
score decomp AT/run --resamples 0 --json AT/scores.json
report AT/run --out AT/report.html --resamples 0
export covr AT/run --out AT/covr
verify AT/run
"""


def carried_out(lines: str, at: object) -> None:
    """Every command, at a folder or a URL; one that fails says which."""
    for line in lines.strip().splitlines():
        words = line.replace("AT", str(at)).split()
        done = questree(*words, "--quiet")
        assert done.returncode == 0, f"questree {line}\n{done.stdout}{done.stderr}"


def content(at: object) -> dict[str, str]:
    """Name of every file below -> digest of its content; times and addresses in reports aside."""
    folder = path_of(str(at))
    return {name(path, folder): told(path, folder) for path in sorted(folder.rglob("*")) if path.is_file()}


def name(path: Path, folder: Path) -> str:
    return str(path)[len(str(folder)) + 1 :] if isinstance(folder, Place) else path.relative_to(folder).as_posix()


def told(path: Path, folder: Path) -> str:
    return blake2b(path.read_bytes().replace(str(folder).encode(), b"AT"), digest_size=8).hexdigest()


KILLED = """
import os, signal, sys
import s3fs
changes, last, inner = 0, int(sys.argv[1]), s3fs.S3FileSystem._call_s3
async def call(store, method, *args, **named):
    global changes
    changes += method in ("put_object", "delete_objects", "delete_object", "copy_object")
    if changes == last:
        os.kill(os.getpid(), signal.SIGKILL)
    return await inner(store, method, *args, **named)
s3fs.S3FileSystem._call_s3 = call
from questree.__main__ import main
sys.argv[1:] = sys.argv[2:]
main()
"""


def killed(change: int, *words: object) -> bool:
    """`questree WORDS` in a process of its own, killed before its n-th change of a store; False if it ended before."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(change), *map(str, words)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode in (0, -9), done.stderr
    return done.returncode == -9
