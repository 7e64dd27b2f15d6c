"""The DAGs of a shard, of either medium, as they are stored and as rules read them; one DAG as it is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import ranges, starts
from questree.stages.decompose.hierarchies import Columns
from questree.stages.decompose.occurrences import Compositions
from questree.tables import hierarchies as tables
from questree.tables.hierarchies import NOTHING, Hierarchies
from questree.tables.predictions import Stored

Ints = NDArray[Any]
NO_QUESTIONS = np.zeros(0, np.int64)
ONE_DAG, NONE_ALONE = tables.DAGS.frame({"video": [0]}), tables.ISOLATED.empty()


@dataclass(frozen=True)
class DagColumns:
    """What is counted of DAGs, however they are stored."""

    type: pl.Series  # [node]
    known: pl.Series  # [node] how its answer is
    edges: pl.DataFrame  # parent, label


@dataclass(frozen=True)
class Opened:
    name: str  # of the shard
    nodes: pl.DataFrame  # as they are stored; parents have smaller numbers than their parts
    edges: pl.DataFrame  # parent, label, position, child; by parent
    tops: pl.DataFrame  # questions with their `node`
    columns: Columns  # [node] type, answer, object
    compositions: Sequence[str]  # what labels are positions in
    number: Mapping[str, int]  # word -> its number in `columns`
    known: pl.Series  # [node] how its answer is
    forms: pl.DataFrame | None = None  # programs with holes, where nodes have words in columns
    numbers: Sequence[int] = ()  # [node] of a single DAG: its number in the shard it was taken from

    @cached_property
    def label(self) -> Ints:  # [edge]
        return self.edges["label"].to_numpy()

    @cached_property
    def child(self) -> Ints:  # [edge]
        return self.edges["child"].to_numpy()

    @cached_property
    def first(self) -> Ints:
        """[node + 1] where its edges begin."""
        return np.searchsorted(self.edges["parent"].to_numpy(), np.arange(len(self.nodes) + 1))

    @property
    def types(self) -> list[str]:
        """[node]"""
        return [self.columns.types[at] for at in self.columns.type.tolist()]

    def predicted(self, stored: Stored) -> tuple[Ints, Ints]:
        """Numbers of a stored model's words: [node], [question in the order of `tops`]; read once."""
        if id(stored) not in self._predicted:
            nodes = stored.shard(self.name, len(self.nodes))
            asked = stored.asked(self.name, nodes[self.tops["node"].to_numpy()])
            self._predicted[id(stored)] = stored, nodes, asked  # the model is kept, so that no other gets its number
        return self._predicted[id(stored)][1:]

    @cached_property
    def _predicted(self) -> dict[int, tuple[Stored, Ints, Ints]]:
        return {}

    def below(self, top: int) -> list[int]:
        """The node and all below it, parents first."""
        found, waiting = {top}, [top]
        while waiting:
            node = waiting.pop()
            new = set(self.child[self.first[node] : self.first[node + 1]].tolist()) - found
            found |= new
            waiting += new
        return sorted(found)

    def only(self, top: int) -> "Opened":
        """The DAG of one node as a shard of its own: the node is number 0."""
        kept = np.array(self.below(top))
        rows = np.concatenate([np.arange(self.first[node], self.first[node + 1]) for node in kept])
        edges = few(self.edges, rows)
        ends = {end: np.searchsorted(kept, edges[end].to_numpy()).astype(np.uint32) for end in ("parent", "child")}
        asked = np.flatnonzero(self.tops["node"].to_numpy() == top)
        own = self.columns
        return replace(
            self,
            nodes=few(self.nodes, kept),
            known=self.known[kept],
            edges=with_columns(edges, ends),
            tops=with_columns(few(self.tops, asked), {"node": np.zeros(len(asked), np.uint32)}),
            columns=Columns(own.type[kept], own.answer[kept], own.object[kept], own.types),
            numbers=kept.tolist(),
        )

    def united(self, own: Ints) -> Ints:
        """[node] the bits of all below it, without its own: what is true of a sub-question is told to its wholes."""
        inner = np.flatnonzero(np.diff(self.first))
        found = np.zeros_like(own)
        while len(inner):  # as often as the deepest DAG is deep
            told = np.bitwise_or.reduceat((own | found)[self.child], self.first[inner])
            if (told == found[inner]).all():
                break
            found[inner] = told
        return found

    def composed(self) -> Ints:
        """[node] which compositions its edges have, as bits."""
        found = np.zeros(len(self.nodes), np.uint64)
        inner = np.flatnonzero(np.diff(self.first))
        if len(inner):
            bits = np.uint64(1) << self.label.astype(np.uint64)
            found[inner] = np.bitwise_or.reduceat(bits, self.first[inner])
        return found

    @cached_property
    def read(self) -> Hierarchies:
        """The nodes alone, as rules read them; the same for every model."""
        return self.hierarchies()

    def hierarchies(self, tops: Ints = NO_QUESTIONS) -> Hierarchies:
        """A row per node, then a row per question whose node is in `tops`: it may be answered otherwise than its node.

        `key` and `text` are the row, all is one DAG: enough for rules, which look at a parent and its parts alone.
        """
        node = np.concatenate([np.arange(len(self.nodes)), tops])  # [row]
        row, known = np.arange(len(node)), Compositions.of(self.edges)
        columns = {
            "dag": np.zeros(len(node), np.uint32),
            "text": row,
            "type": self.columns.type[node],
            "key": row,
            "answer": self.columns.answer[node],
            "object": self.columns.object[node],
            "parent": (np.diff(self.first) > 0)[node],
        }
        begin = starts(known.parent, len(self.nodes))
        whole, which = ranges(begin[node], begin[node + 1])  # rows of one node share its edges
        composed = {"parent": whole, "composition": known.label[which], "first": known.first[which]}
        return Hierarchies(
            nodes=tables.NODES.frame(columns),
            composed=tables.COMPOSED.frame(composed | {"edges": known.size[which]}),
            edges=tables.EDGES.frame({"child": known.child, "repeated": known.repeated}),
            dags=ONE_DAG,
            isolated=NONE_ALONE,
            videos=[""],
            types=self.columns.types,
            compositions=list(self.compositions),
            words=list(self.number),
            keys=pl.Series([], dtype=pl.String),
        )


Piece = tuple[str, str]  # (kind of word: object, relation, action, time, attribute or "", text)


@dataclass(frozen=True)
class Dag:
    """Nodes by number, the question first; edges of each in order."""

    rows: list[dict[str, Any]]  # text, type, program, answer, how it is known
    pieces: list[list[Piece]]  # the text of each node, by kind of word
    edges: dict[int, list[tuple[str, int]]]  # node -> (composition, sub-question)

    @classmethod
    def of(cls, rows: list[dict[str, Any]], pieces: list[list[Piece]], one: Opened) -> "Dag":
        """`one` is a shard that is one DAG; `rows` are its nodes as they are said."""
        rows = [row | {"known": known} for row, known in zip(rows, one.known, strict=True)]
        edges: dict[int, list[tuple[str, int]]] = {}
        for parent, label, child in one.edges["parent", "label", "child"].iter_rows():
            edges.setdefault(parent, []).append((one.compositions[label], child))
        return cls(rows, pieces, edges)

    def depths(self) -> list[int]:
        """[node] the length of the longest way to it."""
        found = [0] * len(self.rows)
        for node in range(len(self.rows)):  # parents have smaller numbers
            for _, child in self.edges.get(node, ()):
                found[child] = max(found[child], found[node] + 1)
        return found

    def data(self) -> list[dict[str, Any]]:
        return [
            row | {"number": at, "parts": [{"composition": label, "number": n} for label, n in self.edges.get(at, ())]}
            for at, row in enumerate(self.rows)
        ]


def few(table: pl.DataFrame, rows: Ints) -> pl.DataFrame:
    """A few rows, column by column: to share them out among threads takes longer than to take them."""
    wanted = pl.Series(rows.astype(np.uint32))
    return pl.DataFrame([column[wanted] for column in table.get_columns()])


def with_columns(table: pl.DataFrame, new: Mapping[str, Ints]) -> pl.DataFrame:
    """The same for columns that take the place of others."""
    return pl.DataFrame([pl.Series(own.name, new.get(own.name, own)) for own in table.get_columns()])


def words_of(stored: Stored, shard: Opened, nodes: Sequence[int], top: int) -> list[str | None]:
    """What a model says to a question, the row of `top` among its shard's, and to nodes below it."""
    number, asked = shard.predicted(stored)
    return [None if at == NOTHING else stored.words[at] for at in [asked[top], *number[nodes].tolist()]]
