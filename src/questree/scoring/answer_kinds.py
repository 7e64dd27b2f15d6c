"""What kind of answer a question asks for, told by the true answers to all questions of its type, not by its words."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from questree.said.question import ACTION, COUNT, YES_NO
from questree.tables.hierarchies import Hierarchies
from questree.vocabulary.words import Vocabulary


def kinds(types: pl.Series, answers: pl.Series, words: Vocabulary) -> pl.Series:
    """[row] the kind of answer, if all answers to its type are yes and no, numbers or actions; else its text tells."""
    said, phrases = pl.col("answer"), [action.phrase for action in words.actions]
    kind = pl.when(said.is_in(["yes", "no"])).then(pl.lit(YES_NO)).when(said.str.contains(r"^\d+$")).then(pl.lit(COUNT))
    each = kind.when(said.is_in(phrases)).then(pl.lit(ACTION)).otherwise(pl.lit(""))
    table = pl.DataFrame({"type": types, "answer": answers})
    known = table.drop_nulls().group_by("type").agg(each.unique().alias("kind"))
    one = known.filter(pl.col("kind").list.len() == 1).with_columns(pl.col("kind").list.first())
    return table.join(one, on="type", how="left", maintain_order="left")["kind"].fill_null("")


def kinds_of_records(asked: pl.DataFrame, words: Vocabulary) -> pl.DataFrame:
    """id, kind of AGQA's questions, whose types are structure and what they are about."""
    return asked.select("id").with_columns(kind=kinds(types_of_records(asked), asked["answer"], words))


def types_of_records(asked: pl.DataFrame) -> pl.Series:
    return asked.select(pl.concat_str("structural", "semantic", separator=" "))["structural"]


def answers_by_type(read: Hierarchies) -> pl.DataFrame:
    """type, answer: every pair there is among the nodes of DAGs; null for no answer."""
    nodes = pl.concat([table.select("type", "answer") for table in (read.nodes, read.isolated)])
    said = pl.Series([*read.words, None], dtype=pl.String)  # NOTHING is the last
    pairs = nodes.select("type", answer=pl.col("answer").cast(pl.Int64) % len(said)).unique()
    types = pl.Series(read.types, dtype=pl.String).gather(pairs["type"])
    return pl.DataFrame({"type": types, "answer": said.gather(pairs["answer"])})


def kinds_by_type(pairs: pl.DataFrame, words: Vocabulary) -> dict[str, str]:
    """Type -> the kind of its answers; empty where its text tells."""
    return dict(zip(pairs["type"], kinds(pairs["type"], pairs["answer"], words), strict=True))


def kinds_of_keys(read: Hierarchies, known: Mapping[str, str]) -> pl.DataFrame:
    """[key] id, kind of the nodes of DAGs, in the order of the keys."""
    asked = np.full(len(read.keys), len(read.types))  # [key] its type; of a key that nobody asks for, one beyond
    for table in (read.nodes, read.isolated):
        asked[table["key"].to_numpy()] = table["type"].to_numpy()
    kind = pl.Series([*(known.get(name, "") for name in read.types), ""], dtype=pl.String)
    return pl.DataFrame({"id": read.keys, "kind": kind.gather(asked)})


def kinds_of_nodes(read: Hierarchies, words: Vocabulary) -> pl.DataFrame:
    """The same where all nodes are at hand."""
    return kinds_of_keys(read, kinds_by_type(answers_by_type(read), words))
