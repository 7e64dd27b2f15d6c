"""Programs over scenes as files have them: records, or scenes and rows by number where all are written plainly."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from questree.columns.json_lists import JsonLists, json_lists
from questree.columns.json_values import Ints, NotPlain
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


class WrittenPrograms:
    """Programs as numbers of different scenes and rows; a record is made of one that is asked for."""

    def __init__(self, found: JsonLists):
        self.ids, self.scenes, self.rows = found.values, found.strings, found.objects
        (self.many_scenes, self.many_rows), (self.scene, self.row) = found.counts, found.items

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, at: int) -> ProgramRecord:
        scenes = [self.scenes[number] for number in _of(at, self.many_scenes, self.scene)]
        return RowsRecord(
            self.ids[at], scenes, program=[self.rows[number] for number in _of(at, self.many_rows, self.row)]
        )

    def __iter__(self) -> Iterator[ProgramRecord]:
        return map(self.__getitem__, range(len(self)))


Programs = list[ProgramRecord] | WrittenPrograms


def _of(at: int, many: Ints, items: Ints) -> list[int]:
    begin = int(many[:at].sum())
    found: list[int] = items[begin : begin + int(many[at])].tolist()
    return found


def read_programs(path: Path) -> Programs:
    """The records of a file; of one that is not even an object nothing."""
    text = content(path)
    try:
        return WrittenPrograms(json_lists(text, "id", "scenes", "program"))
    except NotPlain:
        pass
    try:
        return list[ProgramRecord](msgspec.json.decode(text, type=list[RowsRecord]))
    except UNREADABLE:
        pass  # one of them may be to blame
    try:
        records = msgspec.json.decode(text, type=list[msgspec.Raw])
    except UNREADABLE as error:
        raise BadInput.at(path, f"expected [{{id, scenes, program}}]; {error}") from error
    return [_record(raw) for raw in records]


def _record(raw: msgspec.Raw) -> ProgramRecord:
    try:
        return msgspec.json.decode(raw, type=ProgramRecord)
    except UNREADABLE:
        return ProgramRecord()
