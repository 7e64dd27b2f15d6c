"""Released AGQA question files by columns, dealt once into buckets of whole videos: programs, words, answers."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
import polars as pl

from questree.columns.hashing import seed_of
from questree.columns.joins import by_value
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.formats.agqa_import import question_files
from questree.formats.json_records import JsonSpan, decoded, refuse_repeated, spans
from questree.notation.agqa import AgqaShapes
from questree.notation.own import parse
from questree.readings.answer import answers_of
from questree.stages.decompose.expand import Batch, marked_apart
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.spoken import Texts
from questree.tables.nodes import SLOTS
from questree.terms import OBJECT, UNKNOWN, Array, Kind, Node, slots
from questree.vocabulary.words import Action, Object, Vocabulary

BLOCK = 1 << 25  # bytes of a file that are read at once
AHEAD = 4  # tasks that wait
UNREAD = -1
WORDS = tuple(f"w{at}" for at in range(SLOTS))
COLUMNS: dict[str, Any] = {"video": pl.String, "form": pl.String, **dict.fromkeys(WORDS, pl.Int16), "answer": pl.Int16}
VIDEOS = "videos.parquet"
Result = TypeVar("Result")


class AnsweredRecord(msgspec.Struct, gc=False):
    """expected a record with answer, video_id, program, all texts"""

    answer: str
    video_id: str
    program: str


class ReleasedRecord(AnsweredRecord, gc=False):
    """expected a record with question, answer, video_id, program, all texts"""

    question: str


def sources(places: Sequence[Path]) -> list[Path]:
    """Files of answered questions: as they are, or those of a folder in the layout of the release; all of them, or of
    the set named unbalanced if there is one."""
    found: list[Path] = []
    for place in places:
        if place.is_dir():
            there = question_files(place)
            whole = [path for (name, _), path in there.items() if name == "unbalanced"]
            found += whole or there.values()
        elif place.is_file():
            found.append(place)
        else:
            raise BadInput.at(place, "no such file or folder; expected questions with answers, as AGQA releases them")
    return found


@dataclass
class RecordColumns:
    """What is kept by a process from piece to piece."""

    vocabulary: Vocabulary
    _programs: dict[str, Node] = field(default_factory=dict)
    _numbers: dict[Kind, dict[str, int]] = field(default_factory=dict)

    @cached_property
    def shapes(self) -> AgqaShapes:
        return AgqaShapes(self.vocabulary)

    @cached_property
    def forms(self) -> NodeForms:
        return NodeForms(self.vocabulary)

    @cached_property
    def texts(self) -> Texts:
        return Texts(self.vocabulary)

    def program(self, form: str) -> Node:
        if form not in self._programs:
            self._programs[form] = parse(form, VIDEO)
        return self._programs[form]

    def columns(self, records: Sequence[AnsweredRecord]) -> pl.DataFrame:
        """video, form and fault (null if there is none), words, answer (UNKNOWN if it is none the kind has)."""
        read = [self.shapes.slot_words(record.program, SLOTS) for record in records]
        number: dict[str | None, int] = {None: UNREAD}
        form = np.array([number.setdefault(one.form, len(number) - 1) for one in read], np.int64)
        words = np.array([one.words for one in read], np.int16).reshape(-1, SLOTS)
        kinds = [self.program(text).kind for text in number if text is not None]
        return pl.DataFrame(
            {
                "video": pl.Series([record.video_id for record in records], dtype=pl.String),
                "form": pl.Series([one.form for one in read], dtype=pl.String),
                **{name: words[:, at] for at, name in enumerate(WORDS)},
                "answer": self.answers(records, kinds, form),
                "fault": pl.Series([one.fault for one in read], dtype=pl.String),
            }
        )

    def answers(self, records: Sequence[AnsweredRecord], kinds: Sequence[Kind], form: Array) -> Array:
        """[record] its answer as a number."""
        different: dict[str, int] = {}
        said = np.array([different.setdefault(record.answer, len(different)) for record in records], np.int64)
        once = list(dict.fromkeys(kinds))
        known = [[self.numbers(kind).get(answer.lower(), UNKNOWN) for answer in different] for kind in once]
        table = np.array([*known, [UNKNOWN] * len(different)], np.int16).reshape(len(once) + 1, -1)
        return table[np.array([*map(once.index, kinds), len(once)], np.int64)[form], said]

    def numbers(self, kind: Kind) -> dict[str, int]:
        """Every answer a kind of question can have -> its number."""
        if kind not in self._numbers:
            self._numbers[kind] = self._spelled(kind)
        return self._numbers[kind]

    def _spelled(self, kind: Kind) -> dict[str, int]:
        printed = answers_of(kind, self.vocabulary)
        found = {text.lower(): at for at, text in reversed(list(enumerate(printed)))}
        if kind.yes or kind.answers:
            return found
        words: Sequence[Object | Action] = self.vocabulary.objects if kind == OBJECT else self.vocabulary.actions
        return {label.lower(): at for at, word in enumerate(words) for label in word.labels} | found


@lru_cache(maxsize=1)
def tools(vocabulary: bytes) -> RecordColumns:
    return RecordColumns(msgspec.json.decode(vocabulary, type=Vocabulary))


class AnswersRead(NamedTuple):
    """Questions that are sources of answers, counted."""

    used: int
    elsewhere: int  # of videos that nobody asks about
    unread: int  # their program cannot be read, or their answer is none of its kind


@dataclass(frozen=True)
class Buckets:
    """Folders of Parquet files, each of whole videos, rows in the order of the file."""

    folder: Path
    count: int
    vocabulary: bytes

    @property
    def videos_file(self) -> Path:
        return self.folder / VIDEOS

    def deal_questions(self, path: Path, pool: Executor) -> pl.Series:
        """Deal the questions to be taken apart; their videos."""
        found, hashes = pl.Series([], dtype=pl.String), list[pl.Series]()
        tasks = ((self, path, span, f"asked-{number:06d}") for number, span in enumerate(spans(path, BLOCK)))
        for own, ids in in_order(pool, deal_asked, tasks):
            found = pl.concat([found, own]).unique()
            hashes.append(ids)
        refuse_repeated(path, hashes, sorted(self.folder.glob("*/asked-*.parquet")))
        pl.DataFrame({"video": found.sort()}).write_parquet(self.videos_file)
        return found.sort()

    def deal_answers(self, paths: Sequence[Path], pool: Executor) -> "AnswersRead":
        """Deal other questions of these videos, which are only sources of answers."""
        tasks = (
            (self, path, span, f"other-{at:03d}-{number:06d}")
            for at, path in enumerate(paths)
            for number, span in enumerate(spans(path, BLOCK))
        )
        return AnswersRead(*map(sum, zip((0, 0, 0), *in_order(pool, deal_others, tasks), strict=True)))

    def write(self, table: pl.DataFrame, name: str) -> None:
        names = table["video"].unique()
        bucket = [int(seed_of(0, video) % np.uint64(self.count)) for video in names]
        own = table["video"].replace_strict(names, pl.Series(bucket, dtype=pl.Int64), return_dtype=pl.Int64)
        for at, rows in by_value(own.to_numpy()):
            place = self.folder / f"{at:05d}"
            place.mkdir(exist_ok=True)
            table[rows].write_parquet(place / f"{name}.parquet", compression="lz4")

    def places(self) -> list[Path]:
        return sorted(path for path in self.folder.iterdir() if path.is_dir())


def bucket_rows(place: Path, kind: str) -> pl.DataFrame:
    """The rows of a bucket: "asked" or "other"."""
    parts = [pl.read_parquet(path, glob=False) for path in sorted(place.glob(f"{kind}-*.parquet"))]
    return pl.concat(parts) if parts else pl.DataFrame(schema=COLUMNS)


def deal_asked(buckets: Buckets, path: Path, span: JsonSpan, name: str) -> tuple[pl.Series, pl.Series]:
    """Write the rows of a piece to their buckets; its videos, and the hashes of its ids."""
    read = decoded(path, span.piece(path), ReleasedRecord)
    records = list(read.values())
    more = {"text": "question", "old": "program", "said": "answer"}
    columns = {
        column: pl.Series([getattr(r, field) for r in records], dtype=pl.String) for column, field in more.items()
    }
    table = tools(buckets.vocabulary).columns(records).with_columns(pl.Series("id", list(read), pl.String), **columns)
    buckets.write(table, name)
    return table["video"].unique(), table["id"].hash()


@lru_cache(maxsize=1)
def wanted_videos(path: Path) -> frozenset[str]:
    return frozenset(pl.read_parquet(path, glob=False)["video"])


def deal_others(buckets: Buckets, path: Path, span: JsonSpan, name: str) -> AnswersRead:
    """Write what the questions of a piece tell about the videos that are asked about."""
    videos = wanted_videos(buckets.videos_file)
    read = decoded(path, span.piece(path), AnsweredRecord)
    records = [record for record in read.values() if record.video_id in videos]
    table = tools(buckets.vocabulary).columns(records)
    told = table.filter(pl.col("form").is_not_null() & (pl.col("answer") != UNKNOWN)).drop("fault")
    buckets.write(told, name)
    return AnswersRead(len(told), len(read) - len(records), len(records) - len(told))


def in_order(pool: Executor, work: Callable[..., Result], tasks: Iterable[tuple[Any, ...]]) -> Iterator[Result]:
    """The results of tasks in their order; only a few tasks wait at a time, for they may be large."""
    waiting: deque[Future[Result]] = deque()
    for task in tasks:
        waiting.append(pool.submit(work, *task))
        if len(waiting) > AHEAD:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


def batches(questions: pl.DataFrame, video: Array, known: RecordColumns) -> Iterator[Batch]:
    """Questions of one form at a time; `video`: [question]."""
    names = questions["form"].unique(maintain_order=True)
    form = questions["form"].cast(pl.Enum(names)).to_physical().to_numpy()
    words = questions.select(WORDS).to_numpy()
    for code, rows in by_value(form.astype(np.int64)):
        node = known.program(names[code])
        own = {name: words[rows, int(name)].astype(np.int64) for name in slots(node)}
        yield from marked_apart(known.forms, node, own, video[rows], rows)
