"""One huge JSON object cut into pieces that are JSON objects themselves, without reading all of it at once."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.progress import report

BLOCK = 1 << 23  # bytes read at once
QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET = b'"\\{}[]'
OBJECT, LIST = b"{}", b"[]"
UNFINISHED = -1
MOST = 20  # faults told
Record = TypeVar("Record")
HEAD = 1 << 12  # bytes in which a file, and a record, must have begun
BETWEEN = b", \t\r\n"  # what may stand between two records


class JsonPiece(NamedTuple):
    text: bytes  # a JSON object
    members: int  # how many of its values are objects or lists


class JsonSpan(NamedTuple):
    """Members of a file's object that stand next to each other, so that another process can read them."""

    begin: int  # bytes of the file
    end: int
    members: int

    def piece(self, path: Path) -> JsonPiece:
        with path.open("rb") as file:
            file.seek(self.begin)
            return JsonPiece(b"".join((b"{", file.read(self.end - self.begin), b"}")), self.members)


def spans(path: Path, block: int = BLOCK, brackets: bytes = OBJECT) -> Iterator[JsonSpan]:
    """The members of the object a file holds, or of a list, some at a time, in order, as places in the file."""
    size, place, kept, opened, commas = path.stat().st_size, 0, 0, False, 0
    buffer = np.empty(2 * block, np.uint8)  # what is not cut yet begins at byte `place` of the file
    with path.open("rb", buffering=0) as file:
        while True:
            if len(buffer) < kept + block:
                buffer = np.concatenate([buffer, np.empty_like(buffer)])
            count = file.readinto(buffer[kept : kept + block].data)
            if not count:
                break
            kept += count
            report(f"reading {path.name}", place + kept, size)
            begin = 0
            if not opened:
                head = buffer[: min(kept, HEAD)].tobytes()
                begin = len(head) - len(head.lstrip())
                if begin == len(head) < kept:
                    raise BadInput.at(path, f"expected a JSON object of questions, got {HEAD} spaces")
                if begin < len(head):
                    if head[begin] != brackets[0]:
                        raise BadInput.at(
                            path, f"expected a JSON object of questions, got {head[begin : begin + 20]!r}"
                        )
                    begin, opened = begin + 1, True
            if opened:
                last, members = last_member(buffer[begin:kept])
                if members:
                    first = begin + skipped(path, buffer[begin:kept], commas)
                    yield JsonSpan(place + first, place + begin + last + 1, members)
                    begin, commas = begin + last + 1, 1
            buffer[: kept - begin] = buffer[begin:kept].copy()
            place, kept = place + begin, kept - begin
    rest = buffer[:kept].tobytes().rstrip()
    if not opened or not rest.endswith(brackets[1:]):
        raise BadInput.at(path, "cut short: the JSON object it holds does not end")
    inside = rest[:-1].rstrip()
    begin = skipped(path, buffer[: len(inside)], commas if inside.strip(BETWEEN) else 0)
    if begin < len(inside):  # members that are no objects, at the end
        yield JsonSpan(place + begin, place + len(inside), 0)


def skipped(path: Path, text: NDArray[np.uint8], commas: int) -> int:
    """How many bytes stand before the first record; `commas`: how many of them must be one."""
    head = text[:HEAD].tobytes()
    count = len(head) - len(head.lstrip(BETWEEN))
    if (got := head[:count].count(b",")) != commas:
        wanted, begun = ("one comma" if commas else "no comma"), head[count : count + 20]
        raise BadInput.at(path, f"not JSON: expected {wanted} before {begun!r}, got {got}")
    return count


@cache
def decoder(record: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(record)


def decoded(path: Path, piece: JsonPiece, record: type[Record]) -> dict[str, Record]:
    """The records of a piece by their ids, none of them twice; says which is not as wanted."""
    try:
        found: dict[str, Record] = decoder(dict[str, record]).decode(piece.text)  # type: ignore[valid-type]
    except UNREADABLE as error:
        raise BadInput(list(faults(path, piece, record, error))) from error
    if len(found) < piece.members:
        raise BadInput.at(path, f"id {repeated(piece.text)!r} is there twice")
    return found


def faults(path: Path, piece: JsonPiece, record: type[Record], error: Exception) -> Iterator[Fault]:
    """What is wrong with which records of a piece, not more than anybody reads; a record says itself what is wanted."""
    try:
        members = decoder(dict[str, msgspec.Raw]).decode(piece.text)
    except UNREADABLE:
        yield Fault(str(path), f"not JSON: {error} in a piece that begins {piece.text[:60]!r}")
        return
    wrong = list[Fault]()
    for id, raw in members.items():
        try:
            decoder(record).decode(raw)  # type: ignore[arg-type]
        except UNREADABLE as own:
            wrong.append(Fault(f"{path}, question {id}", f"{own}; {record.__doc__}"))
    yield from wrong[:MOST] or [Fault(str(path), f"{error}; {record.__doc__}")]  # of an id twice, the first
    if len(wrong) > MOST:
        yield Fault(str(path), f"{len(wrong) - MOST:,} more faults like these")


def refuse_repeated(path: Path, hashes: Sequence[pl.Series], stored: Sequence[Path]) -> None:
    """Ids that occur twice in a file, given their hashes; equal ones only say to look among the rows stored."""
    if hashes and pl.concat(hashes).is_duplicated().any():
        ids = pl.scan_parquet([os.fspath(file) for file in stored], glob=False).select("id").collect().to_series()
        refuse(
            [Fault(str(path), f"id {id!r} is there twice") for id in ids.filter(ids.is_duplicated()).unique().sort()]
        )


@njit(cache=True)
def last_member(data):  # type: ignore[no-untyped-def]
    """Where the last object or list ends that stands directly in the object this text is the inside of, UNFINISHED if
    none does; and how many end."""
    depth, members, last, inside, escaped = 0, 0, UNFINISHED, False, False
    for at in range(len(data)):
        byte = data[at]
        if inside:
            if escaped:
                escaped = False
            elif byte == BACKSLASH:
                escaped = True
            elif byte == QUOTE:
                inside = False
        elif byte == QUOTE:
            inside = True
        elif byte in (OPEN_BRACE, OPEN_BRACKET):
            depth += 1
        elif byte in (CLOSE_BRACE, CLOSE_BRACKET):
            depth -= 1
            if depth == 0:
                last, members = at, members + 1
            elif depth < 0:  # the end of the file's own object
                break
    return last, members


def repeated(text: bytes) -> str:
    """A key that occurs twice in an object; a decoder keeps only the last."""
    pairs: list[tuple[str, Any]] = json.loads(text.decode("utf-8", "replace"), object_pairs_hook=list)
    return next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
