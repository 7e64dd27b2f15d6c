"""What leaves the house, as digests: commands as users type them, and every file they write outside of run folders.

`make golden` records `digests.json` anew, after a change that CHANGELOG.md names. A record's digest does not depend on
the order of its keys, a file's not on that of its records.
"""

import gzip
import json
import tempfile
import tomllib
from hashlib import sha256
from pathlib import Path
from typing import Any

from worlds.commands import run

HERE = Path(__file__).parent
SCENARIOS: dict[str, list[str]] = tomllib.loads((HERE / "scenarios.toml").read_text("utf-8"))
DIGESTS = HERE / "digests.json"
SMALL = ("videos", "images")  # scenarios that `make test` runs
MANY = 12  # files of a folder, beyond which they have one digest together
RESAMPLED = {"low", "high", "p", "q", "difference_low", "difference_high"}  # they depend on the order of what is drawn


def records_of(path: Path) -> list[Any]:
    """A JSON document's entries, or the lines of a text; of a pickle its bytes."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if path.suffix == ".pkl":
        return [content.hex()]
    text = content.decode("utf-8")
    try:
        document = json.loads(text)
    except ValueError:
        return [json.loads(line) if path.suffix == ".jsonl" else line for line in text.splitlines()]
    return [*document.items()] if isinstance(document, dict) else document


def without_resampled(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_resampled(each) for key, each in value.items() if key not in RESAMPLED}
    return [*map(without_resampled, value)] if isinstance(value, list | tuple) else value


def digest_of(path: Path) -> str:
    """Number of records, and their digest."""
    lines = sorted(json.dumps(without_resampled(record), sort_keys=True) for record in records_of(path))
    return f"{len(lines)} {short_digest(lines)}"


def short_digest(lines: list[str]) -> str:
    return sha256("\n".join(lines).encode()).hexdigest()[:20]


def scenario_digests(name: str) -> dict[str, str]:
    """Path -> digest of what a scenario's commands write to the folder `out`; runs and raw files lie elsewhere.

    A folder of many files, as of a file per video, has one digest.
    """
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        for line in SCENARIOS[name]:
            run(f"questree {line} --quiet", place)
        found, out = dict[str, str](), place / "out"
        for folder in sorted(path for path in [out, *out.rglob("*")] if path.is_dir()):
            files = sorted(path for path in folder.iterdir() if path.is_file())
            digests = {str(path.relative_to(out)): digest_of(path) for path in files}
            lines = [f"{path} {digest}" for path, digest in digests.items()]
            many = {f"{folder.relative_to(out)}/": f"{len(lines)} files {short_digest(lines)}"}
            found |= digests if len(lines) <= MANY else many
        return found


def main() -> None:
    found = {name: scenario_digests(name) for name in SCENARIOS}
    DIGESTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
