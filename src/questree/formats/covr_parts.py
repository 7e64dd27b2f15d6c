"""Files of COVR's records in parts, whole lines or members of a JSON list, so that no process reads all of a file."""

from codecs import BOM_UTF8
from dataclasses import dataclass
from pathlib import Path

import msgspec

from questree.faults import UNREADABLE, BadInput
from questree.formats.json_records import LIST, spans
from questree.sources.covr import WANTED, CovrRecord, read_lines, read_records
from questree.sources.own_parts import line_spans
from questree.tables.store import is_packed

BYTES = 1 << 23  # of a part
HEAD = 1 << 12  # bytes in which a file shows what it is


@dataclass(frozen=True)
class CovrPart:
    """Some records of a file; small enough to send anywhere that sees it."""

    path: Path
    split: str
    span: tuple[int, int] | None = None  # begin and end in bytes; all of the file without
    listed: bool = False  # are they members of a list? if not, lines

    def __str__(self) -> str:
        return f"{self.split}-{self.span[0] if self.span else 0}"

    def records(self) -> list[CovrRecord]:
        if self.span is None:
            return read_records(self.path)
        with self.path.open("rb") as file:
            file.seek(self.span[0])
            text = file.read(self.span[1] - self.span[0])
        if not self.listed:
            return read_lines(self.path, text if self.span[0] else text.removeprefix(BOM_UTF8))
        try:
            return msgspec.json.decode(b"[" + text + b"]", type=list[CovrRecord])
        except UNREADABLE as error:
            raise BadInput.at(self.path, f"expected {WANTED}; {error}") from error


def parts_of(path: Path, split: str) -> list[CovrPart]:
    """A large file in parts; one that is packed, or that looks strange, is one part."""
    size, whole = path.stat().st_size, [CovrPart(path, split)]
    if size <= BYTES or is_packed(path):
        return whole
    with path.open("rb") as file:
        head = file.read(HEAD)
    if not head.strip():
        return whole
    if head.removeprefix(BOM_UTF8).lstrip()[:1] != b"[":
        return [CovrPart(path, split, span) for span in line_spans(path, size, BYTES)]
    try:
        return [CovrPart(path, split, span[:2], True) for span in spans(path, BYTES, LIST)]
    except BadInput:  # whoever reads all of it says what is wrong
        return whole
