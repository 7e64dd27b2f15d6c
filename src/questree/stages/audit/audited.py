"""The audit of a run: every guesser before and after balancing, side by side, as tables, JSON and plots."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.stages.audit.categories import CategoryCount, lengths
from questree.stages.audit.categories import drawn as drawn_categories
from questree.stages.audit.guesses import (
    KEY,
    MODEL,
    SETS,
    TYPE,
    Measure,
    Parts,
    Types,
    duplicates,
    entropy,
    guess_keys,
    guess_types,
    model,
)
from questree.stages.audit.plots import answers, first_words, structures
from questree.tables.store import new_folder

GUESSERS = (TYPE, KEY, MODEL)


@dataclass(frozen=True)
class AuditOptions:
    most: int = 500_000  # questions of a set and split whose text is looked at
    seed: int = 1


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

    balanced: bool  # is there a selection?
    keys: Parts  # key, template, answer, test, before, after: how many questions of all, and of the selection
    counts: pl.DataFrame  # the same without keys
    said: dict[str, pl.DataFrame]  # before, after -> question, template, answer, kind, test, in the order of a hash
    types: Types
    bars: list[str]  # [template] the bar of the plot of answers it is part of
    words: Mapping[int, str]  # of answers
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


def audited(asked: AuditedQuestions, options: AuditOptions, folder: Path) -> Audit:
    """Write audit.json and plots into the folder."""
    counts, said, types = asked.counts, asked.said, asked.types
    guessed = [*guess_types(counts, types), *guess_keys(asked.keys, counts, types)]
    measures = [*guessed, *model(said, types), *entropy(asked.keys, types)]
    looked_at, long = sum(map(len, said.values())), {name: lengths(said[name]["question"]) for name in SETS}
    counted = asked.categories, asked.rules_alone
    listed = *counted, long, templates(asked), asked.size
    found = Audit(options, asked.balanced, measures, [*duplicates(said)], looked_at, *listed)
    drawn = {"answers": answers(counts, asked.bars, asked.words)}
    if asked.categories:
        drawn["categories"] = drawn_categories(asked.categories)
    if "structure" in types:
        drawn["structures"] = structures(counts, types["structure"])
    drawn["first_words"] = first_words({name: table["question"] for name, table in said.items()})
    with new_folder(folder) as work:
        (work / "audit.json").write_bytes(msgspec.json.format(msgspec.json.encode(found)))
        for name, text in drawn.items():
            (work / f"{name}.svg").write_text(text, "utf-8")
    return found


def templates(asked: AuditedQuestions) -> list[dict[str, Any]]:
    """The example is the first question that was looked at, of the selection if it has one."""
    counts = {code: own for code, *own in asked.counts.group_by("template").agg(pl.col(*SETS).sum()).rows()}
    every = pl.concat([asked.said[name].select("template", "question") for name in reversed(SETS)])
    example = dict(every.unique("template", keep="first", maintain_order=True).rows())
    return [
        {"template": name} | dict(zip(SETS, counts[at], strict=True)) | {**labels, "example": example.get(at, "")}
        for at, (name, labels) in enumerate(zip(asked.types["template"], asked.labels, strict=True))
        if at in counts
    ]


def without_keys(keys: Parts) -> pl.DataFrame:
    """template, answer, test, before, after of all parts."""
    by = ["template", "answer", "test"]
    found = pl.concat([part.group_by(by).agg(pl.col(*SETS).cast(pl.Int64).sum()).collect() for part in keys])
    return found.group_by(by).agg(pl.col(*SETS).sum()).sort(by)


def shares(table: pl.DataFrame, column: str, most: int) -> tuple[float, float]:
    """Of the train and the test questions of a set that may be looked at."""
    total = {test: int(table.filter(pl.col("test") == test)[column].sum()) for test in (False, True)}
    return min(1.0, most / max(total[False], 1)), min(1.0, most / max(total[True], 1))
