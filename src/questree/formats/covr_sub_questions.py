"""Sub-questions about image sets as lines of JSON, by pieces of the table of nodes; what none of them knows of all,
who was asked in words of their own and whose ids are the same, is found by one worker from numbers."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.stages.decompose.image_sets import own_nodes, set_node_table, spoken_nodes
from questree.stages.decompose.set_hierarchies import DIGESTS, digested, image_ids, repeated, set_texts, told_apart
from questree.stages.decompose.spoken import SetTexts
from questree.tables.images import IMAGES
from questree.tables.nodes import ASKED_TOPS, EDGES, FORMS, SETS, WORDS
from questree.tables.row_pieces import RowPiece, pieces_of
from questree.tables.run import Run
from questree.tables.store import end_to_end, new_folder
from questree.tables.table import Table, rows_in
from questree.workers import over, results

FILE = "sub_questions.jsonl"
NODES = 1 << 16  # of a piece
OWN = Table("own", {"own": pl.Boolean})  # [node] was it asked before it was part of another?
NAMED_SETS = Table("named", {"scenes": pl.List(pl.String), "text": pl.String})  # [set] ids of images, and all in one


@dataclass(frozen=True)
class LinesTask:
    run: Path
    scratch: Path

    @property
    def decomposed(self) -> Path:
        return Run(self.run).covr / "decomposed"

    @property
    def own(self) -> Path:
        return self.scratch / "own"

    def place(self, piece: RowPiece) -> Path:
        return self.scratch / f"nodes-{piece.begin}"

    def named(self, piece: RowPiece) -> Path:
        return self.scratch / f"sets-{piece.begin}"


def write_sub_questions(run: Run, out: Path, scratch: Path, pool: Executor) -> int:
    """A line per node, questions among them: id, question, scenes, answer, type; how many."""
    task, place = LinesTask(run.folder, scratch), run.covr / "decomposed"
    sets, pieces = (pieces_of(place / f"{name}.parquet", NODES) for name in (SETS.name, "nodes"))
    count = rows_in(place / "nodes.parquet")
    over(pool, "naming images", "sets", sets, write_named, task)
    results({"nodes": pool.submit(write_own, task, count)}, "reading DAGs")
    over(pool, "writing sub-questions", "nodes", pieces, write_lines, task, sets, {})
    (again,) = results({"ids": pool.submit(repeated_ids, task, pieces)}, "comparing ids")
    for piece in pieces:
        own = {node: number for node, number in again.items() if piece.begin <= node < piece.end}
        if own:
            results({f"nodes {piece}": pool.submit(write_lines, task, piece, sets, own)}, "writing sub-questions")
    end_to_end([task.place(piece) / FILE for piece in pieces], out)
    return count


def write_named(task: LinesTask, piece: RowPiece) -> None:
    """Write the ids of the images of sets, once for all their nodes."""
    sets = SETS.read(task.decomposed, rows=(piece.begin, piece.end))
    scenes = image_ids(sets["images"], IMAGES.read(Run(task.run).images)["id"])
    with new_folder(task.named(piece)) as folder:
        NAMED_SETS.write_piece(pl.DataFrame({"scenes": scenes, "text": set_texts(scenes)}), folder)


def write_own(task: LinesTask, nodes: int) -> None:
    tops, edges = (table.read(task.decomposed) for table in (ASKED_TOPS.only("node"), EDGES.only("parent", "child")))
    found = np.zeros(nodes, bool)
    found[own_nodes(nodes, tops["node"].to_numpy(), edges)[0]] = True
    with new_folder(task.own) as folder:
        OWN.write_piece(pl.DataFrame({"own": found}), folder)


def write_lines(task: LinesTask, piece: RowPiece, sets: Sequence[RowPiece], again: Mapping[int, int]) -> None:
    """again: node -> a number for its id, which others have before it."""
    folder = task.decomposed
    nodes = set_node_table(folder).read(folder, rows=(piece.begin, piece.end))
    tops = ASKED_TOPS.read(folder, pl.col("node").is_between(piece.begin, piece.end - 1))
    tops = tops.unique("node", keep="first").sort("node").with_columns(pl.col("node") - piece.begin)
    own = OWN.read_piece(task.own)["own"][piece.begin : piece.end]
    worded = tops.filter(own.gather(tops["node"]))
    texts = SetTexts(WORDS.read(folder)["word"])
    said = spoken_nodes(FORMS.read(folder), nodes, texts, worded["node"].to_numpy(), worded["question"])
    used, place = np.unique(nodes["set"].to_numpy(), return_inverse=True)
    named = pl.concat([NAMED_SETS.read_piece(task.named(own))[rows] for own, rows in rows_by_piece(sets, used)])
    said = said.with_columns(set=pl.Series(place))
    keys = digested(said, tops, named["text"].to_list()).with_columns(pl.col("node") + piece.begin)
    scenes = named["scenes"].gather(place)
    table = said.select("question", "answer", "type").with_columns(told_apart(keys, again), scenes=scenes)
    with new_folder(task.place(piece)) as work:
        table.select("id", "question", "scenes", "answer", "type").write_ndjson(work / FILE)
        DIGESTS.write_piece(keys.filter(keys["id"].is_null()), work)


def rows_by_piece(pieces: Sequence[RowPiece], rows: Ints) -> Iterator[tuple[RowPiece, Ints]]:
    """The pieces that some rows lie in, and where they lie there; rows ascend."""
    cuts = np.searchsorted(rows, [piece.end for piece in pieces])
    for piece, own in zip(pieces, np.split(rows, cuts[:-1]), strict=True):
        if len(own):
            yield piece, own - piece.begin


def repeated_ids(task: LinesTask, pieces: Sequence[RowPiece]) -> dict[int, int]:
    return repeated(pl.concat([DIGESTS.empty(), *(DIGESTS.read_piece(task.place(piece)) for piece in pieces)]))
