"""The same commands on this machine's disk and at a URL: what they write, file by file."""

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
import agqa AT/agqa --out AT/read
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
