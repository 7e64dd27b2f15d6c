"""The audit of a run: every guesser before and after balancing, side by side, as tables, JSON and plots."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.stages.audit.counts import counts
from questree.stages.audit.guesses import (
    KEY,
    SETS,
    TYPE,
    GuessScore,
    Measure,
    Types,
    by_type,
    entropy,
    guess_keys,
    guess_types,
    types_of,
)
from questree.stages.audit.ngrams import grams, train
from questree.stages.audit.plots import plots
from questree.stages.audit.sample import sample
from questree.stages.balance.rounds import selection
from questree.stages.questions import Bank
from questree.tables.facts import VIDEOS
from questree.tables.run import Run
from questree.tables.store import new_folder

MODEL = "question-only model"
GUESSERS = (TYPE, KEY, MODEL)


@dataclass(frozen=True)
class AuditOptions:
    most: int = 500_000  # questions of a set and split whose text is looked at
    seed: int = 1


@dataclass(frozen=True)
class Audit:
    options: AuditOptions
    balanced: bool  # is there a selection? if not, before and after are the same
    measures: list[Measure]
    duplicates: list[Measure]
    looked_at: int  # questions whose text was looked at

    def guessed(self) -> dict[str, float]:
        """Share of all test questions each guesser gets right, after balancing if there is a selection."""
        found = {m.name: m.after.value for m in self.measures if m.type == "all" and m.name in GUESSERS}
        return {name: value for name, value in found.items() if value is not None}


def audit(run: Run, options: AuditOptions, workers: int = 2) -> Audit:
    """Write RUN/audit: audit.json and plots."""
    bank = Bank(run)
    test = (run.table("facts", VIDEOS)["split"] != "train").to_numpy()
    chosen = selection(run)
    with ThreadPoolExecutor(workers) as pool:
        table = counts(bank, test, chosen, pool)
        said = {
            name: sample(bank, test, few, shares(table, name, options.most), options.seed, pool)
            for name, few in (("before", None), ("after", chosen))
        }
    known = types_of(bank.edition.by_code)
    measures = [*guess_types(table, known), *guess_keys(table, known), *model(said, known), *entropy(table, known)]
    found = Audit(options, chosen is not None, measures, [*duplicates(said)], sum(map(len, said.values())))
    written(run.folder / "audit", found, plots(table, said, bank))
    return found


def written(folder: Path, found: Audit, drawn: dict[str, str]) -> None:
    with new_folder(folder) as work:
        (work / "audit.json").write_bytes(msgspec.json.format(msgspec.json.encode(found)))
        for name, text in drawn.items():
            (work / f"{name}.svg").write_text(text, "utf-8")


def shares(table: pl.DataFrame, column: str, most: int) -> tuple[float, float]:
    """Of the train and the test questions of a set that may be looked at."""
    total = {test: int(table.filter(pl.col("test") == test)[column].sum()) for test in (False, True)}
    return min(1.0, most / max(total[False], 1)), min(1.0, most / max(total[True], 1))


def model(said: dict[str, pl.DataFrame], known: Types) -> Iterator[Measure]:
    """Trained on the questions of train, scored on those of test."""
    yield from by_type({s: scored(said[s]) for s in SETS}, MODEL, known)


def scored(table: pl.DataFrame) -> pl.DataFrame:
    """template, value, n of the test questions; the table is in the order of a hash, so it is shuffled already."""
    learnt, asked = table.filter(~pl.col("test")), table.filter("test")
    if learnt.is_empty():
        asked = asked.clear()
    answer, kind = learnt["answer"].to_numpy(), learnt["kind"].to_numpy()
    known = train(grams(learnt["question"]), answer, kind, np.arange(len(learnt)))
    guess = known.predict(grams(asked["question"]), asked["kind"].to_numpy())
    hit = pl.Series(guess == asked["answer"].to_numpy(), dtype=pl.Boolean)
    by_template = asked.with_columns(hit=hit).group_by("template")
    return by_template.agg(value=pl.col("hit").sum().cast(pl.Int64), n=pl.len().cast(pl.Int64))


def duplicates(said: dict[str, pl.DataFrame]) -> Iterator[Measure]:
    """Of the test questions looked at, those whose text (and answer) is among the train questions looked at."""
    for name, columns in (("text", ["question"]), ("text and answer", ["question", "answer"])):
        found = []
        for table in (said[s] for s in SETS):
            asked, learnt = table.filter("test"), table.filter(~pl.col("test")).select(columns).unique()
            same = asked.join(learnt, on=columns, how="semi")
            found.append(GuessScore(len(same) / len(asked) if len(asked) else None, len(asked)))
        yield Measure("test questions also in train", name, *found)
