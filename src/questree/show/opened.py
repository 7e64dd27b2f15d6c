"""The stored DAGs of a shard: any node with all below it, as it was decomposed and answered."""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.domains.video import videos
from questree.show.dag import Dag, spelled
from questree.stages.decompose.forms import Forms
from questree.stages.decompose.spoken import say
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.work import tables
from questree.stages.questions import Bank, Question
from questree.tables.facts import Facts
from questree.tables.nodes import COMPOSITIONS, EDGES, FORMS, KNOWN, NODES, TOPS

Ints = NDArray[Any]
TABLES = (FORMS, NODES, EDGES, TOPS)


@dataclass(frozen=True)
class Opened:
    """The tables of one shard of RUN/decomposed."""

    name: str
    forms: pl.DataFrame
    nodes: pl.DataFrame
    edges: pl.DataFrame
    tops: pl.DataFrame

    @classmethod
    def read(cls, folder: Path) -> "Opened":
        return cls(folder.name, *(table.read(folder) for table in TABLES))

    @cached_property
    def form(self) -> Ints:  # [node]
        return self.nodes["form"].to_numpy()

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

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """[form] where its nodes begin and end; they are ordered by form."""
        return list(pairwise(np.searchsorted(self.form, np.arange(len(self.forms) + 1)).tolist()))

    def below(self, top: int) -> list[int]:
        """The node and all below it, parents first."""
        found, waiting = {top}, [top]
        while waiting:
            node = waiting.pop()
            new = set(self.child[self.first[node] : self.first[node + 1]].tolist()) - found
            found |= new
            waiting += new
        return sorted(found)  # parents have smaller numbers

    def only(self, top: int) -> "Opened":
        """The DAG of one node as a shard of its own: the node is number 0."""
        kept = self.below(top)
        place = {node: at for at, node in enumerate(kept)}
        rows = np.concatenate([np.arange(self.first[node], self.first[node + 1]) for node in kept])
        nodes, edges = self.nodes[kept], self.edges[rows]
        used = nodes["form"].unique().sort()
        form = nodes["form"].replace_strict(used, pl.Series(range(len(used)), dtype=pl.UInt16))
        ends = {end: edges[end].replace_strict(place, return_dtype=pl.UInt32) for end in ("parent", "child")}
        tops = self.tops.filter(self.tops["node"] == top).with_columns(node=pl.lit(0, pl.UInt32))
        forms = self.forms[used.to_list()]
        return Opened(self.name, forms, nodes.with_columns(form=form), edges.with_columns(**ends), tops)

    def dag(self, texts: Texts) -> Dag:
        """Of a shard that is one DAG: the DAG; its rows also say how their answers are `known`."""
        said = say(self.forms, self.nodes, texts).drop("video").to_dicts()
        rows = [row | {"known": KNOWN[known]} for row, known in zip(said, self.nodes["known"], strict=True)]
        pieces = [spelled(self.forms["program"][row["form"]], row, texts) for row in self.nodes.iter_rows(named=True)]
        edges: dict[int, list[tuple[str, int]]] = {}
        for parent, label, _, child in self.edges.iter_rows():
            edges.setdefault(parent, []).append((COMPOSITIONS[label], child))
        return Dag(rows, pieces, edges)


def taken_apart(bank: Bank, question: Question, facts: Facts) -> Opened:
    """One question decomposed anew, whether or not the run is."""
    shard = bank.shard(bank.folders()[question.video // bank.options["shard"]])
    table = shard.questions
    rows = np.flatnonzero((table["video"] == question.video) & (table["number"] == question.row["number"]))
    world = videos(facts.between(shard.first, shard.first + len(shard.seeds)), bank.vocabulary)
    found = tables(Forms(bank.vocabulary), shard, rows, world, closed=True).tables
    assert int(found["tops"]["node"][0]) == 0, "the question is expanded first"
    return Opened("", *(found[table.name] for table in TABLES))


def dag_of(bank: Bank, question: Question, facts: Facts) -> Dag:
    return taken_apart(bank, question, facts).dag(Texts(bank.vocabulary))
