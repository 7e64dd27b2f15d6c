"""Files of raw answers, one JSON object per line, and what was read in them."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import msgspec

from questree.faults import UNREADABLE, Fault, refuse
from questree.said.reading import ReadAnswer, Reader
from questree.tables.store import content, new_file

FAULTS = 20  # told at once
SHOWN = 20  # commonest texts that were not read


class RawAnswer(msgspec.Struct, gc=False):
    """What a model said, and what it was asked."""

    id: str | int
    raw: str | bool | int | float | None
    question: str = ""
    options: list[str] | None = None
    answer_type: str | None = None

    def text(self) -> str:
        if isinstance(self.raw, bool):
            return "yes" if self.raw else "no"
        return "" if self.raw is None else str(self.raw)


def read_raw(path: Path) -> list[RawAnswer]:
    decoder, found, faults = msgspec.json.Decoder(RawAnswer), list[RawAnswer](), list[Fault]()
    for number, line in enumerate(content(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(decoder.decode(line))
        except UNREADABLE as error:
            faults.append(Fault(f"{path}, line {number}", f"expected {{id, question, raw}}; {error}"))
            if len(faults) == FAULTS:
                break
    refuse(faults)
    return found


class ReadFile(NamedTuple):
    """All of a file."""

    asked: list[RawAnswer]
    found: list[ReadAnswer]

    @property
    def reasons(self) -> Counter[str]:
        return Counter(each.reason for each in self.found if each.answer is None)

    @property
    def rules(self) -> Counter[str]:
        return Counter(each.rule for each in self.found if each.answer is not None)

    @property
    def unread(self) -> list[tuple[str, str, int]]:
        """reason, text, times of the commonest texts that are no answer."""
        pairs = zip(self.asked, self.found, strict=True)
        counted = Counter((read.reason, said.text()) for said, read in pairs if read.answer is None)
        return [(reason, text, times) for (reason, text), times in counted.most_common(SHOWN)]


def read_all(reader: Reader, asked: list[RawAnswer]) -> ReadFile:
    return ReadFile(
        asked,
        [reader.read(each.text(), each.question, each.answer_type or "", each.options or ()) for each in asked],
    )


def write_read(path: Path, read: ReadFile) -> None:
    def lines() -> Iterable[bytes]:
        for said, found in zip(read.asked, read.found, strict=True):
            row = {"id": said.id, "answer": found.answer, "reason": found.reason or None, "rule": found.rule or None}
            yield msgspec.json.encode(row) + b"\n"

    with new_file(path) as work:
        work.write_bytes(b"".join(lines()))
