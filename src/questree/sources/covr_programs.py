"""Programs over scenes as files have them."""

from pathlib import Path
from typing import Any

import msgspec

from questree.faults import UNREADABLE, BadInput
from questree.tables.store import content


class ProgramRecord(msgspec.Struct):
    """One program as it is in the file; anything may be wrong with it."""

    id: Any = None
    scenes: Any = None
    program: Any = None  # rows, or a list of their JSON

    @property
    def rows(self) -> Any:
        """The program, decoded; nothing if it is no text in UTF-8."""
        if type(self.program) is not list:
            return self.program
        try:
            return [msgspec.json.decode(row) if type(row) is msgspec.Raw else row for row in self.program]
        except UNREADABLE:
            return None


class RowsRecord(ProgramRecord, kw_only=True):
    """One whose program is a list."""

    program: list[msgspec.Raw]


def read_programs(path: Path) -> list[ProgramRecord]:
    """The records of a file, equal rows shared; of one that is not even an object nothing."""
    try:
        records = msgspec.json.decode(content(path), type=list[msgspec.Raw])
    except UNREADABLE as error:
        raise BadInput.at(path, f"expected [{{id, scenes, program}}]; {error}") from error
    rows, decoder = SharedRows(), msgspec.json.Decoder(RowsRecord)
    return [_record(raw, decoder, rows) for raw in records]


class SharedRows(dict[bytes, msgspec.Raw]):
    """Rows by their JSON: few of them differ."""

    def __missing__(self, text: bytes) -> msgspec.Raw:
        self[text] = row = msgspec.Raw(text)
        return row


def _record(raw: msgspec.Raw, decoder: msgspec.json.Decoder[RowsRecord], rows: SharedRows) -> ProgramRecord:
    try:
        found = decoder.decode(raw)
        found.program = [rows[bytes(row)] for row in found.program]
        return found
    except UNREADABLE:
        pass
    try:
        return msgspec.json.decode(raw, type=ProgramRecord)
    except UNREADABLE:
        return ProgramRecord()
