"""Released AGQA question files into DAGs, without scene graphs: answers are those of the questions and what follows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import quoted
from questree.faults import BadInput
from questree.formats.decomp import Dags, check_target
from questree.formats.decomp_files import ISOLATED, file_of
from questree.formats.decomp_kept import write_json
from questree.formats.released_questions import (
    COLUMNS,
    AnswersRead,
    Buckets,
    RecordColumns,
    batches,
    bucket_rows,
    in_order,
    sources,
    tools,
)
from questree.progress import watch
from questree.stages.decompose.columns import (
    DecomposeSummary,
    coverage,
    edge_table,
    form_table,
    leaves,
    node_table,
    places,
    reached,
    renumbered,
    word_of,
)
from questree.stages.decompose.expand import expand
from questree.stages.decompose.negatives import Negatives, read_labels
from questree.stages.decompose.propagate import Propagation, Teller
from questree.stages.decompose.spoken import say
from questree.tables.nodes import ABSENT
from questree.tables.owners import remove
from questree.tables.store import new_folder
from questree.terms import UNKNOWN
from questree.vocabulary.words import Vocabulary
from questree.workers import processes

BUCKET = 1 << 27  # bytes of questions that are taken apart at once
LIGHT = 8  # so many bytes of questions that are only sources of answers weigh as much as one of the others

Loose = list[tuple[str, str]]  # (video, isolated question as JSON)


@dataclass
class DecomposedRelease:
    summary: DecomposeSummary = field(default_factory=DecomposeSummary)
    unread: Counter[str] = field(default_factory=Counter)  # why a question has no DAG
    strange_answers: int = 0  # answers that are none of the question's kind; not used
    answers: AnswersRead | None = None  # other questions that were sources of answers

    def add(self, other: "DecomposedRelease") -> None:
        self.summary.add(other.summary)
        self.unread.update(other.unread)
        self.strange_answers += other.strange_answers


def buckets(path: Path, others: Sequence[Path] = ()) -> int:
    size = path.stat().st_size + sum(other.stat().st_size for other in others) // LIGHT
    return max(1, -(-size // BUCKET))


def decompose_released(
    path: Path,
    out: Path,
    vocabulary: Vocabulary,
    workers: int = 2,
    absent: Path | None = None,
    answers: Sequence[Path] = (),
) -> DecomposedRelease:
    """A question file into `<name>_hierarchies/`, whole or not at all; `absent` is a file of labels, `answers` are
    files or folders of questions of the same videos whose answers are used."""
    if not path.is_file():
        raise BadInput.at(path, "no such file; expected a question file of AGQA's release")
    check_target(out)
    result, loose, others = DecomposedRelease(), Loose(), sources(answers)
    count = buckets(path, others)
    with new_folder(out) as folder, processes(workers, tasks=min(workers, count)) as pool:
        place, rest = folder / f"{path.stem}_hierarchies", folder / ".rows"
        place.mkdir()
        rest.mkdir()
        dealt = Buckets(rest, count, msgspec.json.encode(vocabulary))
        labels = labelled(absent, dealt.deal_questions(path, pool).to_list(), vocabulary)
        if others:
            result.answers = dealt.deal_answers(others, pool)
        tasks = [(dealt.vocabulary, bucket, place, labels) for bucket in dealt.places()]
        for told, isolated in watch(in_order(pool, write_bucket, tasks), "decompose", len(tasks)):
            result.add(told)
            loose += isolated
        remove(rest)
        write_json(place / ISOLATED, [row for _, row in sorted(loose, key=lambda pair: pair[0])], "[]")
    return result


def labelled(path: Path | None, videos: list[str], vocabulary: Vocabulary) -> pl.DataFrame:
    """What a file of labels says: name of the video, object."""
    found = read_labels(path, videos, vocabulary) if path else ABSENT.empty()
    return found.select("object", name=pl.Series(videos, dtype=pl.String).gather(found["video"]))


def write_bucket(vocabulary: bytes, bucket: Path, place: Path, labels: pl.DataFrame) -> tuple[DecomposedRelease, Loose]:
    """The files of a bucket's videos."""
    known = tools(vocabulary)
    questions = bucket_rows(bucket, "asked").sort("video", maintain_order=True)
    others = bucket_rows(bucket, "other")
    unread = questions.filter(pl.col("form").is_null())
    asked = questions.filter(pl.col("form").is_not_null())
    names = asked["video"].unique(maintain_order=True)
    dags, told = taken_apart(asked, others, names, known, labels)
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
    asked: pl.DataFrame, others: pl.DataFrame, names: pl.Series, known: RecordColumns, labels: pl.DataFrame
) -> tuple[Dags, DecomposedRelease]:
    """The DAGs of questions that can be read; `names` are their videos. Others are taken apart with them, so that what
    follows from their answers is known, but only what is below the questions is kept."""
    number = pl.DataFrame({"video": names, "number": pl.Series(range(len(names)), dtype=pl.UInt32)})
    every = pl.concat([asked.select(COLUMNS.keys()), others]).join(number, on="video", maintain_order="left")
    video, answers = every["number"].to_numpy().astype(np.int64), every["answer"].to_numpy()
    forms, texts = known.forms, known.texts
    blocks, tops = expand(forms, batches(every, video, known), len(every))
    sure = np.flatnonzero(answers != UNKNOWN)
    own = labels.join(number, left_on="name", right_on="video").select("object", video="number")
    made = Propagation.of(forms, blocks, tops[sure], answers[sure], Negatives(own)).run()
    how, own_tops = made.known, tops[: len(asked)]
    nodes, table = node_table(blocks, made.answers, how, 0, word=word_of(forms.vocabulary)), form_table(blocks)
    edges, _ = edge_table(blocks, np.full(len(nodes), UNKNOWN))
    below = reached(blocks, own_tops)
    contradictions = Teller(table, nodes, texts, names.to_list()).derived(made)
    kept, place = np.flatnonzero(below), np.cumsum(below) - 1
    edges, own_tops = renumbered(edges, below, place), place[own_tops]
    summary = DecomposeSummary(
        questions=len(asked),
        isolated=leaves(blocks, tops[: len(asked)]),
        edges=len(edges),
        clashes=len(made.contradictions),
        contradictions=contradictions,
        types=coverage(blocks, how, below),
        places=places(own_tops, how[kept], edges),
    )
    top = asked.select("id", "text", "old").with_columns(
        video=every["number"][: len(asked)], node=pl.Series(own_tops), template=pl.lit("")
    )
    strange = int((answers[: len(asked)] == UNKNOWN).sum())
    return Dags(top, say(table, nodes[kept], texts), edges, names), DecomposedRelease(summary, strange_answers=strange)


def isolated(row: dict[str, str]) -> str:
    """A question whose program has no decomposition, with the reason."""
    names = {"key": "id", "answer": "said", "question": "text", "program": "old", "reason": "fault"}
    said = quoted(pl.Series([row[column] for column in names.values()], dtype=pl.String)).to_list()
    parts = ", ".join(f'"{name}": {text}' for name, text in zip(names, said, strict=True))
    return f'{{{parts}, "type": ""}}'
