"""Decomposed questions as columns: forms, the nodes made of them, edges between nodes, and which node a question is."""

from collections.abc import Iterable
from pathlib import Path

import polars as pl

from questree.tables.table import Table

SLOTS = 7  # most words a program has
# how an answer is known: from facts, from a question that was asked, by rules from other answers; "not said" is an
# answer that execution gives but that is not published (open world), unless a person labelled the object absent or the
# action it is asked around does not occur
KNOWN = ("executed", "not said", "undefined", "asked", "entailed", "unknown", "labelled", "no such action")
EXECUTED, NOT_SAID, UNDEFINED, ASKED, ENTAILED, NOT_FOUND, LABELLED, NO_SUCH_ACTION = range(len(KNOWN))
ANSWERED = ("executed", "asked", "entailed", "labelled", "no such action")

FORMS = Table(  # one row per form, in the order of `form` numbers
    "forms",
    {
        "program": pl.String,  # in our notation; slots s0, s1, ... for words
        "type": pl.String,
        "parts": pl.UInt8,  # edges of each of its nodes
    },
)


def nodes_about(scope: str, slots: int, word: type[pl.DataType]) -> Table:
    """Nodes about videos or sets: row = number of the node; ordered by form, scope, words."""
    columns: dict[str, type[pl.DataType]] = {
        scope: pl.UInt32,  # row in `videos` or `sets`
        "form": pl.UInt16,
        **{f"s{at}": word for at in range(slots)},  # positions of words; the largest number where the form has no slot
        "answer": word,  # as in questions: yes or no, a position, a count; null if undefined
        "known": pl.UInt8,  # position in KNOWN
    }
    return Table("nodes", columns, frozenset({"answer"}), wide=dict.fromkeys(["answer", *slots_of(columns)], pl.UInt16))


def slots_of(columns: Iterable[str]) -> list[str]:
    """The columns for words."""
    return [name for name in columns if name[0] == "s" and name[1:].isdigit()]


NODES = nodes_about("video", SLOTS, pl.UInt8)


def read_nodes(folder: Path) -> pl.DataFrame:
    """The nodes of a shard; those that were imported with their text."""
    nodes = NODES.read(folder)
    given = (folder / f"{GIVEN.name}.parquet").is_file()
    return nodes.with_columns(GIVEN.read(folder)["text"]) if given else nodes


EDGES = Table(  # ordered by parent and position
    "edges", {"parent": pl.UInt32, "label": pl.UInt8, "position": pl.UInt8, "child": pl.UInt32}
)
TOPS = Table("tops", {"video": pl.UInt32, "number": pl.UInt32, "node": pl.UInt32})  # a question and its node
NEGATIVES = Table("negatives", {"video": pl.UInt32, "node": pl.UInt32})  # asked only because the answer is no
# what nodes were called where they were made, if they were imported: [node] its text, and the id of predictions
GIVEN = Table("given", {"text": pl.String, "key": pl.String})
DECOMPOSED = (FORMS, NODES, EDGES, TOPS, NEGATIVES)
# the same of image sets, whose programs have as many words as they like, and whose words are any text
SETS = Table("sets", {"number": pl.UInt32, "images": pl.List(pl.UInt32)})  # number: of all sets, as they are met
ASKED_TOPS = Table("tops", dict.fromkeys(("id", "split", "question", "answer"), pl.String) | {"node": pl.UInt32})
# [node] the id of predictions, and the words it was asked in, if it was asked before it was part of another question
KEYS = Table("keys", {"key": pl.String, "question": pl.String}, frozenset({"question"}))
# next to the folders of the shards: row = number of the word
WORDS = Table("words", {"word": pl.String})
# the answers there are to questions of a type, published or not; of no type the words that questions are about
ANSWERS = Table("answers", {"type": pl.String, "word": pl.String, "count": pl.Boolean})
# what people said is not in a video, as the DAGs of a run were made with it; next to the folders of the shards
ABSENT = Table("absent", {"video": pl.UInt32, "object": pl.UInt8}, wide={"object": pl.UInt16})
