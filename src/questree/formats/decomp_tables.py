"""Packed DAGs of some videos, kept by video for later, and as the tables of a shard."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

from questree.formats.decomp_left_out import DagPlace
from questree.tables.nodes import DECOMPOSED, GIVEN, KNOWN, SLOTS
from questree.tables.store import for_others

ASKED, UNKNOWN = KNOWN.index("asked"), KNOWN.index("unknown")


class NodeShape(NamedTuple):
    """What nodes of a shard share; higher ones come first, so that parents come before their parts."""

    height: int
    program: str
    type: str
    labels: tuple[int, ...]  # positions of the compositions of its edges


class PackedNode(NamedTuple):
    shape: NodeShape
    video: str
    words: tuple[int, ...]
    key: str
    text: str
    answer: int | None
    parts: tuple[int, ...]  # numbers of nodes

    def renumbered(self, number: Sequence[int]) -> "PackedNode":
        if not self.parts:  # most have none
            return self
        return PackedNode(*self[:-1], tuple([number[part] for part in self.parts]))


class PlacedTop(NamedTuple):
    node: int
    at: DagPlace  # where its question comes first

    @classmethod
    def of(cls, node: int, at: DagPlace, before: "PlacedTop | None") -> "PlacedTop":
        """What comes last says what it is, what comes first says where."""
        return cls(node, before.at if before else at)


class PackedDags(msgspec.Struct, gc=False):
    nodes: list[PackedNode]  # parts before what they are parts of
    tops: dict[str, PlacedTop]  # id of a question -> its node
    loose: dict[str, PlacedTop]  # key of a question without a DAG -> its node

    @classmethod
    def none(cls) -> "PackedDags":
        return cls([], {}, {})

    def add(self, other: "PackedDags") -> None:
        """DAGs of other videos."""
        more = len(self.nodes)
        number = range(more, more + len(other.nodes))
        self.nodes += [node.renumbered(number) for node in other.nodes]
        self.tops |= {id: top._replace(node=more + top.node) for id, top in other.tops.items()}
        self.loose |= {key: top._replace(node=more + top.node) for key, top in other.loose.items()}

    def by_video(self) -> dict[str, "PackedDags"]:
        found, number = dict[str, PackedDags](), list[int]()
        for node in self.nodes:
            own = found.setdefault(node.video, PackedDags.none())
            number.append(len(own.nodes))
            own.nodes.append(node.renumbered(number))
        for id, top in self.tops.items():
            found[self.nodes[top.node].video].tops[id] = top._replace(node=number[top.node])
        for key, top in self.loose.items():
            found[self.nodes[top.node].video].loose[key] = top._replace(node=number[top.node])
        return found

    def tables(self, questions: pl.DataFrame, wide: bool) -> dict[str, pl.DataFrame]:
        """The tables of a shard with these questions (video, name, number, id) and their texts and keys."""
        every, own = self.nodes, dict(questions.select("id", "number").iter_rows())
        videos = dict(questions.select("name", "video").unique().iter_rows())
        tops = {id: top.node for id, top in in_place(self.tops) if id in own}
        loose = [top.node for _, top in in_place(self.loose) if every[top.node].video in videos]
        order = sorted(reached(every, [*tops.values(), *loose]), key=lambda at: place(every[at], videos))
        row = {node: at for at, node in enumerate(order)}
        kept = [every[node] for node in order]
        shapes = list(dict.fromkeys(node.shape for node in kept))
        code = {shape: at for at, shape in enumerate(shapes)}
        none = 65535 if wide else 255
        columns: dict[str, Any] = {"video": [videos[node.video] for node in kept]}
        columns["form"] = [code[node.shape] for node in kept]
        for at in range(SLOTS):
            columns[f"s{at}"] = [node.words[at] if at < len(node.words) else none for node in kept]
        columns["answer"] = [node.answer for node in kept]
        columns["known"] = [UNKNOWN if node.answer is None else ASKED for node in kept]
        edges = [
            (parent, label, position, row[part])
            for parent, node in enumerate(kept)
            for position, (label, part) in enumerate(zip(node.shape.labels, node.parts, strict=True))
        ]
        made: dict[str, Any] = {
            "forms": {
                "program": [shape.program for shape in shapes],
                "type": [shape.type for shape in shapes],
                "parts": [len(shape.labels) for shape in shapes],
            },
            "nodes": columns,
            "edges": dict(zip(("parent", "label", "position", "child"), zip(*edges, strict=True), strict=False)),
            "tops": {
                "video": [videos[every[node].video] for node in tops.values()],
                "number": [own[id] for id in tops],
                "node": [row[node] for node in tops.values()],
            },
            "negatives": {"video": [videos[every[n].video] for n in loose], "node": [row[n] for n in loose]},
            "given": {"text": [node.text for node in kept], "key": [node.key for node in kept]},
        }
        tables = {table.name: table for table in (*DECOMPOSED, GIVEN)}
        return {name: pl.DataFrame(made[name], schema=dict(own.types(wide))) for name, own in tables.items()}


BY_VIDEO, DAGS = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]), msgspec.msgpack.Decoder(PackedDags)


def in_place(tops: Mapping[str, PlacedTop]) -> list[tuple[str, PlacedTop]]:
    return sorted(tops.items(), key=lambda one: one[1].at)


def keep_packed(dags: PackedDags, path: Path) -> None:
    with for_others(path) as work:
        work.write_bytes(msgspec.msgpack.encode(dags.by_video()))


def kept_packed(paths: Iterable[Path], videos: set[str]) -> PackedDags:
    """Those of some videos; the others are not unpacked."""
    found = PackedDags.none()
    for path in paths:
        for video, packed in BY_VIDEO.decode(path.read_bytes()).items():
            if video in videos:
                found.add(DAGS.decode(packed))
    return found


def reached(nodes: list[PackedNode], tops: list[int]) -> Iterator[int]:
    """These nodes and all below them, once."""
    found, waiting = set[int](), list(tops)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            yield node
            waiting += nodes[node].parts


def place(node: PackedNode, videos: Mapping[str, int]) -> tuple[Any, ...]:
    shape = node.shape
    return -shape.height, shape.program, shape.type, shape.labels, videos[node.video], node.words, node.key
