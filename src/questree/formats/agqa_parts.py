"""A file of AGQA's questions in parts, so that no process reads all of it."""

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.benchmarks.agqa.records import AgqaRecord
from questree.faults import BadInput
from questree.formats.agqa_import import AskedText, scored_fields
from questree.formats.json_records import JsonPiece, JsonSpan, decoded, spans
from questree.tables.store import content, is_packed

BYTES = 1 << 25  # of a part
PACKED = 8  # times its size that a packed file is taken to hold


@dataclass(frozen=True)
class AgqaPart:
    """Some records of a file; small enough to send anywhere that sees it."""

    path: Path
    number: int = 0
    span: JsonSpan | None = None  # all of the file without

    def __str__(self) -> str:
        return f"{self.number:06d} of {self.path.name}"

    def asked(self) -> pl.DataFrame:
        """Columns of ASKED; an id that is there twice is the last one's."""
        return scored_fields(decoded(self.path, self._piece, AgqaRecord))

    def texts(self) -> pl.Series:
        """[question] its text, null if it has none."""
        found = [each.question for each in decoded(self.path, self._piece, AskedText).values()]
        return pl.Series(found, dtype=pl.String)

    @property
    def _piece(self) -> JsonPiece:
        return JsonPiece(content(self.path) if self.span is None else self.span.piece(self.path).text, 0)


def parts_of(path: Path) -> list[AgqaPart]:
    """A file that is packed, or that looks strange, is one part."""
    try:
        found = [] if is_packed(path) else [*enumerate(spans(path, BYTES))]
    except BadInput:  # whoever reads all of it says what is wrong
        found = []
    return [AgqaPart(path, number, span) for number, span in found] or [AgqaPart(path)]


def shards_of(path: Path, size: int) -> int:
    """How many shards its questions are dealt to, of about so many bytes of the file."""
    return -(-path.stat().st_size * (PACKED if is_packed(path) else 1) // size)
