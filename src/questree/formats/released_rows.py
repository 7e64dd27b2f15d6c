"""Questions of a released AGQA file as rows: programs as shapes and words, dealt into buckets of whole videos."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl

from questree.columns.hashing import seed_of
from questree.domains.video import VIDEO
from questree.faults import BadInput, Fault
from questree.formats.import_shapes import JOINT, Shapes
from questree.formats.json_records import Piece, pieces, repeated
from questree.notation.own import parse
from questree.notation.spelling import positions
from questree.program import ACTION, UNKNOWN, Array, Kind, Node, Slot, Term, fill
from questree.readings.answer import spell
from questree.stages.decompose.expand import Batch
from questree.stages.decompose.forms import Forms, ordered_slots
from questree.vocabulary.words import NONE, Vocabulary

BUCKET = 1 << 26  # bytes of the file that are taken apart at once
BLOCK = 1 << 25  # bytes of the file that are read at once
AHEAD = 4  # tasks that wait
MOST = 20  # faults told
Result = TypeVar("Result")
NAMES = ("id", "video", "text", "old", "answer", "shape", "words", "fault")
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(NAMES, pl.String)


class Record(msgspec.Struct):
    question: str
    answer: str
    video_id: str
    program: str


RECORD = msgspec.json.Decoder(Record)
RECORDS = msgspec.json.Decoder(dict[str, Record])
RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass
class Dealt:
    """A question file in buckets, each a folder of Parquet files."""

    folder: Path
    videos: set[str] = field(default_factory=set)
    hashes: list[pl.Series] = field(default_factory=list)  # of ids

    @classmethod
    def of(cls, path: Path, folder: Path, vocabulary: bytes, pool: Executor) -> "Dealt":
        """Read the file once; every bucket has its rows in the order of the file."""
        found = cls(folder)
        tasks = (
            (path, piece, number, folder, buckets(path), vocabulary)
            for number, piece in enumerate(pieces(path, min(BUCKET, BLOCK)))
        )
        for videos, hashes in in_order(pool, deal, tasks):
            found.videos |= videos
            found.hashes.append(hashes)
        found.refuse_repeated(path)
        return found

    def refuse_repeated(self, path: Path) -> None:
        """Equal hashes only say where to look."""
        hashes = pl.concat(self.hashes) if self.hashes else pl.Series(dtype=pl.UInt64)
        if hashes.is_duplicated().any():
            ids = pl.scan_parquet(self.folder / "*" / "*.parquet").select("id").collect().to_series()
            ids = ids.filter(ids.is_duplicated()).unique().sort()
            if len(ids):
                raise BadInput(told(path, [Fault(str(path), f"id {id!r} is there twice") for id in ids]))

    def filled(self) -> list[Path]:
        return sorted(self.folder.iterdir())


def buckets(path: Path) -> int:
    return max(1, -(-path.stat().st_size // BUCKET))


def in_order(pool: Executor, work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """The results of tasks in their order; only a few tasks wait at a time, for they may be large."""
    waiting: deque[Future[Result]] = deque()
    for task in tasks:
        waiting.append(pool.submit(work, *task))
        if len(waiting) > AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@lru_cache(maxsize=1)
def shapes(vocabulary: bytes) -> Shapes:
    """Kept by a process from piece to piece."""
    return Shapes(msgspec.json.decode(vocabulary, type=Vocabulary))


def deal(
    path: Path, piece: Piece, number: int, folder: Path, buckets: int, vocabulary: bytes
) -> tuple[set[str], pl.Series]:
    """Write the rows of a piece to their buckets; its videos, and the hashes of its ids."""
    table = rows(path, piece, shapes(vocabulary))
    names = table["video"].unique()
    bucket = [int(seed_of(0, name) % np.uint64(buckets)) for name in names]
    own = table["video"].replace_strict(names, pl.Series(bucket, dtype=pl.Int64), return_dtype=pl.Int64)
    for (at,), part in table.with_columns(bucket=own).group_by("bucket", maintain_order=True):
        place = folder / f"{at:05d}"
        place.mkdir(exist_ok=True)
        part.drop("bucket").write_parquet(place / f"{number:06d}.parquet", compression="lz4")
    return set(names), table["id"].hash()


def rows(path: Path, piece: Piece, shapes: Shapes) -> pl.DataFrame:
    try:
        found = RECORDS.decode(piece.text)
    except msgspec.MsgspecError as error:
        raise BadInput(told(path, faults(path, piece, error))) from error
    if len(found) < piece.members:
        raise BadInput.at(path, f"id {repeated(piece.text)!r} is there twice")
    table = [(id, r.video_id, r.question, r.program, r.answer, *shapes.program(r.program)) for id, r in found.items()]
    return pl.DataFrame(table, schema=COLUMNS, orient="row")


def faults(path: Path, piece: Piece, error: Exception) -> list[Fault]:
    """What is wrong with which records of a piece."""
    wanted = f"wanted a record with {', '.join(Record.__struct_fields__)}, all texts"
    try:
        members = RAW.decode(piece.text)
    except msgspec.MsgspecError:
        return [Fault(str(path), f"not JSON: {error} in a piece that begins {piece.text[:60]!r}")]
    found = []
    for id, raw in members.items():
        try:
            RECORD.decode(raw)
        except msgspec.MsgspecError as wrong:
            found.append(Fault(f"{path}, question {id}", f"{wrong}; {wanted}"))
    return found


def told(path: Path, found: list[Fault]) -> list[Fault]:
    """Not more than anybody reads."""
    more = len(found) - MOST
    return found[:MOST] + ([Fault(str(path), f"{more:,} more faults like these")] if more > 0 else [])


def batches(asked: pl.DataFrame, video: Array, forms: Forms) -> Iterator[Batch]:
    """Questions of one shape at a time; actions without an object are another form."""
    for (shape,), rows in asked.with_row_index("row").group_by("shape", maintain_order=True):
        node = parse(str(shape), VIDEO)
        slots, row = ordered_slots(node), rows["row"].to_numpy().astype(np.int64)
        words = places(slots, rows["words"], forms.vocabulary)
        deeds = [slot for slot in slots if slot.kind == ACTION]
        for alone in product((False, True), repeat=len(deeds)):
            own = np.ones(len(row), bool)
            said: dict[str, Term] = {}
            for slot, yes in zip(deeds, alone, strict=True):
                own &= (forms.vocabulary.noun_of[words[slot.name]] == NONE) == yes
                said[slot.name] = Slot(slot.name, slot.kind, alone=yes)
            if own.any():
                program = fill(node, said)
                assert isinstance(program, Node)
                form, origins = forms.canonical(program)
                values = tuple(forms.column(origin, words, len(row))[own] for origin in origins)
                yield Batch(form, video[row[own]], values, row[own])


def places(slots: tuple[Slot, ...], words: pl.Series, vocabulary: Vocabulary) -> dict[str, Array]:
    """Slot w0, w1, ... -> [row] the position of its word."""
    split = words.str.split(JOINT).to_frame("words")
    columns = [
        pl.col("words")
        .list.get(int(slot.name[1:]))
        .replace_strict(positions(slot.kind, vocabulary), return_dtype=pl.Int64)
        .alias(slot.name)
        for slot in slots
    ]
    return {name: column.to_numpy() for name, column in split.select(columns).to_dict().items()}


def given(asked: pl.DataFrame, vocabulary: Vocabulary) -> Array:
    """[question] its answer as a number; UNKNOWN if it is none its kind has."""
    found = np.full(len(asked), UNKNOWN, np.int16)
    shapes = asked["shape"].unique(maintain_order=True)
    kinds = pl.Series([parse(shape, VIDEO).kind.name for shape in shapes], dtype=pl.String)
    known = {parse(shape, VIDEO).kind.name: parse(shape, VIDEO).kind for shape in shapes}
    of_row = asked["shape"].replace_strict(shapes, kinds, return_dtype=pl.String)
    for (kind,), own in asked.select("answer", kind=of_row).with_row_index("row").group_by("kind"):
        numbers = spellings(known[str(kind)], vocabulary)
        answers = own["answer"].str.to_lowercase().replace_strict(numbers, default=UNKNOWN, return_dtype=pl.Int16)
        found[own["row"].to_numpy()] = answers.to_numpy()
    return found


def spellings(kind: Kind, vocabulary: Vocabulary) -> dict[str, int]:
    """Every answer a kind of question can have -> its number."""
    sizes = {"objects": len(vocabulary.objects), "actions": len(vocabulary.actions)}
    found: dict[str, int] = {}
    for number in range(sizes.get(kind.words, 2)):
        found.setdefault((spell(kind, number, vocabulary) or "").lower(), number)
    return found
