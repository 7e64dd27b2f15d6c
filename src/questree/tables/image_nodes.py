"""DAGs of questions about image sets as columns; a sub-question of one image set is one node."""

import polars as pl

from questree.tables.table import Table

SETS = Table("sets", {"images": pl.List(pl.UInt32)})  # row = number of the set
NODES = Table(  # row = number of the node; parents come before their parts
    "nodes",
    {
        "set": pl.UInt32,
        "question": pl.String,
        "program": pl.String,  # in our own notation
        "type": pl.UInt8,  # position in the types of its scheme
        "answer": pl.String,  # null if undefined
        "word": pl.String,  # what a rule compares with: the option of a choice, the number of a comparison
    },
    optional=frozenset({"answer", "word"}),
)
EDGES = Table(  # by parent and position
    "edges", {"parent": pl.UInt32, "label": pl.UInt8, "position": pl.UInt8, "child": pl.UInt32}
)
TOPS = Table("tops", {"id": pl.String, "node": pl.UInt32})  # a question and its node
DECOMPOSED = (SETS, NODES, EDGES, TOPS)  # RUN/covr/decomposed/
