"""Nodes and edges of chunks of image sets, joined as one chunk would have them, by workers and never all in memory.

Nodes of different sets are never the same, and forms have one order everywhere: so a node's number in all chunks
follows from how many nodes of every form each chunk has.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.tables.nodes import EDGES, nodes_about, slots_of
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.workers import over, results

NUMBERED_TOPS = Table("tops", {"question": pl.UInt32, "node": pl.UInt32})
NODES = 1 << 17  # of a piece, unless one chunk has more of one form


class RankedForm(NamedTuple):
    """A form as it is sorted among others: the highest first."""

    below: int  # minus its height
    program: str
    type: str
    parts: int


@dataclass(frozen=True)
class ChunkCounts:
    """What was counted about the nodes of a chunk."""

    forms: list[RankedForm]
    nodes: Ints  # [form]
    undefined: Ints  # [form] nodes without an answer
    without_parts: int  # questions
    different: Ints  # questions whose stored answer is not the executed one
    slots: int  # columns of words


@dataclass(frozen=True)
class NumberedChunk:
    """How the nodes of a chunk are numbered among all; small enough to send anywhere."""

    chunk: int
    nodes: Ints  # [form of the chunk] how many there are
    rank: Ints  # [form of the chunk] its number
    shift: Ints  # [form of the chunk] what is added to the numbers of its nodes
    slots: int  # columns of words in all chunks

    def __str__(self) -> str:
        return str(self.chunk)

    def numbers(self) -> Ints:
        """[node of the chunk] its number."""
        return np.asarray(np.arange(self.nodes.sum()) + np.repeat(self.shift, self.nodes))


class Cell(NamedTuple):
    """The nodes of a form in a chunk, and their edges: where they begin, and how many."""

    chunk: int
    nodes: tuple[int, int]
    edges: tuple[int, int]


def put_together(parts: Path, counts: Sequence[ChunkCounts], folder: Path, pool: Executor) -> list[RankedForm]:
    """Write the tables of nodes and edges; chunks lie in `parts`, by their numbers. All forms in their order."""
    forms = sorted({form for own in counts for form in own.forms})
    slots = max((own.slots for own in counts), default=0)
    chunks = numbered(forms, counts, slots)
    over(pool, "numbering", "chunk", chunks, renumber, parts)
    pieces = {parts / f"piece-{at:05d}": cells for at, cells in enumerate(dealt(forms, chunks))}
    futures = {out.name: pool.submit(write_piece, parts, out, cells, slots) for out, cells in pieces.items()}
    results(futures, "putting nodes together")
    for table in (set_nodes(slots), EDGES):
        table.join([*pieces], folder)
    return forms


def set_nodes(slots: int) -> Table:
    return nodes_about("set", slots, pl.UInt32)


def place(parts: Path, chunk: int) -> Path:
    """The folder of a chunk whose nodes are numbered among all."""
    return parts / f"numbered-{chunk:05d}"


def numbered(forms: list[RankedForm], counts: Sequence[ChunkCounts], slots: int) -> list[NumberedChunk]:
    at = {form: number for number, form in enumerate(forms)}
    ranks = [np.array([at[form] for form in own.forms], np.int64) for own in counts]
    sizes = np.zeros((len(forms), len(counts)), np.int64)  # [form, chunk]
    for chunk, (rank, own) in enumerate(zip(ranks, counts, strict=True)):
        sizes[rank, chunk] = own.nodes
    first = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
    return [
        NumberedChunk(chunk, own.nodes, rank, first[rank, chunk] - (np.cumsum(own.nodes) - own.nodes), slots)
        for chunk, (rank, own) in enumerate(zip(ranks, counts, strict=True))
    ]


def renumber(parts: Path, chunk: NumberedChunk) -> None:
    """Write the tables of a chunk with the numbers its nodes and forms have among all."""
    nodes, edges, tops = (
        pl.scan_ipc(parts / f"{chunk.chunk:05d}" / f"{name}.arrow", glob=False).collect()
        for name in ("nodes", "edges", "tops")
    )
    table = set_nodes(chunk.slots)
    missing = [name for name in slots_of(table.columns) if name not in nodes.columns]
    none = {name: pl.lit(np.iinfo(np.uint32).max, pl.UInt32) for name in missing}
    form = pl.Series("form", chunk.rank[nodes["form"].to_numpy()], pl.UInt16)
    number = pl.Series(chunk.numbers(), dtype=pl.UInt32)
    with new_folder(place(parts, chunk.chunk)) as folder:
        table.write_piece(nodes.with_columns(form, **none), folder)
        ends = {name: number.gather(edges[name]) for name in ("parent", "child")}
        EDGES.write_piece(edges.with_columns(**ends), folder)
        NUMBERED_TOPS.write_piece(tops.with_columns(node=number.gather(tops["node"])), folder)


def dealt(forms: list[RankedForm], chunks: Sequence[NumberedChunk]) -> Iterator[list[Cell]]:
    """The nodes of all chunks in the order of their numbers, some at a time."""
    found = list[tuple[int, Cell]]()  # number of the first node
    for chunk in chunks:
        node = edge = 0
        for rank, number, shift in zip(chunk.rank.tolist(), chunk.nodes.tolist(), chunk.shift.tolist(), strict=True):
            edges = number * forms[rank].parts
            found.append((node + shift, Cell(chunk.chunk, (node, number), (edge, edges))))
            node, edge = node + number, edge + edges
    cells, size = list[Cell](), 0
    for _, cell in sorted(found):
        if cells and size + cell.nodes[1] > NODES:
            yield cells
            cells, size = [], 0
        cells.append(cell)
        size += cell.nodes[1]
    yield cells


def write_piece(parts: Path, out: Path, cells: Sequence[Cell], slots: int) -> None:
    """Nodes and edges that follow each other in the tables."""
    with new_folder(out) as folder:
        for table in (set_nodes(slots), EDGES):
            used = sorted({cell.chunk for cell in cells})
            chunks = {
                chunk: pl.scan_ipc(place(parts, chunk) / f"{table.name}.arrow", glob=False).collect() for chunk in used
            }
            rows = [chunks[cell.chunk].slice(*(cell.nodes if table is not EDGES else cell.edges)) for cell in cells]
            table.write_piece(pl.concat([table.empty(), *rows]).rechunk(), folder)
