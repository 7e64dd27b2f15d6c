"""Most-Likely of AGQA-Decomp: to every question the answer that is commonest for its type in other hierarchies."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from questree.metrics.answered import ModelAnswers, first
from questree.tables.hierarchies import NOTHING, Hierarchies

MODEL = "Most-Likely"


def answering(of_type: Mapping[str, str], asked: Hierarchies) -> ModelAnswers:
    """Answers the questions that are asked as if their types were all one knew of them.

    AGQA-Decomp, section 5.1: "outputs the most common answer for each question type"; its columns of Tables 3, 8, 9, 11
    and 12. A type that training does not have is left without an answer.
    """
    words = sorted(set(of_type.values()))
    said = np.array([words.index(of_type[name]) if name in of_type else NOTHING for name in asked.types], np.int32)
    by_key = np.full(len(asked.keys), NOTHING, np.int32)
    for table in (asked.isolated, asked.nodes):
        by_key[table["key"].to_numpy()] = said[table["type"].to_numpy()]
    return ModelAnswers(words, by_key)


def answers_learnt(train: Hierarchies) -> pl.DataFrame:
    """type, answer, times. A text counts once per video, a question without a DAG every time, and only what has an
    answer."""
    known = np.flatnonzero(train.nodes["answer"].to_numpy() != NOTHING)
    once = train.nodes[first(train.nodes["text"].to_numpy(), known)].select("type", "answer")
    alone = train.isolated.filter(pl.col("answer") != NOTHING).select("type", "answer")
    counts = pl.concat([once, alone]).group_by("type", "answer").len("times")
    words, types = (pl.Series(names, dtype=pl.String) for names in (train.words, train.types))
    return counts.with_columns(type=types.gather(counts["type"]), answer=words.gather(counts["answer"]))


def commonest(learnt: pl.DataFrame) -> dict[str, str]:
    """Type -> its most frequent answer, of equally frequent ones the first of the alphabet."""
    counts = learnt.group_by("type", "answer").agg(pl.col("times").sum())
    ordered = counts.sort("times", "answer", descending=[True, False]).unique("type", keep="first", maintain_order=True)
    return dict(ordered.select("type", "answer").sort("type").iter_rows())
