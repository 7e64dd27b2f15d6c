"""A source: `questree ingest shopping-list FOLDER --out RUN` reads text files, one video each.

A line is `second: object relation, relation ...`:

    0.5: cup holding, in front of
    2.0: cup drinking from
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from questree.plugins import source


@source("shopping-list", says="Text files: one video each, a line per second and object.", sign="*.frames.txt")
def read(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield one record per video, in the form of docs/ingest.md; questree checks it and names what is wrong."""
    for number, file in enumerate(sorted(folder.glob("*.frames.txt"))):
        frames: dict[float, list[dict[str, Any]]] = {}
        for line in file.read_text("utf-8").splitlines():
            second, _, rest = line.partition(":")
            name, _, relations = rest.strip().partition(" ")
            thing = {"class": name, "relations": [each.strip() for each in relations.split(",")]}
            frames.setdefault(float(second), []).append(thing)
        yield {
            "id": file.name.removesuffix(".frames.txt"),
            "split": "test" if number % 4 == 3 else "train",
            "frames": [
                {"number": round(30 * second), "seconds": second, "objects": things}
                for second, things in sorted(frames.items())
            ],
        }
