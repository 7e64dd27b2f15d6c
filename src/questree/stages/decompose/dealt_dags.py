"""DAGs about image sets dealt by images: workers put pieces of a run's tables in the order of chunks, so that a chunk
is read without the others.

A question counts for the first image of its set. All that counts for an image is in one chunk, as all of a video is in
one shard: so counts of chunks stand one after the other, and sums of an image are added up in one place.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from questree.stages.decompose.dealt_sets import chunk_of, cut
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.image_sets import of_this_version, set_node_table
from questree.stages.decompose.set_hierarchies import (
    DIGESTS,
    decomposed,
    digests_in,
    largest_count,
    repeated,
    set_hierarchies,
    told_apart,
)
from questree.tables.images import IMAGES
from questree.tables.nodes import ASKED_TOPS, EDGES, FORMS, SETS, WORDS
from questree.tables.predictions import IMAGE_SETS, Stored
from questree.tables.row_pieces import RowPiece, pieces_of
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table, rows_in
from questree.terms import Array
from questree.workers import each

NODES = 1 << 17  # of a chunk
CHUNKS = 4  # a piece has the rows of so many: a chunk is read from all pieces, and to open one takes half a ms
FEW = 4  # chunks; as many take about as long as two processes to start (docs/cluster.md)
CHUNK = {"chunk": pl.UInt32}  # rows of a piece are sorted by it
PLACED = Table("placed", CHUNK)  # [set] the chunk of its first image
DEALT_SETS = Table("sets", {**CHUNK, "set": pl.UInt32, **SETS.columns})
DEALT_EDGES = Table(EDGES.name, {**CHUNK, **EDGES.columns})
DEALT_TOPS = Table(ASKED_TOPS.name, {**CHUNK, "top": pl.UInt32, **ASKED_TOPS.columns})


@dataclass(frozen=True)
class DagDeal:
    """What is dealt, and where to; small enough to send anywhere that sees the run."""

    run: Path
    scratch: Path
    answered: tuple[Path, ...]  # folders of models whose answers are dealt, too
    most: int  # nodes of a chunk, unless more count for one image

    @property
    def decomposed(self) -> Path:
        return Run(self.run).covr / "decomposed"

    @property
    def nodes(self) -> Table:
        own = set_node_table(self.decomposed)
        return Table(own.name, {**CHUNK, "node": pl.UInt32, **own.columns}, own.optional)

    @property
    def said(self) -> Table:
        """[node] the words that models said, as numbers."""
        return Table("said", {**CHUNK, **{str(at): pl.Int32 for at in range(len(self.answered))}})

    def place(self, table: str, piece: RowPiece) -> Path:
        return self.scratch / f"{table}-{piece.begin}"

    @property
    def rows(self) -> int:
        """Of a piece."""
        return CHUNKS * self.most

    def pieces(self, table: str) -> list[RowPiece]:
        return pieces_of(self.decomposed / f"{table}.parquet", self.rows)

    def chunk_of_sets(self) -> Array:
        return PLACED.read_piece(self.scratch / PLACED.name)["chunk"].to_numpy()


@dataclass(frozen=True)
class SetLayout:
    cuts: tuple[int, ...]  # [chunk + 1] its first image
    most: int  # the largest count that is an answer


def lay_out(deal: DagDeal, _: Path) -> SetLayout:
    """In a worker: which images each chunk has; written for every set."""
    of_this_version(deal.decomposed)
    first = np.concatenate(
        [np.zeros(0, np.uint32), *(own["images"].list.first().to_numpy() for own in SETS.pieces(deal.decomposed))]
    )
    forms, columns = FORMS.read(deal.decomposed), set_node_table(deal.decomposed).only("set", "form", "answer")
    nodes, most = np.zeros(int(first.max(initial=0)) + 1, np.int64), 0
    for piece in deal.pieces(columns.name):
        own = columns.read(deal.decomposed, rows=(piece.begin, piece.end))
        nodes += np.bincount(first[own["set"].to_numpy()], minlength=len(nodes))
        most = max(most, largest_count(forms, own))
    cuts = cut(nodes, deal.most)
    with new_folder(deal.scratch / PLACED.name) as folder:
        PLACED.write_piece(pl.DataFrame({"chunk": chunk_of(first, cuts)}), folder)
    return SetLayout(tuple(cuts), most)


def deal_sets(deal: DagDeal, piece: RowPiece) -> None:
    """In a worker: the sets of a piece in the order of chunks."""
    rows = SETS.read(deal.decomposed, rows=(piece.begin, piece.end)).with_row_index("set", piece.begin)
    with new_folder(deal.place("sets", piece)) as folder:
        write_dealt(DEALT_SETS, rows, deal.chunk_of_sets()[piece.begin : piece.end], folder)


def deal_tops(deal: DagDeal, piece: RowPiece) -> None:
    """In a worker: questions of a piece in the order of the pieces of nodes, as only these know their chunks."""
    rows = ASKED_TOPS.read(deal.decomposed, rows=(piece.begin, piece.end)).with_row_index("top", piece.begin)
    with new_folder(deal.place("tops", piece)) as folder:
        write_dealt(DEALT_TOPS, rows, rows["node"].to_numpy() // deal.rows, folder)


def deal_nodes(deal: DagDeal, piece: RowPiece) -> None:
    """In a worker: the nodes of a piece, what models say, edges below them and questions they are."""
    nodes = set_node_table(deal.decomposed).read(deal.decomposed, rows=(piece.begin, piece.end))
    chunk = deal.chunk_of_sets()[nodes["set"].to_numpy()]  # [node]
    said = {
        str(at): Stored.at(folder).between(IMAGE_SETS, piece.begin, piece.end)
        for at, folder in enumerate(deal.answered)
    }
    edges = EDGES.read(deal.decomposed, pl.col("parent").is_between(piece.begin, piece.end - 1))
    asked = [deal.place("tops", own) for own in deal.pieces(ASKED_TOPS.name)]
    tops = rows_of(DEALT_TOPS, asked, piece.begin // deal.rows)
    with new_folder(deal.place("nodes", piece)) as folder:
        write_dealt(deal.nodes, nodes.with_row_index("node", piece.begin), chunk, folder)
        write_dealt(deal.said, pl.DataFrame(said), chunk, folder)
        write_dealt(DEALT_EDGES, edges, chunk[edges["parent"].to_numpy() - piece.begin], folder)
        write_dealt(DEALT_TOPS, tops, chunk[tops["node"].to_numpy() - piece.begin], folder)


def write_dealt(table: Table, rows: pl.DataFrame, chunk: Array, folder: Path) -> None:
    """Rows in the order of their chunks, in each as they come."""
    of = pl.DataFrame({"chunk": chunk}, schema=CHUNK)
    table.write_piece(pl.concat([of, rows], how="horizontal")[np.argsort(chunk, kind="stable")], folder)


def rows_of(table: Table, pieces: Sequence[Path], chunk: int) -> pl.DataFrame:
    """The rows of a chunk in all pieces."""
    found = [table.empty()]
    for folder in pieces:
        piece = table.read_piece(folder)
        begin, end = np.searchsorted(piece["chunk"].to_numpy(), [chunk, chunk + 1])
        found.append(piece[int(begin) : int(end)])
    return pl.concat(found).drop("chunk").rechunk()


def chunks_in(run: Run) -> int:
    """How many chunks there will be, or so."""
    return -(-rows_in(decomposed(run) / "nodes.parquet") // NODES)


def node_pieces(run: Run) -> list[RowPiece]:
    """All nodes, as many at a time as are dealt at once."""
    return pieces_of(decomposed(run) / "nodes.parquet", CHUNKS * NODES)


def many_chunks(run: Run) -> bool:
    """Are there enough for several processes, and too much to hold at once?"""
    return chunks_in(run) > FEW


def deal_dags(run: Run, scratch: Path, answered: Sequence[Path], pool: Executor | None) -> "DealtDags":
    """Deal all DAGs of a run; what is dealt is as much as the run's tables, unpacked."""
    deal = DagDeal(run.folder, scratch, tuple(answered), NODES)
    sets, tops, nodes = (deal.pieces(name) for name in (SETS.name, ASKED_TOPS.name, "nodes"))
    (layout,) = each(pool, "looking at DAGs", "DAGs of", [run.folder], lay_out, deal)
    each(pool, "dealing sets", "sets", sets, deal_sets, deal)
    each(pool, "dealing questions", "questions", tops, deal_tops, deal)
    each(pool, "dealing DAGs", "nodes", nodes, deal_nodes, deal)
    return DealtDags(deal, layout, tuple(sets), tuple(nodes))


@dataclass(frozen=True)
class DealtDags:
    """DAGs of a run by chunks; small enough to send anywhere that sees what was dealt."""

    deal: DagDeal
    layout: SetLayout
    sets: tuple[RowPiece, ...]
    nodes: tuple[RowPiece, ...]

    @property
    def chunks(self) -> range:
        return range(len(self.layout.cuts) - 1)

    def hierarchies(
        self, chunk: int, wanted: pl.Series | None = None, again: Mapping[int, int] | None = None
    ) -> RunHierarchies:
        """Of all questions of a chunk, or of those whose ids are wanted. `again`: as `repeated` has it of all nodes;
        without it ids of two chunks may be the same."""
        numbers, tables = self.tables(chunk)
        kept = self.digested(chunk)
        found = DIGESTS.read_piece(kept) if kept.is_dir() else self.digests(numbers, tables)
        keys = told_apart(found, repeated(found) if again is None else again)
        return set_hierarchies(Run(self.deal.run), lambda: tables, wanted, self.layout.most, keys)

    def tables(self, chunk: int) -> tuple[pl.Series, dict[str, pl.DataFrame]]:
        """[node] its number in the run; and what is about the sets of a chunk, where sets and nodes are numbered by
        themselves."""
        folder = self.deal.decomposed
        sets, nodes = self._rows(DEALT_SETS, chunk), self._rows(self.deal.nodes, chunk)
        edges, tops = self._rows(DEALT_EDGES, chunk), self._rows(DEALT_TOPS, chunk).sort("top")
        at = partial(_numbered, nodes["node"])
        ends = {name: at(edges[name]) for name in ("parent", "child")}
        return nodes["node"], {
            **{table.name: table.read(folder) for table in (WORDS, FORMS)},
            SETS.name: sets.drop("set"),
            "nodes": nodes.drop("node").with_columns(set=_numbered(sets["set"], nodes["set"])),
            EDGES.name: edges.with_columns(**ends),
            ASKED_TOPS.name: tops.drop("top").with_columns(node=at(tops["node"])),
        }

    def set_numbers(self, chunk: int) -> pl.Series:
        """[set] its number in the run."""
        return self._rows(DEALT_SETS, chunk)["set"]

    def said(self, chunk: int, model: int) -> Array:
        """[node] the words of a model, as numbers."""
        return self._rows(self.deal.said, chunk)[str(model)].to_numpy()

    def digests(self, numbers: pl.Series, tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
        """As `digested` has them, but with the numbers that nodes have in the run."""
        names = IMAGES.only("id").read(Run(self.deal.run).images)["id"]
        return digests_in(tables, names).with_columns(node=numbers)

    def write_digests(self, chunk: int) -> None:
        with new_folder(self.digested(chunk)) as folder:
            DIGESTS.write_piece(self.digests(*self.tables(chunk)), folder)

    def digested(self, chunk: int) -> Path:
        return self.deal.scratch / f"digests-{chunk}"

    def repeated(self) -> dict[int, int]:
        """Of the nodes of all chunks, once their digests are written."""
        return repeated(pl.concat([DIGESTS.empty(), *(DIGESTS.read_piece(self.digested(own)) for own in self.chunks)]))

    def _rows(self, table: Table, chunk: int) -> pl.DataFrame:
        kind, pieces = ("sets", self.sets) if table is DEALT_SETS else ("nodes", self.nodes)
        return rows_of(table, [self.deal.place(kind, piece) for piece in pieces], chunk)


def _numbered(known: pl.Series, found: pl.Series) -> pl.Series:
    """Where numbers stand among those that are known, which ascend."""
    return pl.Series(np.searchsorted(known.to_numpy(), found.to_numpy()), dtype=pl.UInt32)
