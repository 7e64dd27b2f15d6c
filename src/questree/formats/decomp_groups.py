"""A folder of hierarchies in groups of files, to be scored by workers; isolated questions are dealt to their videos."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec

from questree.faults import BadInput, Fault, refuse
from questree.formats.decomp_files import FAULTS, ISOLATED, hierarchy_files, read_files, video_named, video_of
from questree.tables.hierarchies import Hierarchies
from questree.tables.store import for_others

FILES = 100  # of a group
NUMBERS = "numbers.json"  # beside isolated questions that were dealt: key -> where it is first in the whole file


class KeyedRow(msgspec.Struct, gc=False):
    key: str


RAWS, KEYS = msgspec.json.Decoder(list[msgspec.Raw]), msgspec.json.Decoder(list[KeyedRow])


class FileGroup(NamedTuple):
    number: int
    files: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.number} ({self.files[0]} ...)"

    @property
    def isolated(self) -> bool:
        return self.files == (ISOLATED,)


@dataclass(frozen=True)
class GroupedFiles:
    """Small enough to send anywhere that sees the folder."""

    folder: Path
    scan: bool  # do compiled loops read the files?
    most: int  # files of a group

    def groups(self) -> list[FileGroup]:
        """In the order of the files; isolated.json is the last one."""
        names = [path.name for path in hierarchy_files(self.folder)]
        videos = [name for name in names if name != ISOLATED]
        groups = [videos[at : at + self.most] for at in range(0, len(videos), self.most)]
        return [FileGroup(at, tuple(own)) for at, own in enumerate([*groups, *([names[-1:]] * (names != videos))])]

    def read(self, group: FileGroup) -> Hierarchies:
        """The files of a group as they are."""
        return read_files([self.folder / name for name in group.files], self.scan)

    def checked(self, group: FileGroup) -> Hierarchies | list[Fault]:
        """The same, or what is wrong with them, told from the folder on, which may have another name elsewhere."""
        try:
            return self.read(group)
        except BadInput as bad:
            return [Fault(fault.place.removeprefix(str(self.folder)), fault.message) for fault in bad.faults]

    def refuse(self, faults: Iterable[Fault]) -> None:
        """What is wrong with all groups, if anything is, as if they had been read at once."""
        refuse([Fault(f"{self.folder}{fault.place}", fault.message) for fault in faults][:FAULTS])

    def deal(self, scratch: Path) -> None:
        """Isolated questions to the groups of their videos, and those of other videos to the last one."""
        groups, content = self.groups(), (self.folder / ISOLATED).read_bytes()
        owner = {video_of(Path(name)): group.number for group in groups[:-1] for name in group.files}
        dealt = dict[int, tuple[list[bytes], dict[str, int]]]()
        for number, (raw, row) in enumerate(zip(RAWS.decode(content), KEYS.decode(content), strict=True)):
            rows, numbers = dealt.setdefault(owner.get(video_named(row.key), groups[-1].number), ([], {}))
            rows.append(bytes(raw))
            numbers.setdefault(row.key, number)
        for group, (rows, numbers) in dealt.items():
            place = _place(scratch, group)
            for name, own in ((ISOLATED, b"[" + b",".join(rows) + b"]"), (NUMBERS, msgspec.json.encode(numbers))):
                with for_others(place / name) as work:
                    work.write_bytes(own)

    def dealt(self, group: FileGroup, scratch: Path) -> list[Path]:
        """The files of a group's videos, with the isolated questions that were dealt to them."""
        own, loose = [self.folder / name for name in group.files if name != ISOLATED], _place(scratch, group.number)
        return [*own, *([loose / ISOLATED] if (loose / ISOLATED).is_file() else [])]


def _place(scratch: Path, group: int) -> Path:
    return scratch / f"{group:06d}"


def isolated_at(files: Iterable[Path]) -> dict[str, int]:
    """Key -> where it is first in the whole isolated.json, of files that were dealt."""
    found = dict[str, int]()
    for path in files:
        if path.name == ISOLATED:
            found |= msgspec.json.decode(path.with_name(NUMBERS).read_bytes(), type=dict[str, int])
    return found
