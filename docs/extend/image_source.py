"""A source of images: `questree ingest captions FOLDER --out RUN` reads `red cup on table` as two things.

`--set width=800` says how wide the images are.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from questree.plugins import source


@source("captions", says="Text files: one image each, a line like `red cup on table`.", medium="images")
def read(folder: Path, width: int = 640, height: int = 480) -> Iterator[dict[str, Any]]:
    """Yield one record per image, in the form of docs/images.md."""
    for file in sorted(folder.glob("*.txt")):
        things: dict[str, dict[str, Any]] = {}
        for line in file.read_text("utf-8").splitlines():
            colour, name, relation, other = line.split()
            things.setdefault(other, {"id": other, "name": other})
            things[name] = {
                "id": name,
                "name": name,
                "attributes": [colour],
                "relations": [{"name": relation, "object": other}],
            }
        yield {"id": file.stem, "width": width, "height": height, "things": list(things.values())}
