"""The audit of questions about image sets: what their text alone tells about their answers, template by template."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.benchmarks.covr.templates import TEMPLATES
from questree.columns.hashing import mix, seed_of, seeds_of
from questree.stages.audit.audited import Audit, AuditedQuestions, AuditOptions, audited, shares, without_keys
from questree.stages.audit.guesses import SETS, Types
from questree.stages.audit.key_counts import COUNTS, FIRST, GROUPED, CountedShard, merged, put_counts, texts_of
from questree.tables.image_questions import QuestionChunk, chunks, has_selection
from questree.tables.run import Run
from questree.tables.store import for_others, scratch
from questree.workers import over, processes

NAMES = [template.name for template in TEMPLATES]
BINARY = ("yes", "no")


@dataclass(frozen=True)
class SetAuditTask:
    """What every chunk is looked at with; small enough to send anywhere that sees the run."""

    scratch: Path
    seed: int

    def place(self, chunk: QuestionChunk, what: str) -> Path:
        return self.scratch / f"{chunk}{what}"


LOOKED_AT = ".seen"  # a file of what is known about every question but its text


class SeenAnswers(NamedTuple):
    """What a chunk has of templates and answers."""

    first: dict[str, int]  # template -> the lowest hash of its questions
    answers: set[str]
    open: set[str]  # templates with answers besides yes and no


class NumberedWords(NamedTuple):
    """The numbers of templates, in the order of their first questions, and of answers, in their alphabet."""

    templates: list[str]
    answers: list[str]

    @classmethod
    def of(cls, seen: Sequence[SeenAnswers]) -> "NumberedWords":
        names = {name for own in seen for name in own.first}
        first = {name: min(own.first[name] for own in seen if name in own.first) for name in names}
        return cls(sorted(names, key=first.__getitem__), sorted(set[str]().union(*(own.answers for own in seen))))

    def put(self, table: pl.DataFrame) -> pl.DataFrame:
        """With the columns template and answer."""
        template = dict(zip(self.templates, range(len(self.templates)), strict=True))
        answer = dict(zip(self.answers, range(len(self.answers)), strict=True))
        return table.with_columns(
            template=table["name"].replace_strict(template, return_dtype=pl.Int64),
            answer=table["said"].replace_strict(answer, return_dtype=pl.Int64),
        )


def audit(run: Run, options: AuditOptions, workers: int = 1) -> Audit:
    """Write RUN/covr/audit. The key of a question is its text; questions of dev are left out."""
    parts, target = chunks(run), run.covr / "audit"
    with scratch(target) as place:
        task = SetAuditTask(place, options.seed)
        with processes(workers, tasks=min(workers, len(parts))) as pool:
            seen = over(pool, "reading questions", "questions", parts, look, task)
            known = NumberedWords.of(seen)
            keys = merged(place, over(pool, "counting answers", "questions", parts, count_chunk, task, known), [FIRST])
            table = without_keys(keys)
            share = {name: shares(table, name, options.most) for name in SETS}
            over(pool, "saying questions", "questions", parts, write_said, task, known, share)
        said = {
            name: texts_of(pl.scan_ipc(task.place(part, f".{name}"), glob=False).collect() for part in parts)
            for name in SETS
        }
        types = types_of(set[str]().union(*(own.open for own in seen)), known.templates)
        words = dict(enumerate(known.answers))
        labels, drawn = [labels_of(name) for name in known.templates], has_selection(run)
        asked = AuditedQuestions(drawn, keys, table, said, types, known.templates, words, labels=labels)
        return audited(asked, options, target)


def look(task: SetAuditTask, chunk: QuestionChunk) -> SeenAnswers:
    """Write name, said, test, kept, hash and key of every question."""
    every = asked(chunk, "id", "template", "question", "answer")
    kept = chunk.chosen(every["id"]) if has_selection(Run(chunk.run)) else pl.Series([True] * len(every))
    hashed = mix(seed_of(task.seed, "audit"), seeds_of(task.seed, every["id"]))
    texts = every["question"].unique()
    key = pl.DataFrame({"question": texts, "key": seeds_of(0, texts).view(np.int64)})
    table = every.join(key, on="question", how="left", maintain_order="left").select(
        "key", name="template", said="answer", test=pl.col("split") == "test", kept=kept, hash=pl.Series(hashed)
    )
    with for_others(task.place(chunk, LOOKED_AT)) as file:
        table.write_ipc(file)
    first = dict(table.group_by("name").agg(pl.col("hash").min()).rows())
    open_ones = set(table.filter(~pl.col("said").is_in(BINARY))["name"])
    return SeenAnswers(first, set(table["said"].unique()), open_ones)


def asked(chunk: QuestionChunk, *columns: str) -> pl.DataFrame:
    return chunk.read("split", *columns).filter(pl.col("split") != "dev")


def count_chunk(task: SetAuditTask, chunk: QuestionChunk, known: NumberedWords) -> CountedShard:
    """Write how often every answer is given to every text."""
    table = known.put(pl.scan_ipc(task.place(chunk, LOOKED_AT), glob=False).collect())
    own = table.group_by(GROUPED).agg(
        pl.col("hash").min().alias(FIRST), before=pl.len().cast(pl.Int64), after=pl.col("kept").sum().cast(pl.Int64)
    )
    return put_counts(own, task.place(chunk, COUNTS))


def write_said(
    task: SetAuditTask, chunk: QuestionChunk, known: NumberedWords, share: dict[str, tuple[float, float]]
) -> None:
    """question, template, answer, kind, test, hash of what is looked at before and after balancing, each as a file."""
    order = {name: at for at, name in enumerate(NAMES)}
    table = known.put(pl.scan_ipc(task.place(chunk, LOOKED_AT), glob=False).collect()).with_columns(
        asked(chunk, "question")["question"],
        kind=pl.col("name").replace_strict(order, default=len(NAMES), return_dtype=pl.Int64),
    )
    for name, own in (("before", table), ("after", table.filter("kept"))):
        with for_others(task.place(chunk, f".{name}")) as file:
            some = sampled(own, share[name])
            some.select("question", "template", "answer", "kind", "test", "hash").write_ipc(file)


def sampled(table: pl.DataFrame, share: tuple[float, float]) -> pl.DataFrame:
    """At most as many of train and of test as may be looked at."""
    limit = pl.when("test").then(share[1]).otherwise(share[0]) * 2.0**53
    return table.filter((pl.col("hash") // 2**11).cast(pl.Float64) < limit)


def labels_of(name: str) -> dict[str, str]:
    """As in Table 2; a template that came from elsewhere says nothing of itself."""
    template = next((each for each in TEMPLATES if each.name == name), None)
    if template is None:
        return {"preconditions": "", "wording": ""}
    return {"preconditions": template.needs, "wording": template.forms[0].frames[0]}


def types_of(open_ones: Collection[str], templates: list[str]) -> Types:
    """A template whose answers are yes and no alone is binary."""
    return {
        "all": ["all"] * len(templates),
        "answers": ["open" if name in open_ones else "binary" for name in templates],
        "template": templates,
    }
