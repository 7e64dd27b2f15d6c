"""Question hierarchies as columns: nodes of all DAGs, their compositions, edges, and questions without a DAG."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.table import Table

NOTHING = -1  # no answer, no object, no prediction

NODES = Table(
    "nodes",
    {
        "dag": pl.UInt32,  # row in `dags`; nodes stand in the order of their file
        "text": pl.UInt32,  # equal numbers, equal texts of one video; never shared by two videos
        "type": pl.UInt16,  # position in `types`
        "key": pl.UInt32,  # position in `keys`: what a prediction is called
        "answer": pl.Int32,  # position in `words`, NOTHING without a ground truth
        "object": pl.Int32,  # position in `words` of the o in a program objExists(o), else NOTHING
        "parent": pl.Boolean,  # the node has an entry in its DAG's hierarchy, be it an empty one
    },
)
COMPOSED = Table(  # one row per parent and composition; its edges are `edges` numbers of rows from row `first`
    "composed", {"parent": pl.UInt32, "composition": pl.UInt16, "first": pl.UInt32, "edges": pl.UInt32}
)
EDGES = Table("edges", {"child": pl.UInt32, "repeated": pl.Boolean})  # repeated: the parent had this child before
DAGS = Table("dags", {"video": pl.UInt32})
ISOLATED = Table("isolated", {"video": pl.UInt32, "type": pl.UInt16, "key": pl.UInt32, "answer": pl.Int32})


@dataclass(frozen=True)
class Hierarchies:
    """All DAGs of a corpus; `composed` is sorted by parent, the lists are what the numbers in the tables stand for."""

    nodes: pl.DataFrame
    composed: pl.DataFrame
    edges: pl.DataFrame
    dags: pl.DataFrame
    isolated: pl.DataFrame
    videos: list[str]
    types: list[str]
    compositions: list[str]
    words: list[str]  # answers and objects
    keys: pl.Series

    @property
    def node_video(self) -> NDArray[np.uint32]:
        """[node] the video a node belongs to."""
        return np.asarray(self.dags["video"].to_numpy()[self.nodes["dag"].to_numpy()])
