"""Stored nodes as rules of consistency read them: every node once, however many questions share it."""

import numpy as np
import polars as pl

from questree.columns.joins import ranges, starts
from questree.program import Array
from questree.show.opened import Opened
from questree.stages.decompose.hierarchies import Columns
from questree.stages.decompose.occurrences import Compositions
from questree.stages.decompose.words import AnswerWords
from questree.tables import hierarchies as tables
from questree.tables.hierarchies import Hierarchies
from questree.tables.nodes import COMPOSITIONS

NO_QUESTIONS = np.zeros(0, np.int64)


def shared(shard: Opened, words: AnswerWords, tops: Array = NO_QUESTIONS) -> Hierarchies:
    """A row per node, then a row per question whose node is in `tops`: it may be answered otherwise than its node.

    `key` and `text` are the row, all is one DAG: enough for rules, which look at a parent and its parts alone.
    """
    node = np.concatenate([np.arange(len(shard.nodes)), tops])  # [row]
    row, known = np.arange(len(node)), Columns.of(shard.forms, shard.nodes, words)
    columns = {
        "dag": np.zeros(len(node), np.uint32),
        "text": row,
        "type": known.type[node],
        "key": row,
        "answer": known.answer[node],
        "object": known.object[node],
        "parent": (np.diff(shard.first) > 0)[node],
    }
    composed, edges = compositions(shard, node)
    return Hierarchies(
        nodes=tables.NODES.frame(columns),
        composed=composed,
        edges=edges,
        dags=tables.DAGS.frame({"video": [0]}),
        isolated=tables.ISOLATED.empty(),
        videos=[""],
        types=known.types,
        compositions=list(COMPOSITIONS),
        words=list(words.number),
        keys=pl.Series([], dtype=pl.String),
    )


def compositions(shard: Opened, node: Array) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Per row and composition its edges; rows of one node share them."""
    known = Compositions.of(shard.edges)
    begin = starts(known.parent, len(shard.nodes))
    row, which = ranges(begin[node], begin[node + 1])
    columns = {"parent": row, "composition": known.label[which], "first": known.first[which]}
    edges = {"child": known.edges["child"], "repeated": known.repeated}
    return tables.COMPOSED.frame(columns | {"edges": known.size[which]}), tables.EDGES.frame(edges)
