"""Which nodes each question's DAG has: a node occurs in as many DAGs as it is below questions."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.columns.compiled import njit
from questree.columns.joins import starts
from questree.terms import Array


@dataclass(frozen=True)
class Compositions:
    """The edges of a shard by parent and composition, compositions in the order a parent first has them."""

    given: pl.DataFrame  # the edges as they came
    order: Array  # [edge] its row there
    child: Array  # [edge] node
    parent: Array  # [composition] node
    label: Array  # [composition] position in the scheme's
    first: Array  # [composition] its first edge
    size: Array  # [composition] how many edges
    repeated: Array  # [edge] the parent had this child before

    @classmethod
    def of(cls, edges: pl.DataFrame) -> "Compositions":
        """`edges` are ordered by parent and position."""
        parent, label = (edges[name].to_numpy().astype(np.int64) for name in ("parent", "label"))
        _, first, group = np.unique(parent << 8 | label, return_index=True, return_inverse=True)
        begin = first[group]  # [edge] where its composition begins
        order = np.argsort(begin, kind="stable")
        new = np.flatnonzero(np.diff(begin[order], prepend=-1))
        child = edges["child"].to_numpy().astype(np.int64)[order]
        repeated = np.ones(len(edges), bool)
        repeated[np.unique(parent[order] << 32 | child, return_index=True)[1]] = False
        size = np.diff(new, append=len(edges))
        return cls(edges, order, child, parent[order[new]], label[order[new]], new, size, repeated)

    @cached_property
    def edges(self) -> pl.DataFrame:
        return self.given[self.order]


@dataclass(frozen=True)
class Occurrences:
    """The nodes of DAGs, one DAG after the other: what is below a question, the deepest first, and the question."""

    size: Array  # [DAG] nodes
    node: Array  # [occurrence] number in the shard
    first_edge: Array  # [occurrence] where its edges begin
    child: Array  # [edge] occurrence

    @classmethod
    def of(cls, tops: Array, nodes: int, edges: pl.DataFrame) -> "Occurrences":
        """`tops` are the nodes of questions; `edges` are ordered by parent."""
        start = starts(edges["parent"].to_numpy(), nodes)
        child = edges["child"].to_numpy().astype(np.int64)
        size, many = _sizes(tops, nodes, start, child)
        return cls(size, *_fill(tops, nodes, start, child, int(size.sum()), int(many)))


@njit(cache=True)
def _below(top, mark, seen, start, child, found):  # type: ignore[no-untyped-def]
    """Write all nodes below one into `found`, in any order; how many there are. `seen` is marked with a number."""
    count = 0
    for edge in range(start[top], start[top + 1]):
        if seen[child[edge]] != mark:
            seen[child[edge]] = mark
            found[count] = child[edge]
            count += 1
    at = 0
    while at < count:
        for edge in range(start[found[at]], start[found[at] + 1]):
            if seen[child[edge]] != mark:
                seen[child[edge]] = mark
                found[count] = child[edge]
                count += 1
        at += 1
    return count


@njit(cache=True)
def _sizes(tops, nodes, start, child):  # type: ignore[no-untyped-def]
    """[DAG] its nodes, and the edges of all DAGs."""
    size, seen, found = np.empty(len(tops), np.int64), np.full(nodes, -1), np.empty(nodes + 1, np.int64)
    edges = 0
    for dag in range(len(tops)):
        count = _below(tops[dag], dag, seen, start, child, found)
        found[count] = tops[dag]
        size[dag] = count + 1
        for at in range(count + 1):
            edges += start[found[at] + 1] - start[found[at]]
    return size, edges


@njit(cache=True)
def _fill(tops, nodes, start, child, total, edges):  # type: ignore[no-untyped-def]
    """[occurrence] node and first edge, [edge] the child's occurrence."""
    seen, found, place = np.full(nodes, -1), np.empty(nodes + 1, np.int64), np.empty(nodes, np.int64)
    node, first, below = np.empty(total, np.int64), np.empty(total, np.int64), np.empty(edges, np.int64)
    row, edge_row = 0, 0
    for dag in range(len(tops)):
        count = _below(tops[dag], dag, seen, start, child, found)
        begin = row
        for own in np.sort(found[:count])[::-1]:  # parents have smaller numbers than their parts
            node[row], place[own] = own, row
            row += 1
        node[row] = tops[dag]
        row += 1
        for at in range(begin, row):
            first[at] = edge_row
            for edge in range(start[node[at]], start[node[at] + 1]):
                below[edge_row] = place[child[edge]]
                edge_row += 1
    return node, first, below
