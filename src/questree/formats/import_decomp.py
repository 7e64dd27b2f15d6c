"""Reads AGQA-Decomp's released folders: DAGs as columns, every node of a video once, what is odd listed and kept."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from questree.faults import BadInput
from questree.progress import watch
from questree.rules import VIDEO_DAGS
from questree.tables.store import new_folder
from questree.tables.table import Table

ISOLATED = "isolated.json"
ENDING = "_hierarchies"
FIELDS = ("question", "type", "old_program", "new_program", "answer")
NODE_FIELDS = ("key", "type", "program", "answer")
EXAMPLES = 3  # places named per irregularity
FILES = 200  # video files per Parquet file

HIERARCHIES: dict[str, pl.DataType | type[pl.DataType]] = {  # one row per DAG
    "video": pl.String,
    "key": pl.String,
    **dict.fromkeys(FIELDS, pl.String),
    "nodes": pl.List(pl.UInt32),  # rows of the video's nodes, in the order of the file
    "parent": pl.List(pl.UInt32),  # per edge, in the order of the file: row of the video's nodes
    "label": pl.List(pl.UInt8),
    "child": pl.List(pl.UInt32),
    "as_is": pl.String,  # the DAG's own JSON where these columns would give another one
}
VIDEO_NODES: dict[str, pl.DataType | type[pl.DataType]] = {
    "video": pl.String,
    "text": pl.String,
    **dict.fromkeys(NODE_FIELDS, pl.String),
}


def table(name: str) -> Table:
    columns = VIDEO_NODES if name.startswith("nodes") else HIERARCHIES
    return Table(name, columns, frozenset(columns) - {"video"})


@dataclass
class Told:
    """What was read, counted."""

    dags: dict[str, int] = field(default_factory=dict)  # per folder
    isolated: dict[str, int] = field(default_factory=dict)
    kept_as_is: int = 0
    odd: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def note(self, what: str, where: str) -> None:
        self.odd[what] += 1
        if self.odd[what] <= EXAMPLES:
            self.examples.setdefault(what, []).append(where)


def hierarchy_folders(folder: Path) -> list[Path]:
    """The folder itself if it has DAGs, or those inside it that end like the release's."""
    if not folder.is_dir():
        raise BadInput.at(folder, "no such folder")
    if any(folder.glob("*.json")):
        return [folder]
    found = sorted(path for path in folder.iterdir() if path.is_dir() and path.name.endswith(ENDING))
    if not found:
        raise BadInput.at(folder, f"no hierarchies: wanted <video>.json files, or folders named ..{ENDING}")
    return found


def import_decomp(folder: Path, target: Path) -> Told:
    """Read all DAGs into `target`, whole or not at all."""
    told, folders = Told(), hierarchy_folders(folder)
    with new_folder(target) as work:
        for source in folders:
            place = work / source.name
            place.mkdir()
            files = sorted(path for path in source.glob("*.json") if path.name != ISOLATED)
            reading = watch(files, f"reading {source.name}", len(files))
            for number, begin in enumerate(range(0, len(files), FILES)):
                few = [path for path, _ in zip(reading, files[begin : begin + FILES], strict=False)]
                read = [read_file(path, told) for path in few]
                for name, at in (("dags", 0), ("nodes", 1)):
                    rows = [row for one in read for row in one[at]]
                    own = table(f"{name}-{number:05d}")
                    own.write(pl.DataFrame(rows, schema=dict(own.columns), orient="row"), place)
                told.dags[source.name] = told.dags.get(source.name, 0) + sum(len(dags) for dags, _ in read)
            told.isolated[source.name] = copy_isolated(source / ISOLATED, place / ISOLATED)
    return told


def copy_isolated(source: Path, target: Path) -> int:
    if not source.is_file():
        return 0
    rows = decoded(source, source.read_bytes())
    if not isinstance(rows, list):
        raise BadInput.at(source, f"wanted a list of questions, found {type(rows).__name__}")
    target.write_bytes(source.read_bytes())
    return len(rows)


def decoded(path: Path, text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise BadInput.at(path, f"not JSON: {error}") from error


def read_file(path: Path, told: Told) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """(rows of DAGs, rows of nodes) of one video."""
    dags = decoded(path, path.read_bytes())
    if not isinstance(dags, dict):
        raise BadInput.at(path, f"wanted an object of DAGs, found {type(dags).__name__}")
    video = Video(path.stem, told)
    rows = [video.row(key, dag) for key, dag in dags.items()]
    return rows, [(path.stem, *node) for node in video.listed]


@dataclass
class Video:
    """The nodes of a video, numbered as they come."""

    name: str
    told: Told
    nodes: dict[tuple[Any, ...], int] = field(default_factory=dict)  # (text, key, type, program, answer) -> number
    listed: list[tuple[Any, ...]] = field(default_factory=list)  # the same by number
    known: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # text -> what was said first about it

    def row(self, key: str, dag: Any) -> tuple[Any, ...]:
        try:
            found = self.columns(key, dag)
        except (KeyError, TypeError, AttributeError, ValueError):
            self.told.note("DAG: not of the shape the release has; kept as it is", f"{self.name} {key}")
            found = None
        if found is not None and json.dumps(rebuilt(found, self.listed)) == json.dumps(dag):
            return (*found, None)
        self.told.kept_as_is += 1
        return (self.name, key, *[None] * (len(HIERARCHIES) - 3), json.dumps(dag))

    def columns(self, key: str, dag: Any) -> tuple[Any, ...]:
        if set(dag) != {*FIELDS, "subquestion", "hierarchy"}:
            raise ValueError(key)
        place, number = f"{self.name} {key}", dict[str, int]()
        for text, node in dag["subquestion"].items():
            number[text] = self.node(text, node, place)
        if dag["question"] not in number:
            self.told.note("root: the question is not among its sub-questions", place)
        edges: list[tuple[int, int, int]] = []
        for text, compositions in dag["hierarchy"].items():
            for label, children in compositions.items():
                if label not in VIDEO_DAGS.compositions:
                    self.told.note(f"composition: {label!r} is none of the {len(VIDEO_DAGS.compositions)}", place)
                for child in children:
                    if child not in number or text not in number:
                        self.told.note("edge: a question that is not among the sub-questions", place)
                    edges.append((number[text], VIDEO_DAGS.compositions.index(label), number[child]))
        parents, labels, parts = ([edge[at] for edge in edges] for at in range(3))
        return (self.name, key, *(dag[name] for name in FIELDS), list(number.values()), parents, labels, parts)

    def node(self, text: str, node: dict[str, Any], place: str) -> int:
        if set(node) != set(NODE_FIELDS):
            raise ValueError(text)
        said = (text, *(node[name] for name in NODE_FIELDS))
        if said not in self.nodes:
            self.nodes[said] = len(self.listed)
            self.listed.append(said)
            if node["type"] not in VIDEO_DAGS.types:
                self.told.note(f"type: {node['type']!r} is none of the {len(VIDEO_DAGS.types)}", place)
            if self.known.setdefault(text, said) != said:
                self.told.note("text: its key, type, program or answer differs within the video", place)
        return self.nodes[said]


def rebuilt(row: tuple[Any, ...], nodes: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The DAG a row stands for."""
    _, _, *values, own, parents, labels, parts = row
    hierarchy: dict[str, dict[str, list[str]]] = {}
    for parent, label, part in zip(parents, labels, parts, strict=True):
        hierarchy.setdefault(nodes[parent][0], {}).setdefault(VIDEO_DAGS.compositions[label], []).append(nodes[part][0])
    entries = {nodes[at][0]: dict(zip(NODE_FIELDS, nodes[at][1:], strict=True)) for at in own}
    return {**dict(zip(FIELDS, values, strict=True)), "subquestion": entries, "hierarchy": hierarchy}


def stored(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """(video, its DAGs) of an imported folder, as they were."""
    for path in sorted(folder.glob("dags-*.parquet")):
        dags, nodes = table(path.stem).read(folder), table(path.stem.replace("dags", "nodes")).read(folder)
        own = {str(video): few.drop("video").rows() for (video,), few in nodes.group_by("video", maintain_order=True)}
        for (video,), few in dags.group_by("video", maintain_order=True):
            yield (
                str(video),
                {
                    row[1]: json.loads(row[-1]) if row[-1] else rebuilt(row[:-1], own.get(str(video), []))
                    for row in few.iter_rows()
                },
            )
