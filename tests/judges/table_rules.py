"""The 18 consistency rules read off the tables of nodes and edges alone, as a scorer reads a benchmark.

Noted are how often each rule applied and was broken, scored nodes without an answer, and texts that two nodes of a
video share.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from judges.contradictions import INDIRECT, Findings, note
from judges.members import checked
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.spoken import Texts, say
from questree.terms import UNKNOWN, Array

Tables = Mapping[str, pl.DataFrame]


@dataclass(frozen=True)
class Columns:
    """The tables of one shard as arrays."""

    types: Array  # [form]
    form: Array  # [node]
    answer: Array  # [node]
    word: Array  # [node] its first slot
    parent: Array  # [edge]
    label: Array  # [edge]
    child: Array  # [edge]

    @classmethod
    def of(cls, tables: Tables) -> "Columns":
        nodes, edges = tables["nodes"], tables["edges"].sort("parent", "position")
        return cls(
            np.array(tables["forms"]["type"].to_list()),
            nodes["form"].to_numpy(),
            nodes["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy(),
            nodes["s0"].to_numpy().astype(np.int64),
            edges["parent"].to_numpy().astype(np.int64),
            edges["label"].to_numpy(),
            edges["child"].to_numpy().astype(np.int64),
        )

    def typed(self, nodes: Array, *types: str) -> Array:
        """Is each of the nodes of one of the types?"""
        return np.asarray(np.isin(self.types, types)[self.form[nodes]])

    def families(self, label: str, types: set[str] | None = None) -> Iterator[tuple[Array, Array]]:
        """(parents of scored types [row], their sub-questions [row, part]) under a composition, by number of parts.

        Of the sub-questions only those of some types, if any are named.
        """
        kept = (self.label == VIDEO_DAGS.compositions.index(label)) & ~self.typed(self.parent, *VIDEO_DAGS.unscored)
        kept &= self.typed(self.child, *types) if types else True
        parent, child = self.parent[kept], self.child[kept]
        first = np.flatnonzero(np.diff(parent, prepend=-1))
        size = np.diff(first, append=len(parent))
        for width in np.unique(size):
            at = first[size == width]
            yield parent[at], child[at[:, None] + np.arange(width)]

    def scored(self, parts: Array) -> Array:
        """[row] are all of them of scored types?"""
        return np.asarray(~self.typed(parts, *VIDEO_DAGS.unscored).any(1))

    def object_of(self, verify: Array) -> Array:
        """[row] the object a verifying question names, INDIRECT if it describes one: read off its first part."""
        edges = self.label == VIDEO_DAGS.compositions.index("Equals")
        parent, at = np.unique(self.parent[edges], return_index=True)
        part = self.child[edges][at][np.searchsorted(parent, verify)]
        return np.where(self.typed(part, "Object Exists"), self.word[part], INDIRECT)


def read_rules(found: Findings, tables: Tables, texts: Texts) -> Findings:
    """Check everything the tables say."""
    columns = Columns.of(tables)
    for label, rule in VIDEO_DAGS.rules.items():
        if rule.worded is None:
            for parent, parts in columns.families(label, None if label == "Xor" else VIDEO_DAGS.yes_no):
                note(found, checked(rule, columns.answer[parent], columns.answer[parts]))
    verified(found, columns)
    chosen(found, columns)
    open_nodes = np.flatnonzero(columns.answer == UNKNOWN)
    missing = columns.form[open_nodes[~columns.typed(open_nodes, *VIDEO_DAGS.unscored)]]
    found.undefined.update(columns.types[missing].tolist())
    listen(found, tables, texts)
    return found


def verified(found: Findings, columns: Columns) -> None:
    for parent, parts in columns.families("Equals"):
        own = (columns.typed(parent, "Object Equals")) & columns.scored(parts)
        parent, parts = parent[own], parts[own]
        answers, plain = columns.answer[parts], columns.typed(parts[:, 0], "Object Exists")
        thing = [columns.word[parts[:, 0]]]
        note(found, checked(VIDEO_DAGS.rules["Equals"], columns.answer[parent], answers, thing, ~plain))


def chosen(found: Findings, columns: Columns) -> None:
    for parent, parts in columns.families("Choose"):
        own = columns.scored(parts)
        parent, parts = parent[own], parts[own]
        objects = columns.typed(parts[:, 0], "Object Equals")
        of_objects, of_times = parts[objects], parts[~objects]
        options = [columns.object_of(of_objects[:, 0]), columns.object_of(of_objects[:, 1])]
        for own, own_parts, about in ((objects, of_objects, options), (~objects, of_times, None)):
            answers, only = (columns.answer[parent[own]], columns.answer[own_parts]), "Object" if about else "Temporal"
            checks = checked(VIDEO_DAGS.rules["Choose"], *answers, about, times=about is None)
            note(found, checks, only=f"Choose {only}")


def listen(found: Findings, tables: Tables, texts: Texts) -> None:
    """Texts that several nodes of a video have."""
    said = say(tables["forms"], tables["nodes"], texts, executed=True).with_row_index("node")
    twice = said.filter(pl.struct("video", "text").is_duplicated())
    for node, video, text, type in twice.select("node", "video", "text", "type").iter_rows():
        found.said[video, text].add((type, node))
