"""What can be had by guessing: the most likely answer of a type or of a content key, what a model learns from texts
alone, which texts repeat, and how open keys are."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.stages.audit.ngrams import grams, train

SETS = ("before", "after")  # balancing
TYPE, KEY, MODEL = "most likely answer of the type", "most likely answer of the key", "question-only model"
Types = dict[str, list[str]]  # how questions are grouped -> [template] its type


@dataclass(frozen=True)
class GuessScore:
    """A share, or bits of entropy; None where nothing is there to score."""

    value: float | None
    n: int


@dataclass(frozen=True)
class Measure:
    name: str
    type: str  # "structure: query"
    before: GuessScore
    after: GuessScore


def by_type(scores: dict[str, pl.DataFrame], name: str, known: Types) -> Iterator[Measure]:
    """scores per set: template, value, n (value: summed over n questions) -> one measure per type."""
    for grouping, types in known.items():
        yield from measures({s: typed(scores[s], types) for s in SETS}, types, grouping, name)


def typed(table: pl.DataFrame, types: list[str]) -> pl.DataFrame:
    return table.with_columns(type=pl.Series(types, dtype=pl.String).gather(table["template"]))


def measures(scores: dict[str, pl.DataFrame], types: list[str], grouping: str, name: str) -> Iterator[Measure]:
    """scores per set: type, value, n."""
    for type in dict.fromkeys(types):
        own = [scores[s].filter(pl.col("type") == type).select(pl.col("value", "n").sum()).row(0) for s in SETS]
        before, after = (GuessScore(value / n if n else None, int(n)) for value, n in own)
        if before.n or after.n:
            yield Measure(name, type if grouping == "all" else f"{grouping}: {type}", before, after)


def guess_types(counts: pl.DataFrame, known: Types) -> Iterator[Measure]:
    """Always answer what is most frequent in train for the type."""
    for grouping, types in known.items():
        named = typed(counts, types)
        scores = {s: right(named.rename({s: "number"}), ["type"], "type") for s in SETS}
        yield from measures(scores, types, grouping, TYPE)


def guess_keys(counts: pl.DataFrame, known: Types) -> Iterator[Measure]:
    """Answer what is most frequent in train for the content key, or for the template if train has no such key."""
    scores = {s: right(counts.rename({s: "number"}), ["key", "template"], "template") for s in SETS}
    yield from by_type(scores, KEY, known)


def right(counts: pl.DataFrame, known_by: list[str], label: str) -> pl.DataFrame:
    """label, value, n per label: test questions answered right by the most frequent answer of train.

    `counts` has answer, test, number; what the first column cannot tell, the next one may.
    """
    own = counts.filter(pl.col("number") > 0)
    train, test = own.filter(~pl.col("test")), own.filter("test")
    if train.is_empty():  # nothing to learn from: nothing is scored
        test = test.clear()
    for column in known_by:
        test = test.join(most_likely(train, column), on=column, how="left")
    hit = (pl.col("answer") == pl.coalesce(f"by {column}" for column in known_by)).fill_null(False)
    number = pl.col("number").cast(pl.Int64)
    return test.group_by(label).agg(value=(hit * number).sum(), n=number.sum())


def most_likely(train: pl.DataFrame, column: str) -> pl.DataFrame:
    """Per value of the column its most frequent answer; of equally frequent ones the first."""
    sums = train.group_by(column, "answer").agg(pl.col("number").cast(pl.Int64).sum())
    ordered = sums.sort([column, "number", "answer"], descending=[False, True, False])
    return ordered.group_by(column, maintain_order=True).first().select(column, pl.col("answer").alias(f"by {column}"))


def entropy(counts: pl.DataFrame, known: Types) -> Iterator[Measure]:
    """Bits of the answer given the content key, within train and within test, averaged over questions."""
    yield from by_type({s: bits(counts, s) for s in SETS}, "answer entropy per key, bits", known)


def bits(counts: pl.DataFrame, column: str) -> pl.DataFrame:
    """template, value, n: n times the entropy of each key, summed in the order of the table."""
    number = pl.col(column).cast(pl.Float64)
    whole = number.sum().over("key", "test")
    own = counts.filter(pl.col(column) > 0).with_columns(value=-number * (number / whole).log(2))
    template = own["template"].to_numpy()
    value, n = (np.bincount(template, own[name].to_numpy()) for name in ("value", column))
    return pl.DataFrame({"template": np.arange(len(n)), "value": value, "n": n.astype(np.int64)})


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
