"""Question hierarchies as columns: nodes of all DAGs, their compositions, edges, and questions without a DAG."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import ranges, starts
from questree.tables.table import Table

Key = TypeVar("Key", bound=Hashable)
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

    @cached_property
    def begins(self) -> dict[str, NDArray[np.int64]]:
        """Table -> [DAG + 1] where the rows of each DAG begin."""
        dag, of = self.nodes["dag"].to_numpy(), {"composed": "parent", "edges": "child"}
        owner = {"nodes": dag} | {name: dag[getattr(self, name)[end].to_numpy()] for name, end in of.items()}
        return {name: starts(own, len(self.dags)) for name, own in owner.items()}

    def taken(self, dags: NDArray[Any]) -> "Hierarchies":
        """These DAGs, in this order and each as often as it is named; questions without a DAG stay as they are."""
        copy, shift, tables = {}, {}, {}  # per table: [row] of which DAG, [DAG] how far its rows move, the rows
        for name, begin in self.begins.items():
            copy[name], row = ranges(begin[dags], begin[dags + 1])
            size = begin[dags + 1] - begin[dags]
            shift[name], tables[name] = np.cumsum(size) - size - begin[dags], getattr(self, name)[row]

        def moved(table: str, column: str, to: str) -> pl.Series:
            return pl.Series(tables[table][column].to_numpy() + shift[to][copy[table]])

        parent, first = moved("composed", "parent", "nodes"), moved("composed", "first", "edges")
        return replace(
            self,
            nodes=NODES.frame(tables["nodes"].with_columns(dag=pl.Series(copy["nodes"]))),
            composed=COMPOSED.frame(tables["composed"].with_columns(parent=parent, first=first)),
            edges=EDGES.frame(tables["edges"].with_columns(child=moved("edges", "child", "nodes"))),
            dags=self.dags[dags],
        )

    @property
    def part(self) -> "HierarchyPart":
        tables = {name: {own.name: own.to_numpy() for own in getattr(self, name)} for name in NUMBERED}
        return HierarchyPart(tables, {what: getattr(self, what) for what in NAMED}, self.keys)


class Numbers(dict[Key, int]):
    """Words, or whatever else, numbered in order of appearance: numbers["cup"]."""

    def __missing__(self, word: Key) -> int:
        self[word] = number = len(self)
        return number


@dataclass(frozen=True)
class HierarchyPart:
    """Some DAGs as columns with numbers of their own; a table that is not given is empty."""

    tables: Mapping[str, Mapping[str, Any]]  # table -> column -> [row]
    names: Mapping[str, Sequence[str]]  # what the numbers stand for: videos, types, compositions, words
    keys: Sequence[str] | pl.Series

    def rows(self, what: str) -> int:
        if what == "keys":
            return len(self.keys)
        if what == "texts":
            return int(np.max(self.tables["nodes"]["text"], initial=0)) + 1 if "nodes" in self.tables else 0
        return len(next(iter(self.tables[what].values()))) if what in self.tables else 0


NAMED = ("videos", "types", "compositions", "words")
NUMBERED = {  # table -> column -> what it numbers: rows of the part, or names
    "nodes": {"dag": "dags", "text": "texts", "key": "keys", "type": "types", "answer": "words", "object": "words"},
    "composed": {"parent": "nodes", "first": "edges", "composition": "compositions"},
    "edges": {"child": "nodes"},
    "dags": {"video": "videos"},
    "isolated": {"video": "videos", "type": "types", "key": "keys", "answer": "words"},
}


def together(given: Iterable[HierarchyPart]) -> Hierarchies:
    """Parts in their order, as if read in one go: texts and keys of two parts are never the same ones, names are."""
    parts = list(given)
    names = {what: Numbers[str]() for what in NAMED}
    number = {
        what: [np.array([*(known[name] for name in part.names.get(what, ())), NOTHING]) for part in parts]
        for what, known in names.items()
    }
    counted = {what for own in NUMBERED.values() for what in own.values()}.difference(NAMED)
    begin = {what: np.cumsum([0, *(part.rows(what) for part in parts)]).tolist() for what in counted}

    def whole(table: Table) -> pl.DataFrame:
        """The rows of all parts with the numbers they have in the whole."""

        def column(name: str, what: str | None) -> Any:
            there = [
                (at, np.asarray(part.tables[table.name][name]))
                for at, part in enumerate(parts)
                if table.name in part.tables
            ]
            if what in NAMED:  # NOTHING is the last name of its part
                there = [(at, number[what][at][own.astype(np.int64, copy=False)]) for at, own in there]
            elif what is not None:
                there = [(at, own + begin[what][at]) for at, own in there]
            return np.concatenate([own for _, own in there]) if there else table.empty()[name]

        return table.frame({name: column(name, NUMBERED[table.name].get(name)) for name in table.columns})

    tables: dict[str, Any] = {table.name: whole(table) for table in (NODES, COMPOSED, EDGES, DAGS, ISOLATED)}
    lists: dict[str, Any] = {what: list(known) for what, known in names.items()}
    keys = pl.concat([pl.Series("key", part.keys, dtype=pl.String) for part in parts])
    return Hierarchies(**tables, **lists, keys=keys)
