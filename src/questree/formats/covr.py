"""COVR's question records, lines of JSON with programs as rows, written from the questions of a run."""

import json
import re
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks.covr.references import references
from questree.benchmarks.covr.splits import PATTERNS, RELEASED
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import COUNT
from questree.notation.own_shapes import program_shapes, row_form
from questree.stages.split.properties import named
from questree.stages.split.rows import image_rows
from questree.terms import BOOL, Node, Word, fill, slots

MARK = re.compile(r'"@(\d+)@"')


def records(questions: pl.DataFrame, image_ids: pl.Series, selection: set[str] | None = None) -> list[bytes]:
    """[question] its record as a line of JSON; whether it is in the selection is noted, if there is one."""
    programs, found = program_shapes(questions), [b""] * len(questions)
    properties, ids = _properties(questions), image_ids.to_list()
    for node, at in programs.by_shape:
        writer = CovrWriter(node)
        words = programs.filled[at, : len(slots(node))].tolist()
        for number, row, own in zip(at.tolist(), questions[at.tolist()].iter_rows(named=True), words, strict=True):
            record = _plain(row, ids) | writer.said([programs.words[word] for word in own], row["answer"])
            record |= {"properties": properties[number], "pair": row["pair"]}
            record |= {} if selection is None else {"balanced": row["id"] in selection}
            found[number] = msgspec.json.encode(record) + b"\n"
    return found


def _plain(row: dict[str, Any], ids: list[str]) -> dict[str, Any]:
    return {
        "qid": row["id"],
        "utterance": row["question"],
        "question": row["question"],
        "scenes": [ids[image] for image in row["images"]],
        "pattern_name": PATTERNS.get(row["template"], row["template"]),
        "sub_graph_info": {name: row[name] for name in ("length", "depth", "attributes")},
    }


def _properties(questions: pl.DataFrame) -> list[list[str]]:
    """[question] the names of the properties it has, as the release has them."""
    rows = image_rows(questions)
    held = {said: named(name, rows.position).predicate.holds(rows).tolist() for name, said in RELEASED.items()}
    return [[name for name, has in zip(held, own, strict=True) if has] for own in zip(*held.values(), strict=True)]


class CovrWriter:
    """Writes the questions of one shape: its rows are written once, with marks for words."""

    def __init__(self, node: Node):
        self.node = node
        self.kinds = {name: slot.kind for name, slot in slots(node).items()}
        self.pieces = MARK.split(json.dumps(_marked(row_form(node)[0]), separators=(",", ":")))

    def said(self, words: list[str], answer: str) -> dict[str, Any]:
        filled = fill(self.node, {name: Word(words[int(name)], kind) for name, kind in self.kinds.items()})
        assert isinstance(filled, Node)
        graphs = references(filled, answer)
        return {
            "answer": self.answer(answer),
            "program": self.rows(words),
            "ref_text": reference(graphs[0])[""] if graphs else "",
            "sub_graphs": [elements(graph) for graph in graphs],
        }

    def answer(self, answer: str) -> bool | int | str:
        if self.node.kind == BOOL:
            return answer == BOOL.answers[1]
        return int(answer) if self.node.kind == COUNT else answer

    def rows(self, words: list[str]) -> msgspec.Raw:
        """Every second piece is the number of a slot."""
        pieces = [self.word(int(piece), words) if at % 2 else piece for at, piece in enumerate(self.pieces)]
        return msgspec.Raw("".join(pieces).encode())

    def word(self, slot: int, words: list[str]) -> str:
        return words[slot] if self.kinds[str(slot)] == COUNT else json.dumps(words[slot])


def _marked(value: Any) -> Any:
    """The rows with a mark for the slot of every word."""
    if isinstance(value, list):
        return [_marked(each) for each in value]
    if isinstance(value, dict):
        return value | ({"arguments": _marked(value["arguments"])} if "arguments" in value else {})
    return value if value is None else f"@{value}@"


def elements(graph: Graph) -> list[list[list[str]]]:
    """Depth first: what is said of every node, of every relation and of every preposition."""
    attribute = [] if graph.attribute is None else [["attribute", graph.attribute]]
    found = [[["noun", graph.name], *attribute]]
    for relation in graph.relations:
        for link, target in ((relation.name, relation.target), *((p.name, p.target) for p in relation.prepositions)):
            found += [[["relation", link]], *elements(target)]
    return found
