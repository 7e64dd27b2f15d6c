"""What is in a file of predictions, before anything is scored: whom it answers, what could be read, what is odd."""

from dataclasses import dataclass

import polars as pl

from questree.metrics.scores import Coverage, coverage
from questree.models.policies import ANSWER, QUESTION, RAW, REASON, Policy
from questree.models.predictions import PREDICTION, Predictions
from questree.said.question import COUNT, TIME, YES_NO
from questree.scoring.compared import PredictionReader

SHOWN = 20  # commonest texts that were not read, and examples
LOOKED = 200_000  # answers that are compared with the kind of their question
OF_KIND = {YES_NO: "yes or no", TIME: "before or after", COUNT: "a number"}


@dataclass(frozen=True)
class CheckedPredictions:
    coverage: Coverage
    unknown: list[str]  # some ids nobody asked about
    duplicates: int
    predictions: int  # for questions that are asked
    exact: int  # of these exactly an answer
    rules: dict[str, int]  # rule -> how many it read
    reasons: dict[str, int]  # reason -> how many were not read
    unread: list[tuple[str, str, int]]  # reason, text, times: the commonest
    looked: int  # answers whose question was looked at
    suspicious: int  # of these no answer of the kind that was asked for
    examples: list[tuple[str, str, str, str]]  # id, question, answer, what was asked for

    @property
    def unparsed(self) -> int:
        return sum(self.reasons.values())


def check(given: Predictions, reader: PredictionReader, policy: Policy) -> CheckedPredictions:
    known = pl.col("id").is_in(reader.known.implode())
    asked, others = given.table.filter(known), given.table.filter(~known)
    read = reader.understood(asked, policy)
    parsed = pl.col(ANSWER).is_not_null()
    unread = read.others.filter(~parsed)
    commonest = unread.group_by(REASON, RAW).len().sort("len", RAW, REASON, descending=[True, False, False])
    odd, looked = suspicious(read.table.filter(pl.col(PREDICTION).is_in(list(reader.answers))), reader)
    return CheckedPredictions(
        coverage(reader.needed, reader.known, given.table),
        others["id"][:SHOWN].to_list(),
        given.duplicates,
        len(asked),
        len(asked) - len(read.others),
        counted(read.others.filter(parsed)["rule"]),
        counted(unread[REASON]),
        commonest.head(SHOWN).rows(),
        looked,
        len(odd),
        odd[:SHOWN],
    )


def counted(names: pl.Series) -> dict[str, int]:
    """Each name with its number, the most frequent first."""
    table = names.alias("name").to_frame().group_by("name").len().sort("len", "name", descending=[True, False])
    return dict(table.iter_rows())


def suspicious(table: pl.DataFrame, reader: PredictionReader) -> tuple[list[tuple[str, str, str, str]], int]:
    """Answers that are not of the kind their question asks for: id, question, answer, the kind; of how many."""
    if reader.texts is None:
        return [], 0
    some = table.head(LOOKED)
    rows = some.select("id", PREDICTION).with_columns(reader.texts(some["id"]).alias(QUESTION)).drop_nulls()
    wanted = {text: reader.reader.question(text, "", ()).kind for text in rows[QUESTION].unique()}
    found = [
        (id, text, said, OF_KIND.get(wanted[text], "something else than yes or no"))
        for id, said, text in rows.iter_rows()
        if not fits(said, wanted[text])
    ]
    return found, len(rows)


def fits(answer: str, kind: str) -> bool:
    if kind == TIME:
        return answer in ("before", "after")
    if kind == COUNT:
        return answer.isdecimal()
    return (answer in ("yes", "no")) == (kind == YES_NO)
