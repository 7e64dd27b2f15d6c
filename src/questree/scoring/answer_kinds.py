"""What kind of answer a question asks for, told by the true answers to all questions of its type, not by its words."""

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
    types = asked.select(pl.concat_str("structural", "semantic", separator=" "))["structural"]
    return asked.select("id").with_columns(kind=kinds(types, asked["answer"], words))


def kinds_of_nodes(read: Hierarchies, words: Vocabulary) -> pl.DataFrame:
    """[key] id, kind of the nodes of DAGs, in the order of the keys."""
    columns = ("key", "type", "answer")
    nodes = pl.concat([read.nodes.select(columns), read.isolated.select(columns)])
    said = pl.Series([*read.words, None], dtype=pl.String)  # NOTHING is the last
    pairs = nodes.select("type", answer=pl.col("answer").cast(pl.Int64) % len(said)).unique()
    known = kinds(pairs["type"], said.gather(pairs["answer"]), words)
    of_type = pl.DataFrame({"type": pairs["type"], "kind": known}).unique("type")
    asked = np.full(len(read.keys), len(read.types))  # [key] its type; of a key that nobody asks for, one beyond
    asked[nodes["key"].to_numpy()] = nodes["type"].to_numpy()
    kind = np.full(len(read.types) + 1, "", object)
    kind[of_type["type"].to_numpy()] = of_type["kind"].to_numpy()
    return pl.DataFrame({"id": read.keys, "kind": pl.Series(kind.tolist(), dtype=pl.String).gather(asked)})
