"""Reads the released AGQA-Decomp folders: one JSON file of DAGs per video, and isolated.json."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import cpu_count
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.sources.hierarchy_parts import together
from questree.sources.hierarchy_rows import (
    Composed,
    HierarchyNodes,
    Names,
    Numbers,
    ReleasedDag,
    ReleasedNode,
    Written,
    starts,
)
from questree.tables.hierarchies import COMPOSED, DAGS, EDGES, ISOLATED, NODES, Hierarchies
from questree.tables.table import Table
from questree.workers import processes

ISOLATED_FILE = "isolated.json"
DAGS_OF = msgspec.json.Decoder(dict[str, ReleasedDag])
CHUNK = 50  # files read at a time by one process
ONE_PROCESS = 200_000_000  # bytes; starting others for less does not pay
FAULTS = 20  # a folder that is not what we want has too many to print


class WholeDag(msgspec.Struct, gc=False):
    """A DAG with all its entries decoded: slower, but it knows where a fault is."""

    subquestion: dict[str, ReleasedNode]
    hierarchy: dict[str, Written]


class Loose(msgspec.Struct, gc=False):
    key: str
    type: str
    answer: str | None = None


def read_hierarchies(folder: Path, workers: int | None = None) -> Hierarchies:
    """The DAGs of every `<video>.json`, in order of file name, and the questions of isolated.json."""
    if not folder.is_dir():
        raise BadInput.at(folder, "no such folder; expected one with a <video>.json per video")
    files = sorted(path for path in folder.glob("*.json") if path.name != ISOLATED_FILE)
    loose = folder / ISOLATED_FILE
    if not files and not loose.is_file():
        raise BadInput.at(folder, "no hierarchies here: expected <video>.json files of {top key: DAG}")
    size = sum(path.stat().st_size for path in files)
    chunks = [files[at : at + CHUNK] for at in range(0, len(files), CHUNK)]
    if size > ONE_PROCESS and (workers or cpu_count()) > 1:
        with processes(workers or cpu_count()) as pool:
            found = list(watch(pool.map(_gathered, chunks), "hierarchies", len(chunks)))
    else:
        found = [_gathered(chunk) for chunk in watch(chunks, "hierarchies", len(chunks))]
    if loose.is_file():
        gathered = Gathering()
        gathered.add_isolated(str(loose), loose.read_bytes())
        found.append((gathered.tables(), gathered.faults))
    refuse([fault for _, faults in found for fault in faults][:FAULTS])
    return together(tables for tables, _ in found)


def _gathered(files: list[Path]) -> tuple[Hierarchies, list[Fault]]:
    gathered = Gathering()
    for path in files:
        gathered.add_video(str(path), path.stem, path.read_bytes())
    return gathered.tables(), gathered.faults


def hierarchies_of(files: Mapping[str, Any]) -> Hierarchies:
    """The same from memory: {file name: its content}."""
    gathered = Gathering()
    for name in sorted(files):
        if name != ISOLATED_FILE:
            gathered.add_video(name, name.removesuffix(".json"), msgspec.json.encode(files[name]))
    if ISOLATED_FILE in files:
        gathered.add_isolated(ISOLATED_FILE, msgspec.json.encode(files[ISOLATED_FILE]))
    return gathered.done()


class GrowingTable:
    """A table that grows by the columns of one file after another."""

    def __init__(self, table: Table):
        self.table, self.parts, self.rows = table, [table.empty()], 0

    def add(self, *columns: Any) -> None:
        """Rows as columns, in the order of the table's."""
        named = dict(zip(self.table.columns, columns, strict=True))
        self.parts.append(pl.DataFrame(named, schema=dict(self.table.columns)))
        self.rows += len(columns[0])

    def done(self) -> pl.DataFrame:
        return pl.concat(self.parts)


@dataclass
class Gathering:
    """The tables of files that come one by one."""

    nodes: GrowingTable = field(default_factory=lambda: GrowingTable(NODES))
    composed: GrowingTable = field(default_factory=lambda: GrowingTable(COMPOSED))
    edges: GrowingTable = field(default_factory=lambda: GrowingTable(EDGES))
    dags: GrowingTable = field(default_factory=lambda: GrowingTable(DAGS))
    isolated: GrowingTable = field(default_factory=lambda: GrowingTable(ISOLATED))
    videos: Numbers = field(default_factory=Numbers)
    names: Names = field(default_factory=Names)
    keys: list[str] = field(default_factory=list)
    texts: int = 0
    faults: list[Fault] = field(default_factory=list)

    def add_video(self, name: str, video: str, content: bytes) -> None:
        try:
            dags = list(DAGS_OF.decode(content).values())
            asked = HierarchyNodes(dags, self.names)
            composed = Composed(dags, asked, self.names)
        except (msgspec.DecodeError, LookupError):
            self.explain(name, content)
            return
        self._add_edges(composed)
        self._add_nodes(asked, composed)
        self.dags.add([self.videos[video]] * len(dags))

    def explain(self, name: str, content: bytes) -> None:
        """What is wrong with a file."""
        read = self._decoded(content, dict[str, WholeDag], name, "{top key: {subquestion, hierarchy}}")
        self.faults += [Fault(f"{name}, DAG {top}", text) for top, dag in read.items() for text in _strange(dag)]

    def _add_nodes(self, asked: HierarchyNodes, composed: Composed) -> None:
        parent = np.zeros(len(asked.dag), bool)
        parent[composed.row] = True
        numbers = (asked.dag + self.dags.rows, asked.text + self.texts, asked.type, asked.key + len(self.keys))
        self.nodes.add(*numbers, asked.answer, asked.object, parent)
        self.texts += len(asked.texts)
        self.keys += asked.keys

    def _add_edges(self, composed: Composed) -> None:
        """Of nodes that are added just after."""
        first = starts(composed.size)[:-1] + self.edges.rows
        self.composed.add(composed.parent + self.nodes.rows, composed.label, first, composed.size)
        self.edges.add(composed.child + self.nodes.rows, composed.repeated)

    def add_isolated(self, name: str, content: bytes) -> None:
        """A question without a DAG belongs to the video its key begins with: "1FXJT-12"."""
        keys, rows = Numbers(), self._decoded(content, list[Loose], name, "a list of {key, type, answer}")
        self.isolated.add(
            [self.videos[row.key.rpartition("-")[0] or row.key] for row in rows],
            [self.names.types[row.type] for row in rows],
            [len(self.keys) + keys[row.key] for row in rows],
            [self.names.word(row.answer) for row in rows],
        )
        self.keys += keys

    def done(self) -> Hierarchies:
        refuse(self.faults[:FAULTS])
        return self.tables()

    def tables(self) -> Hierarchies:
        tables = (self.nodes.done(), self.composed.done(), self.edges.done(), self.dags.done(), self.isolated.done())
        names = self.names
        lists = (list(self.videos), list(names.types), list(names.compositions), list(names.words))
        return Hierarchies(*tables, *lists, pl.Series("key", self.keys, dtype=pl.String))

    def _decoded(self, content: bytes, shape: Any, name: str, wanted: str) -> Any:
        try:
            return msgspec.json.decode(content, type=shape)
        except msgspec.DecodeError as error:
            self.faults.append(Fault(name, f"expected {wanted}; {error}"))
            return shape()


def _strange(dag: WholeDag) -> list[str]:
    """Texts the hierarchy mentions that are no sub-question."""
    known, named = dag.subquestion.keys(), set(dag.hierarchy)
    for parts in dag.hierarchy.values():
        named.update(*parts.values())
    if named <= known:
        return []
    return [f"the hierarchy mentions {text!r}, which `subquestion` does not have" for text in sorted(named - known)]
