"""What can be had by guessing: the most likely answer of a type or of a content key, what a model learns from texts
alone, which texts repeat, and how open keys are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.stages.audit.ngrams import grams, train

SETS = ("before", "after")  # balancing
TYPE, KEY, MODEL = "most likely answer of the type", "most likely answer of the key", "question-only model"
Types = dict[str, list[str]]  # how questions are grouped -> [template] its type
Parts = Sequence[pl.LazyFrame]  # counts by content key, ascending, in memory one after the other; a key is in one part


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
        scores = {s: right(named.rename({s: "number"}), "type") for s in SETS}
        yield from measures(scores, types, grouping, TYPE)


def guess_keys(parts: Parts, counts: pl.DataFrame, known: Types) -> Iterator[Measure]:
    """Answer what is most frequent in train for the content key, or for the template if train has no such key."""
    yield from by_type({s: by_keys(parts, counts, s) for s in SETS}, KEY, known)


def by_keys(parts: Parts, counts: pl.DataFrame, column: str) -> pl.DataFrame:
    """template, value, n; counts: of templates, which may tell what a key cannot."""
    learnt = trained(counts.rename({column: "number"}))
    found = [counts.select("template", value=pl.lit(0, pl.Int64), n=pl.lit(0, pl.Int64)).clear()]
    for part in parts if len(learnt) else ():
        own = part.filter(pl.col(column) > 0).rename({column: "number"}).collect()
        guesses = [most_likely(trained(own), "key"), most_likely(learnt, "template")]
        found.append(hits(own.filter("test"), guesses, "template"))
    return pl.concat(found).group_by("template").agg(pl.col("value", "n").sum())


def right(counts: pl.DataFrame, label: str) -> pl.DataFrame:
    """label, value, n: test questions answered right by the most frequent answer of train; counts: with a number."""
    own = counts.filter(pl.col("number") > 0)
    learnt, test = trained(own), own.filter("test")
    # nothing to learn from: nothing is scored
    return hits(test if len(learnt) else test.clear(), [most_likely(learnt, label)], label)


def trained(counts: pl.DataFrame) -> pl.DataFrame:
    return counts.filter(~pl.col("test"), pl.col("number") > 0)


def hits(test: pl.DataFrame, guesses: list[pl.DataFrame], label: str) -> pl.DataFrame:
    """label, value, n; what the first guess does not know, the next one may."""
    for guess in guesses:
        test = test.join(guess, on=guess.columns[0], how="left")
    hit = (pl.col("answer") == pl.coalesce(guess.columns[1] for guess in guesses)).fill_null(False)
    number = pl.col("number").cast(pl.Int64)
    return test.group_by(label).agg(value=(hit * number).sum(), n=number.sum())


def most_likely(train: pl.DataFrame, column: str) -> pl.DataFrame:
    """Per value of the column its most frequent answer; of equally frequent ones the first."""
    sums = train.group_by(column, "answer").agg(pl.col("number").cast(pl.Int64).sum())
    ordered = sums.sort([column, "number", "answer"], descending=[False, True, False])
    return ordered.group_by(column, maintain_order=True).first().select(column, pl.col("answer").alias(f"by {column}"))


def entropy(parts: Parts, known: Types) -> Iterator[Measure]:
    """Bits of the answer given the content key, within train and within test, averaged over questions."""
    yield from by_type({s: bits(parts, s) for s in SETS}, "answer entropy per key, bits", known)


def bits(parts: Parts, column: str) -> pl.DataFrame:
    """template, value, n: n times the entropy of each key, summed in the order of the keys whatever the parts."""
    number = pl.col(column).cast(pl.Float64)
    whole = number.sum().over("key", "test")
    value, n = (np.zeros(0, np.float64) for _ in range(2))
    for part in parts:
        own = part.filter(pl.col(column) > 0).with_columns(value=-number * (number / whole).log(2)).collect()
        template = np.append(np.arange(len(n)), own["template"].to_numpy())  # what was summed so far comes first
        value, n = (
            np.asarray(np.bincount(template, np.append(so_far, own[name].to_numpy())), np.float64)
            for name, so_far in (("value", value), (column, n))
        )
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
