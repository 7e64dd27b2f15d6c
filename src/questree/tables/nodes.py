"""Decomposed questions as columns: forms, the nodes made of them, edges between nodes, and which node a question is."""

import polars as pl

from questree.tables.table import Table

SLOTS = 7  # most words a program has
# how an answer is known: from facts, from a question that was asked, by rules from other answers; "not said" is an
# answer that execution gives but that is not published (open world), unless a person labelled the object absent or the
# action it is asked around does not occur
KNOWN = ("executed", "not said", "undefined", "asked", "entailed", "unknown", "labelled", "no such action")
ANSWERED = ("executed", "asked", "entailed", "labelled", "no such action")

FORMS = Table(  # one row per form, in the order of `form` numbers
    "forms",
    {
        "program": pl.String,  # in our notation; slots s0, s1, ... for words
        "type": pl.String,
        "parts": pl.UInt8,  # edges of each of its nodes
    },
)
NODES = Table(  # row = number of the node; ordered by form, video, words
    "nodes",
    {
        "video": pl.UInt32,  # row in `videos`
        "form": pl.UInt16,
        **{f"s{at}": pl.UInt8 for at in range(SLOTS)},  # positions in the vocabulary; 255 where the form has no slot
        "answer": pl.UInt8,  # as in questions; null if undefined
        "known": pl.UInt8,  # position in KNOWN
    },
    frozenset({"answer"}),
)
EDGES = Table(  # ordered by parent and position
    "edges", {"parent": pl.UInt32, "label": pl.UInt8, "position": pl.UInt8, "child": pl.UInt32}
)
TOPS = Table("tops", {"video": pl.UInt32, "number": pl.UInt32, "node": pl.UInt32})  # a question and its node
NEGATIVES = Table("negatives", {"video": pl.UInt32, "node": pl.UInt32})  # asked only because the answer is no
DECOMPOSED = (FORMS, NODES, EDGES, TOPS, NEGATIVES)
# what people said is not in a video, as the DAGs of a run were made with it; next to the folders of the shards
ABSENT = Table("absent", {"video": pl.UInt32, "object": pl.UInt8})
