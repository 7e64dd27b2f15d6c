"""How often each answer is given to each content key: queries over the tables that shards write."""

from collections.abc import Iterator, Sequence

import polars as pl

from questree.stages.audit.guesses import SETS

PART = 2_000_000  # rows of tables in memory together
EVERY = 1_000  # of so many keys one says where parts begin
GROUPED = ["key", "template", "answer", "test"]
Shares = dict[str, tuple[float, float]]  # before, after -> of its train and of its test questions


def count_answers(rows: pl.LazyFrame) -> pl.DataFrame:
    """template, answer, test, before, after: how many questions of all, and of the selection, whatever their keys."""
    by = GROUPED[1:]
    return rows.group_by(by).agg(pl.col(*SETS).cast(pl.Int64).sum()).sort(by).collect(engine="streaming")


def key_parts(rows: pl.LazyFrame, order: Sequence[str] = GROUPED) -> Iterator[pl.DataFrame]:
    """The counts with keys, some keys at a time, in an order of their columns.

    Long videos have as many keys as questions, so they are never all in memory."""
    keys = rows.select(pl.col("key").gather_every(EVERY)).collect(engine="streaming")["key"].sort()
    parts = max(len(keys) * EVERY // PART, 1)
    begins = keys.gather([len(keys) * part // parts for part in range(1, parts)]).unique().sort().to_list()
    sums = [pl.col(*SETS).sum(), *(pl.col(name).min() for name in order if name not in GROUPED)]
    for low, high in zip([None, *begins], [*begins, None], strict=True):
        part = rows if low is None else rows.filter(pl.col("key") >= low)
        part = part if high is None else part.filter(pl.col("key") < high)
        yield part.group_by(GROUPED).agg(sums).sort(order).collect(engine="streaming")


def question_shares(counts: pl.DataFrame, most: int) -> Shares:
    """Of the train and the test questions of every set that may be looked at."""
    totals = {name: [int(counts.filter(test=test)[name].sum()) for test in (False, True)] for name in SETS}
    return {name: (min(1.0, most / max(a, 1)), min(1.0, most / max(b, 1))) for name, (a, b) in totals.items()}


def sampled(shares: Shares) -> list[pl.Expr]:
    """[question] is it looked at in each set? By its hash, if it is there."""
    among = (pl.col("hash") // 2**11).cast(pl.Float64)
    limits = {name: pl.when("test").then(test).otherwise(train) * 2.0**53 for name, (train, test) in shares.items()}
    return [(pl.col(name) & (among < limit)).alias(name) for name, limit in limits.items()]
