"""One huge JSON object cut into pieces that are JSON objects themselves, without reading all of it at once."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput, Fault, refuse
from questree.progress import report

BLOCK = 1 << 23  # bytes read at once
QUOTE, BACKSLASH = ord('"'), ord("\\")
MOST = 20  # faults told
Record = TypeVar("Record")
BETWEEN = b", \t\r\n"  # what may stand between two records


class JsonPiece(NamedTuple):
    text: bytes  # a JSON object
    members: int  # how many of its values are objects or lists


def pieces(path: Path, block: int = BLOCK) -> Iterator[JsonPiece]:
    """The members of the object a file holds, some at a time, in order."""
    size, done, rest, depth = path.stat().st_size, 0, b"", 0
    with path.open("rb") as file:
        while data := file.read(block):
            done += len(data)
            report(f"reading {path.name}", done, size)
            buffer = rest + data
            if depth == 0:  # the opening brace of the file
                buffer = buffer.lstrip()
                if not buffer:
                    continue
                if not buffer.startswith(b"{"):
                    raise BadInput.at(path, f"expected a JSON object of questions, got {buffer[:20]!r}")
                buffer, depth = buffer[1:], 1
            ends = member_ends(buffer)
            if len(ends):
                cut = int(ends[-1]) + 1
                yield JsonPiece(b"{" + buffer[:cut].lstrip(BETWEEN) + b"}", len(ends))
                buffer = buffer[cut:]
            rest = buffer
    last = rest.strip(BETWEEN)
    if depth == 0 or not last.endswith(b"}"):
        raise BadInput.at(path, "cut short: the JSON object it holds does not end")
    if len(last) > 1:  # members that are no objects, at the end
        yield JsonPiece(b"{" + last, 0)


@cache
def decoder(record: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(record)


def decoded(path: Path, piece: JsonPiece, record: type[Record]) -> dict[str, Record]:
    """The records of a piece by their ids, none of them twice; says which is not as wanted."""
    try:
        found: dict[str, Record] = decoder(dict[str, record]).decode(piece.text)  # type: ignore[valid-type]
    except msgspec.MsgspecError as error:
        raise BadInput(list(faults(path, piece, record, error))) from error
    if len(found) < piece.members:
        raise BadInput.at(path, f"id {repeated(piece.text)!r} is there twice")
    return found


def faults(path: Path, piece: JsonPiece, record: type[Record], error: Exception) -> Iterator[Fault]:
    """What is wrong with which records of a piece, not more than anybody reads; a record says itself what is wanted."""
    try:
        members = decoder(dict[str, msgspec.Raw]).decode(piece.text)
    except msgspec.MsgspecError:
        yield Fault(str(path), f"not JSON: {error} in a piece that begins {piece.text[:60]!r}")
        return
    wrong = list[Fault]()
    for id, raw in members.items():
        try:
            decoder(record).decode(raw)  # type: ignore[arg-type]
        except msgspec.MsgspecError as own:
            wrong.append(Fault(f"{path}, question {id}", f"{own}; {record.__doc__}"))
    yield from wrong[:MOST]
    if len(wrong) > MOST:
        yield Fault(str(path), f"{len(wrong) - MOST:,} more faults like these")


def refuse_repeated(path: Path, hashes: Sequence[pl.Series], stored: Path) -> None:
    """Ids that occur twice in a file, given their hashes; equal ones only say to look among the rows stored."""
    if hashes and pl.concat(hashes).is_duplicated().any():
        ids = pl.scan_parquet(stored).select("id").collect().to_series()
        refuse(
            [Fault(str(path), f"id {id!r} is there twice") for id in ids.filter(ids.is_duplicated()).unique().sort()]
        )


def member_ends(text: bytes) -> NDArray[np.int64]:
    """Where the objects and lists end that stand directly in the object this text is the inside of."""
    data = np.frombuffer(text, np.uint8)
    quotes = data == QUOTE
    if BACKSLASH in data:
        quotes &= ~_escaped(data)
    outside = (np.cumsum(quotes, dtype=np.uint8) & 1) == 0  # the count may wrap round, its last bit stays right
    opens = outside & ((data == ord("{")) | (data == ord("[")))
    closes = outside & ((data == ord("}")) | (data == ord("]")))
    at = np.flatnonzero(opens | closes)
    depth = np.cumsum(np.where(opens[at], 1, -1))
    ends: NDArray[np.int64] = at[(depth == 0) & closes[at]]
    beyond = np.flatnonzero(depth < 0)  # the end of the file's own object
    return ends[ends < at[beyond[0]]] if len(beyond) else ends


def repeated(text: bytes) -> str:
    """A key that occurs twice in an object; a decoder keeps only the last."""
    pairs: list[tuple[str, Any]] = json.loads(text, object_pairs_hook=list)
    return next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)


def _escaped(data: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Is there an odd number of backslashes directly before the character?"""
    place = np.arange(len(data))
    last_other = np.maximum.accumulate(np.where(data == BACKSLASH, -1, place))
    before = np.append(0, place[:-1] - last_other[:-1])  # backslashes that end just before each character
    return np.asarray(before % 2 == 1)
