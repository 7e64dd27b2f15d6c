"""Markers that say what is whole: the digests of the files of a folder, or of one file that was put alone."""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from questree.faults import BadInput
from questree.places.seen import FINISHED, listed
from questree.places.stores import get_bytes

PIECE = 1 << 22  # bytes read at once


def digest(path: Path) -> str:
    found = blake2b(digest_size=16)
    with open(path, "rb") as file:
        while piece := file.read(PIECE):
            found.update(piece)
    return found.hexdigest()


def marker(digests: Mapping[str, Iterable[str]]) -> bytes:
    """Name -> digests of content that is whole; several while one takes the place of another."""
    return json.dumps({"files": {name: list(own) for name, own in sorted(digests.items())}}).encode() + b"\n"


def read_marker(url: str, data: bytes) -> dict[str, list[str]]:
    try:
        return {str(name): list(own) for name, own in json.loads(data)["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise BadInput.at(url, "expected a marker of a finished folder, got something else") from None


def marker_of_file(url: str) -> str:
    folder, _, name = url.rpartition("/")
    return f"{folder}/.{name}{FINISHED}"


def digests_of(url: str) -> list[str]:
    """Digests one of which the file must have; none if nobody says: somebody else's file."""
    folder, _, name = url.rpartition("/")
    there = listed(folder).files
    for marked in (f".{name}{FINISHED}", FINISHED):
        if marked in there:
            own = _known(f"{folder}/{marked}", there[marked].identity).get(name)
            if own:
                return own
    return []


@lru_cache(maxsize=1024)
def _known(url: str, identity: int) -> dict[str, list[str]]:
    return read_marker(url, get_bytes(url) or b"")
