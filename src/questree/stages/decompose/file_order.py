"""DAGs in the order in which the files they are exported to are read: so that sums come out the same to the bit."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.joins import ranges, starts
from questree.program import Array
from questree.tables import hierarchies as tables
from questree.tables.hierarchies import Hierarchies


def in_order(found: Hierarchies) -> Hierarchies:
    """As files are read: videos with DAGs by file name, then the others as they come; DAGs by video."""
    with_dags = np.zeros(len(found.videos), bool)
    with_dags[found.dags["video"].to_numpy()] = True
    named = sorted(np.flatnonzero(with_dags).tolist(), key=lambda at: f"{found.videos[at]}.json")
    order = named + np.flatnonzero(~with_dags).tolist()
    number = np.empty(len(order), np.uint32)
    number[order] = np.arange(len(order), dtype=np.uint32)
    dags, isolated = (
        table.with_columns(video=pl.Series(number[table["video"].to_numpy()])) for table in (found.dags, found.isolated)
    )
    return by_video(replace(found, dags=dags, isolated=isolated, videos=[found.videos[at] for at in order]))


def by_video(found: Hierarchies) -> Hierarchies:
    """The same DAGs, sorted by video; what belongs to a DAG stands together in every table."""
    video = found.dags["video"].to_numpy()
    if (np.diff(video.astype(np.int64)) >= 0).all():
        return found
    order = np.argsort(video, kind="stable")
    dag = found.nodes["dag"].to_numpy()
    parent, child = found.composed["parent"].to_numpy(), found.edges["child"].to_numpy()
    node, row, edge = (Moved.of(column, order) for column in (dag, dag[parent], dag[child]))
    nodes = found.nodes[node.old].with_columns(dag=pl.Series(np.sort(Moved.of(np.arange(len(order)), order).new[dag])))
    composed = found.composed.with_columns(
        parent=pl.Series(node.new[parent]), first=pl.Series(edge.new[found.composed["first"].to_numpy()])
    )
    edges = found.edges.with_columns(child=pl.Series(node.new[child]))
    return replace(
        found,
        dags=found.dags[order],
        nodes=tables.NODES.frame(nodes),
        composed=tables.COMPOSED.frame(composed[row.old]),
        edges=tables.EDGES.frame(edges[edge.old]),
    )


class Moved(NamedTuple):
    """How rows move when DAGs are put in another order."""

    old: Array  # [row after] row before
    new: Array  # [row before] row after

    @classmethod
    def of(cls, dag: Array, order: Array) -> "Moved":
        """`dag`: [row] in ascending order."""
        begin = starts(dag, len(order))
        _, old = ranges(begin[order], begin[order + 1])
        new = np.empty(len(old), np.int64)
        new[old] = np.arange(len(old))
        return cls(old, new)
