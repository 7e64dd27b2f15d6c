"""Results as JSON files that are there whole or not at all."""

from pathlib import Path
from typing import Any

import msgspec

from questree.tables.store import new_file


def as_json(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def write_json(path: Path, value: Any) -> None:
    with new_file(path) as work:
        work.write_bytes(as_json(value))
