"""The audit of a run: every guesser before and after balancing, side by side, as tables, JSON and plots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.stages.audit.categories import CategoryCount, draw_categories, lengths
from questree.stages.audit.guesses import (
    KEY,
    MODEL,
    SETS,
    TYPE,
    Measure,
    Types,
    duplicates,
    guess_types,
    key_measures,
    measures,
    score_model,
)
from questree.stages.audit.key_counts import GROUPED, key_parts
from questree.stages.audit.plots import answers, first_words, structures
from questree.stages.shard_tables import ShardTables
from questree.tables.store import new_folder

GUESSERS = (TYPE, KEY, MODEL)
COUNTS, TEXTS = "counts", "texts"  # folders of what shards write


@dataclass(frozen=True)
class AuditOptions:
    most: int = 500_000  # questions of a set and split whose text is looked at
    seed: int = 1


@dataclass(frozen=True)
class AuditTask:
    """What every shard is looked at with; small enough to send anywhere that sees the run."""

    run: Path
    tables: ShardTables
    options: AuditOptions
    chosen: bool  # is there a selection?


@dataclass(frozen=True)
class RulesAloneCount:
    """Questions of a structure, or all, whose answers follow from rules alone, before and after balancing."""

    type: str
    before: int
    n_before: int  # questions
    after: int
    n_after: int


@dataclass(frozen=True)
class AuditedQuestions:
    """What is looked at, of either medium; templates and answers are numbers."""

    rows: pl.LazyFrame  # key, template, answer, test, before, after: how many questions of all, and of the selection
    counts: pl.DataFrame  # the same without keys
    texts: pl.LazyFrame  # question, template, answer, kind, test, hash; before, after: of which sets it is
    types: Types
    bars: list[str]  # [template] the bar of the plot of answers it is part of
    words: Mapping[int, str]  # of answers
    order: Sequence[str] = tuple(GROUPED)  # of rows
    categories: Sequence[CategoryCount] = ()  # of videos
    rules_alone: Sequence[RulesAloneCount] = ()
    labels: Sequence[Mapping[str, Any]] = ()  # [template] what the papers say of it beside its questions
    size: Mapping[str, Any] = field(default_factory=dict)  # of videos


@dataclass(frozen=True)
class Audit:
    options: AuditOptions
    balanced: bool  # is there a selection? if not, before and after are the same
    measures: list[Measure]
    duplicates: list[Measure]
    looked_at: int  # questions whose text was looked at
    categories: Sequence[CategoryCount]
    rules_alone: Sequence[RulesAloneCount]
    lengths: Mapping[str, dict[int, int]]  # before, after -> words of a question that was looked at -> how many
    templates: Sequence[Mapping[str, Any]]  # each with its questions, what the papers say of it, and one of them
    size: Mapping[str, Any]

    def guessed(self) -> dict[str, float]:
        """Share of all test questions each guesser gets right, after balancing if there is a selection."""
        found = {m.name: m.after.value for m in self.measures if m.type == "all" and m.name in GUESSERS}
        return {name: value for name, value in found.items() if value is not None}


def audit_questions(task: AuditTask, questions: AuditedQuestions) -> tuple[Audit, dict[str, str]]:
    """The audit and its plots."""
    counts, types = questions.counts, questions.types
    looked_at = questions.texts.collect(engine="streaming").sort("hash")
    texts = {name: looked_at.filter(name).drop(*SETS) for name in SETS}
    keys, entropy = key_measures(key_parts(questions.rows, questions.order), counts, types)
    model = measures(MODEL, {name: score_model(texts[name]) for name in SETS}, types)
    audit = Audit(
        task.options,
        task.chosen,
        [*guess_types(counts, types), *keys, *model, *entropy],
        [*duplicates(texts)],
        sum(map(len, texts.values())),
        questions.categories,
        questions.rules_alone,
        {name: lengths(texts[name]["question"]) for name in SETS},
        template_rows(questions, texts),
        questions.size,
    )
    drawn = {"answers": answers(counts, questions.bars, questions.words)}
    if questions.categories:
        drawn["categories"] = draw_categories(questions.categories)
    if "structure" in types:
        drawn["structures"] = structures(counts, types["structure"])
    return audit, drawn | {"first_words": first_words({name: table["question"] for name, table in texts.items()})}


def write_audit(folder: Path, audit: Audit, drawn: Mapping[str, str]) -> Audit:
    """Write audit.json and plots into the folder."""
    with new_folder(folder) as work:
        (work / "audit.json").write_bytes(msgspec.json.format(msgspec.json.encode(audit)))
        for name, text in drawn.items():
            (work / f"{name}.svg").write_text(text, "utf-8")
    return audit


def template_rows(questions: AuditedQuestions, texts: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """The example is the first question that was looked at, of the selection if it has one."""
    number = {code: sets for code, *sets in questions.counts.group_by("template").agg(pl.col(*SETS).sum()).rows()}
    every = pl.concat([texts[name].select("template", "question") for name in reversed(SETS)])
    example = dict(every.unique("template", keep="first", maintain_order=True).rows())
    return [
        {"template": name} | dict(zip(SETS, number[at], strict=True)) | {**labels, "example": example.get(at, "")}
        for at, (name, labels) in enumerate(zip(questions.types["template"], questions.labels, strict=True))
        if at in number
    ]
