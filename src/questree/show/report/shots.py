"""Pictures beside worked failures: a few of those that decide a question, as part of the file."""

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from questree.show.frames import SUFFIXES

Shot = tuple[str, str]  # what it is called, the picture as an address that holds it
FEW = 3  # of a question
MOST = 150_000  # bytes of a picture: a report is mailed


def spread_out(found: Sequence[tuple[str, Path]], few: int = FEW) -> list[tuple[str, Path]]:
    """The first, the last and some between."""
    if len(found) <= few:
        return list(found)
    return [found[round(at * (len(found) - 1) / (few - 1))] for at in range(few)]


def embedded(found: Sequence[tuple[str, Path]]) -> tuple[Shot, ...]:
    """A few of these files; those that are too large to be mailed are left out."""
    small = [(told, path) for told, path in found if path.stat().st_size <= MOST]
    return tuple((told, address(path)) for told, path in spread_out(small))


def address(path: Path) -> str:
    return f"data:{SUFFIXES[path.suffix]};base64,{b64encode(path.read_bytes()).decode('ascii')}"
