"""Released AGQA question files into DAGs, without scene graphs: answers are those of the questions and what follows."""

import shutil
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import quoted
from questree.faults import BadInput
from questree.formats.dags import Dags
from questree.formats.export_decomp import ISOLATED, check_target, write_json
from questree.formats.released_rows import Dealt, batches, buckets, given, in_order
from questree.program import UNKNOWN
from questree.progress import watch
from questree.stages.decompose.columns import Summary, coverage, edge_table, form_table, leaves, node_table, places
from questree.stages.decompose.expand import expand
from questree.stages.decompose.forms import Forms
from questree.stages.decompose.labels import read_labels
from questree.stages.decompose.negatives import Negatives
from questree.stages.decompose.propagate import Propagation
from questree.stages.decompose.spoken import say
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.told import Teller
from questree.tables.nodes import ABSENT
from questree.tables.store import new_folder
from questree.vocabulary.words import Vocabulary
from questree.workers import processes

Loose = list[tuple[str, str]]  # (video, isolated question as JSON)


@dataclass
class Told:
    summary: Summary = field(default_factory=Summary)
    unread: Counter[str] = field(default_factory=Counter)  # why a question has no DAG
    strange_answers: int = 0  # answers that are none of the question's kind; not used

    def add(self, other: "Told") -> None:
        self.summary.add(other.summary)
        self.unread.update(other.unread)
        self.strange_answers += other.strange_answers


def decompose_released(
    path: Path, out: Path, vocabulary: Vocabulary, workers: int = 2, absent: Path | None = None
) -> Told:
    """A question file into `<name>_hierarchies/`, whole or not at all; `absent` is a file of labels."""
    if not path.is_file():
        raise BadInput.at(path, "no such file; wanted a question file of AGQA's release")
    check_target(out)
    result, loose = Told(), Loose()
    few = workers < 2 or buckets(path) < 2  # starting processes does not pay
    with new_folder(out) as folder, ThreadPoolExecutor(1) if few else processes(workers) as pool:
        place, rest = folder / f"{path.stem}_hierarchies", folder / ".rows"
        place.mkdir()
        rest.mkdir()
        raw = msgspec.json.encode(vocabulary)
        dealt = Dealt.of(path, rest, raw, pool)
        labels = labelled(absent, dealt.videos, vocabulary)
        tasks = [(raw, bucket, place, labels) for bucket in dealt.filled()]
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


@lru_cache(maxsize=1)
def tools(vocabulary: bytes) -> tuple[Forms, Texts]:
    """Kept by a process from bucket to bucket."""
    words = msgspec.json.decode(vocabulary, type=Vocabulary)
    return Forms(words), Texts(words)


def write_bucket(vocabulary: bytes, bucket: Path, place: Path, labels: pl.DataFrame) -> tuple[Told, Loose]:
    """The files of a bucket's videos."""
    forms, texts = tools(vocabulary)
    questions = pl.read_parquet(bucket / "*.parquet").sort("video", maintain_order=True)
    unread = questions.filter(pl.col("shape").is_null())
    asked = questions.filter(pl.col("shape").is_not_null())
    names = asked["video"].unique(maintain_order=True)
    dags, told = taken_apart(asked, names, forms, texts, labels)
    told.unread.update(unread["fault"].to_list())
    told.summary.questions += len(unread)
    told.summary.isolated += len(unread)
    loose = [(row["video"], isolated(row)) for row in unread.iter_rows(named=True)]
    for number, found, alone in dags.videos():
        loose += [(names[number], row) for row in alone]
        if found:
            write_json(place / f"{names[number]}.json", found, "{}")
    return told, loose


def taken_apart(
    asked: pl.DataFrame, names: pl.Series, forms: Forms, texts: Texts, labels: pl.DataFrame
) -> tuple[Dags, Told]:
    """The DAGs of questions that can be read; `names` are their videos."""
    number = pl.Series(range(len(names)), dtype=pl.UInt32)
    video = asked["video"].replace_strict(names, number, return_dtype=pl.UInt32)
    blocks, tops = expand(forms, batches(asked, video.to_numpy().astype(np.int64), forms), len(asked))
    answers = given(asked, forms.vocabulary)
    sure = np.flatnonzero(answers != UNKNOWN)
    own = labels.join(pl.DataFrame({"name": names, "video": number}), on="name").select("video", "object")
    made = Propagation.of(forms, blocks, tops[sure], answers[sure], Negatives(own)).run()
    nodes, table = node_table(blocks, made.answers, made.known, 0), form_table(blocks)
    edges, _ = edge_table(blocks, np.full(len(nodes), UNKNOWN))
    summary = Summary(
        questions=len(asked),
        isolated=leaves(blocks, tops),
        edges=len(edges),
        clashes=len(made.contradictions),
        contradictions=Teller(table, nodes, texts, names.to_list()).derived(made),
        types=coverage(blocks, made.known),
        places=places(tops, made.known, edges),
    )
    top = asked.select("id", "text", "old").with_columns(video=video, node=pl.Series(tops), template=pl.lit(""))
    return Dags(top, say(table, nodes, texts), edges, names), Told(summary, strange_answers=len(asked) - len(sure))


def isolated(row: dict[str, str]) -> str:
    """A question whose program has no decomposition, with the reason."""
    names = {"key": "id", "answer": "answer", "question": "text", "program": "old", "reason": "fault"}
    said = quoted(pl.Series([row[column] for column in names.values()], dtype=pl.String)).to_list()
    parts = ", ".join(f'"{name}": {text}' for name, text in zip(names, said, strict=True))
    return f'{{{parts}, "type": ""}}'
