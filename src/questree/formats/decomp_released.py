"""Released AGQA question files into DAGs, without scene graphs: answers are those of the questions and what follows."""

import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import quoted
from questree.columns.hashing import seed_of
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.formats.decomp import Dags, check_target
from questree.formats.decomp_files import ISOLATED, file_of, write_json
from questree.formats.json_records import JsonPiece, decoded, pieces, refuse_repeated
from questree.notation.agqa import AgqaShapes
from questree.notation.grammar import numbers
from questree.notation.own_shapes import program_shapes
from questree.program import UNKNOWN, Array, Kind
from questree.progress import watch
from questree.readings.answer import spell
from questree.stages.decompose.columns import (
    DecomposeSummary,
    coverage,
    edge_table,
    form_table,
    leaves,
    node_table,
    places,
    word_of,
)
from questree.stages.decompose.expand import Batch, expand, marked_apart
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.negatives import Negatives, read_labels
from questree.stages.decompose.propagate import Propagation, Teller
from questree.stages.decompose.spoken import Texts, say
from questree.tables.nodes import ABSENT
from questree.tables.store import new_folder
from questree.vocabulary.words import Vocabulary
from questree.workers import processes

BUCKET = 1 << 26  # bytes of the file that are taken apart at once
BLOCK = 1 << 25  # bytes of the file that are read at once
AHEAD = 4  # tasks that wait
Result = TypeVar("Result")
NAMES = ("id", "video", "text", "old", "answer", "form", "words", "fault")
COLUMNS: dict[str, Any] = dict.fromkeys(NAMES, pl.String) | {"words": pl.List(pl.String)}


class ReleasedRecord(msgspec.Struct):
    """expected a record with question, answer, video_id, program, all texts"""

    question: str
    answer: str
    video_id: str
    program: str


def dealt(path: Path, folder: Path, vocabulary: bytes, pool: Executor) -> set[str]:
    """Read a question file once into buckets, folders of Parquet files, rows in the order of the file; its videos."""
    read = enumerate(pieces(path, min(BUCKET, BLOCK)))
    tasks = ((path, piece, number, folder, buckets(path), vocabulary) for number, piece in read)
    videos, hashes = set[str](), list[pl.Series]()
    for own, ids in in_order(pool, deal, tasks):
        videos |= own
        hashes.append(ids)
    refuse_repeated(path, hashes, folder / "*" / "*.parquet")
    return videos


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
def tools(vocabulary: bytes) -> tuple[AgqaShapes, NodeForms, Texts]:
    """Kept by a process from piece to piece."""
    words = msgspec.json.decode(vocabulary, type=Vocabulary)
    return AgqaShapes(words), NodeForms(words), Texts(words)


def deal(
    path: Path, piece: JsonPiece, number: int, folder: Path, buckets: int, vocabulary: bytes
) -> tuple[set[str], pl.Series]:
    """Write the rows of a piece to their buckets; its videos, and the hashes of its ids."""
    shapes, *_ = tools(vocabulary)
    read = decoded(path, piece, ReleasedRecord).items()
    said = [(id, r.video_id, r.question, r.program, r.answer, *shapes.program(r.program)) for id, r in read]
    table = pl.DataFrame(said, schema=COLUMNS, orient="row")
    names = table["video"].unique()
    bucket = [int(seed_of(0, name) % np.uint64(buckets)) for name in names]
    own = table["video"].replace_strict(names, pl.Series(bucket, dtype=pl.Int64), return_dtype=pl.Int64)
    for (at,), part in table.with_columns(bucket=own).group_by("bucket", maintain_order=True):
        place = folder / f"{at:05d}"
        place.mkdir(exist_ok=True)
        part.drop("bucket").write_parquet(place / f"{number:06d}.parquet", compression="lz4")
    return set(names), table["id"].hash()


def batches(asked: pl.DataFrame, video: Array, forms: NodeForms) -> Iterator[Batch]:
    """Questions of one shape at a time."""
    stored = program_shapes(asked, VIDEO)
    for node, row in stored.by_shape:
        words = stored.columns(node, row, lambda said, kind: numbers(said, kind, forms.vocabulary))
        yield from marked_apart(forms, node, words, video[row], row)


def given(asked: pl.DataFrame, vocabulary: Vocabulary) -> Array:
    """[question] its answer as a number; UNKNOWN if it is none its kind has."""
    found = np.full(len(asked), UNKNOWN, np.int16)
    for node, row in program_shapes(asked, VIDEO).by_shape:
        said = asked["answer"].gather(row).str.to_lowercase()
        answers = said.replace_strict(spellings(node.kind, vocabulary), default=UNKNOWN, return_dtype=pl.Int16)
        found[row] = answers.to_numpy()
    return found


def spellings(kind: Kind, vocabulary: Vocabulary) -> dict[str, int]:
    """Every answer a kind of question can have -> its number."""
    sizes = {"objects": len(vocabulary.objects), "actions": len(vocabulary.actions)}
    found: dict[str, int] = {}
    for number in range(sizes.get(kind.words, 2)):
        found.setdefault((spell(kind, number, vocabulary) or "").lower(), number)
    return found


Loose = list[tuple[str, str]]  # (video, isolated question as JSON)


@dataclass
class DecomposedRelease:
    summary: DecomposeSummary = field(default_factory=DecomposeSummary)
    unread: Counter[str] = field(default_factory=Counter)  # why a question has no DAG
    strange_answers: int = 0  # answers that are none of the question's kind; not used

    def add(self, other: "DecomposedRelease") -> None:
        self.summary.add(other.summary)
        self.unread.update(other.unread)
        self.strange_answers += other.strange_answers


def decompose_released(
    path: Path, out: Path, vocabulary: Vocabulary, workers: int = 2, absent: Path | None = None
) -> DecomposedRelease:
    """A question file into `<name>_hierarchies/`, whole or not at all; `absent` is a file of labels."""
    if not path.is_file():
        raise BadInput.at(path, "no such file; expected a question file of AGQA's release")
    check_target(out)
    result, loose = DecomposedRelease(), Loose()
    few = workers < 2 or buckets(path) < 2  # starting processes does not pay
    with new_folder(out) as folder, ThreadPoolExecutor(1) if few else processes(workers) as pool:
        place, rest = folder / f"{path.stem}_hierarchies", folder / ".rows"
        place.mkdir()
        rest.mkdir()
        raw = msgspec.json.encode(vocabulary)
        labels = labelled(absent, dealt(path, rest, raw, pool), vocabulary)
        tasks = [(raw, bucket, place, labels) for bucket in sorted(rest.iterdir())]
        for told, isolated in watch(in_order(pool, write_bucket, tasks), "decompose", len(tasks)):
            result.add(told)
            loose += isolated
        shutil.rmtree(rest)
        write_json(place / ISOLATED, [row for _, row in sorted(loose, key=lambda pair: pair[0])], "[]")
    return result


def labelled(path: Path | None, videos: set[str], vocabulary: Vocabulary) -> pl.DataFrame:
    """What a file of labels says: name of the video, object."""
    names = sorted(videos)
    found = read_labels(path, names, vocabulary) if path else ABSENT.empty()
    return found.select("object", name=pl.Series(names, dtype=pl.String).gather(found["video"]))


def write_bucket(vocabulary: bytes, bucket: Path, place: Path, labels: pl.DataFrame) -> tuple[DecomposedRelease, Loose]:
    """The files of a bucket's videos."""
    _, forms, texts = tools(vocabulary)
    questions = pl.read_parquet(bucket / "*.parquet").sort("video", maintain_order=True)
    unread = questions.filter(pl.col("form").is_null())
    asked = questions.filter(pl.col("form").is_not_null())
    names = asked["video"].unique(maintain_order=True)
    dags, told = taken_apart(asked, names, forms, texts, labels)
    told.unread.update(unread["fault"].to_list())
    told.summary.questions += len(unread)
    told.summary.isolated += len(unread)
    loose = [(row["video"], isolated(row)) for row in unread.iter_rows(named=True)]
    for number, found, alone in dags.videos():
        loose += [(names[number], row) for row in alone]
        if found:
            write_json(place / file_of(names[number]), found, "{}")
    return told, loose


def taken_apart(
    asked: pl.DataFrame, names: pl.Series, forms: NodeForms, texts: Texts, labels: pl.DataFrame
) -> tuple[Dags, DecomposedRelease]:
    """The DAGs of questions that can be read; `names` are their videos."""
    number = pl.Series(range(len(names)), dtype=pl.UInt32)
    video = asked["video"].replace_strict(names, number, return_dtype=pl.UInt32)
    blocks, tops = expand(forms, batches(asked, video.to_numpy().astype(np.int64), forms), len(asked))
    answers = given(asked, forms.vocabulary)
    sure = np.flatnonzero(answers != UNKNOWN)
    own = labels.join(pl.DataFrame({"name": names, "video": number}), on="name").select("video", "object")
    made = Propagation.of(forms, blocks, tops[sure], answers[sure], Negatives(own)).run()
    nodes, table = node_table(blocks, made.answers, made.known, 0, word=word_of(forms.vocabulary)), form_table(blocks)
    edges, _ = edge_table(blocks, np.full(len(nodes), UNKNOWN))
    summary = DecomposeSummary(
        questions=len(asked),
        isolated=leaves(blocks, tops),
        edges=len(edges),
        clashes=len(made.contradictions),
        contradictions=Teller(table, nodes, texts, names.to_list()).derived(made),
        types=coverage(blocks, made.known),
        places=places(tops, made.known, edges),
    )
    top = asked.select("id", "text", "old").with_columns(video=video, node=pl.Series(tops), template=pl.lit(""))
    return Dags(top, say(table, nodes, texts), edges, names), DecomposedRelease(
        summary, strange_answers=len(asked) - len(sure)
    )


def isolated(row: dict[str, str]) -> str:
    """A question whose program has no decomposition, with the reason."""
    names = {"key": "id", "answer": "answer", "question": "text", "program": "old", "reason": "fault"}
    said = quoted(pl.Series([row[column] for column in names.values()], dtype=pl.String)).to_list()
    parts = ", ".join(f'"{name}": {text}' for name, text in zip(names, said, strict=True))
    return f'{{{parts}, "type": ""}}'
