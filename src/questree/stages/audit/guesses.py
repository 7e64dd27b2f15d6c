"""What can be had by guessing: the most likely answer of a type or of a content key, what a model learns from texts
alone, which texts repeat, and how open keys are."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.stages.audit.ngrams import grams, train

SETS = ("before", "after")  # balancing
TYPE, KEY, MODEL = "most likely answer of the type", "most likely answer of the key", "question-only model"
ENTROPY = "answer entropy per key, bits"
SCORES = {"template": pl.Int64, "value": pl.Float64, "n": pl.Int64}  # of a set; value: summed over n questions
Types = dict[str, list[str]]  # how questions are grouped -> [template] its type
Scores = Mapping[str, pl.DataFrame]  # set -> SCORES


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


def measures(name: str, scores: Scores, known: Types) -> Iterator[Measure]:
    """A measure per type that has questions."""
    for grouping, types in known.items():
        typed = {s: scores[s].with_columns(type=type_column(types, scores[s])) for s in SETS}
        for type in dict.fromkeys(types):
            sums = [typed[s].filter(pl.col("type") == type).select(pl.col("value", "n").sum()).row(0) for s in SETS]
            before, after = (GuessScore(value / n if n else None, int(n)) for value, n in sums)
            if before.n or after.n:
                yield Measure(name, type if grouping == "all" else f"{grouping}: {type}", before, after)


def type_column(types: list[str], table: pl.DataFrame) -> pl.Series:
    return pl.Series(types, dtype=pl.String).gather(table["template"])


def guess_types(counts: pl.DataFrame, known: Types) -> Iterator[Measure]:
    """Always answer what is most frequent in train for the type; counts: template, answer, test, before, after."""
    for grouping, types in known.items():
        typed = counts.with_columns(type=type_column(types, counts))
        scores = {s: count_hits(typed, s, most_likely(typed, s, "type")) for s in SETS}
        yield from measures(TYPE, scores, {grouping: types})


def key_measures(parts: Iterable[pl.DataFrame], counts: pl.DataFrame, known: Types) -> tuple[list[Measure], ...]:
    """The most frequent answer in train for the content key, or for the template if train has no such key; and bits of
    the answer given the key, within train and within test, averaged over questions.

    parts: counts by content key, some keys at a time; they may be too many to be in memory together."""
    learnt = {s: most_likely(counts, s, "template") for s in SETS}
    right, bits = ({s: pl.DataFrame(schema=SCORES) for s in SETS} for _ in range(2))
    for part in parts:
        for s in SETS:
            right[s] = pl.concat([right[s], count_hits(part, s, most_likely(part, s, "key"), learnt[s])])
            bits[s] = add_bits(bits[s], part.filter(pl.col(s) > 0), s)
    return [*measures(KEY, right, known)], [*measures(ENTROPY, bits, known)]


def most_likely(counts: pl.DataFrame, column: str, label: str) -> pl.DataFrame:
    """Per value of the label its most frequent answer in train; of equally frequent ones the first."""
    train = counts.filter(~pl.col("test"), pl.col(column) > 0)
    sums = train.group_by(label, "answer").agg(pl.col(column).cast(pl.Int64).sum())
    ordered = sums.sort([label, column, "answer"], descending=[False, True, False])
    return ordered.group_by(label, maintain_order=True).first().select(label, pl.col("answer").alias(f"by {label}"))


def count_hits(counts: pl.DataFrame, column: str, *guesses: pl.DataFrame) -> pl.DataFrame:
    """SCORES of test questions; what the first guess does not know, the next one may. Where the last one knows nothing
    there is nothing to learn from, and nothing is scored."""
    test = counts.filter("test", pl.col(column) > 0)
    test = test.clear() if guesses[-1].is_empty() else test
    for guess in guesses:
        test = test.join(guess, on=guess.columns[0], how="left")
    hit = (pl.col("answer") == pl.coalesce(guess.columns[1] for guess in guesses)).fill_null(False)
    number = pl.col(column).cast(pl.Int64)
    return test.group_by("template").agg(value=(hit * number).sum(), n=number.sum()).cast(SCORES)  # type: ignore[arg-type]


def add_bits(scores: pl.DataFrame, part: pl.DataFrame, column: str) -> pl.DataFrame:
    """n times the entropy of each key, summed in the order of the keys whatever the parts."""
    number = pl.col(column).cast(pl.Float64)
    value = -number * (number / number.sum().over("key", "test")).log(2)
    rows = part.select(pl.col("template").cast(pl.Int64), value=value, n=pl.col(column).cast(pl.Int64))
    every = pl.concat([scores, rows])
    template = every["template"].to_numpy()
    sums = {name: np.bincount(template, every[name].to_numpy()) for name in ("value", "n")}
    return pl.DataFrame({"template": np.arange(len(sums["n"])), **sums}).cast(SCORES)  # type: ignore[arg-type]


def score_model(texts: pl.DataFrame) -> pl.DataFrame:
    """SCORES of a model that is trained on the questions of train, on those of test; texts are in the order of a hash,
    so they are shuffled already."""
    learnt, asked = texts.filter(~pl.col("test")), texts.filter("test")
    if learnt.is_empty():
        asked = asked.clear()
    answer, kind = learnt["answer"].to_numpy(), learnt["kind"].to_numpy()
    known = train(grams(learnt["question"]), answer, kind, np.arange(len(learnt)))
    guess = known.predict(grams(asked["question"]), asked["kind"].to_numpy())
    hit = pl.Series(guess == asked["answer"].to_numpy(), dtype=pl.Boolean)
    by_template = asked.with_columns(hit=hit).group_by("template")
    return by_template.agg(value=pl.col("hit").sum(), n=pl.len()).cast(SCORES)  # type: ignore[arg-type]


def duplicates(texts: Scores) -> Iterator[Measure]:
    """Of the test questions looked at, those whose text (and answer) is among the train questions looked at."""
    for name, columns in (("text", ["question"]), ("text and answer", ["question", "answer"])):
        scores = []
        for table in (texts[s] for s in SETS):
            asked, learnt = table.filter("test"), table.filter(~pl.col("test")).select(columns).unique()
            same = asked.join(learnt, on=columns, how="semi")
            scores.append(GuessScore(len(same) / len(asked) if len(asked) else None, len(asked)))
        yield Measure("test questions also in train", name, *scores)
