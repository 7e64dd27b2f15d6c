"""COVR's question records from a run: JSON lines per split, with programs as rows and answers in JSON's types."""

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks.covr.references import references
from questree.benchmarks.covr.splits import PATTERNS, PROPERTIES
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import COUNT
from questree.notation.own_shapes import program_shapes, row_form
from questree.program import BOOL, Node, Word, fill, slots
from questree.progress import watch
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.image_hierarchies import image_ids, node_keys
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.stages.split.image_sets import selected
from questree.stages.split.properties import named
from questree.stages.split.rows import image_rows
from questree.tables.image_questions import BALANCED
from questree.tables.images import IMAGES
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier

FILE = "sub_questions.jsonl"


def write_sub_questions(decomposed: Path, images: pl.Series, out: Path) -> int:
    """A line per node, questions among them: id, question, scenes, answer, type; how many."""
    tables = read_sets(decomposed)
    nodes, scenes = spoken_sets(tables), image_ids(tables["sets"]["images"], images)
    table = nodes.select(
        "question",
        "answer",
        id=node_keys(nodes, tables["tops"], scenes),
        scenes=scenes.gather(nodes["set"]),
        type=pl.Series(IMAGE_DAGS.types).gather(nodes["type"]),
    )
    table.select("id", "question", "scenes", "answer", "type").write_ndjson(out)
    return len(table)


SPLITS = ("train", "dev", "test")
MARK = re.compile(r'"@(\d+)@"')


def export(run: Run, out: Path, every: bool = False) -> dict[str, int]:
    """Write <split>.jsonl per split, and all sub-questions if there are any; how many lines each file has."""
    files = {f"{split}.jsonl" for split in SPLITS}
    only_earlier(out, (files | {FILE}).__contains__, files)
    questions = selected(run, every)
    ids = IMAGES.read(run.images)["id"]
    lines = records(questions, ids, balanced(run) if every else None)
    counts = {}
    with new_folder(out) as folder:
        for split in SPLITS:
            own = [line for line, of in zip(lines, questions["split"], strict=True) if of == split]
            (folder / f"{split}.jsonl").write_bytes(b"".join(line + b"\n" for line in own))
            counts[f"{split}.jsonl"] = len(own)
        if (run.covr / "decomposed").is_dir():
            counts[FILE] = write_sub_questions(run.covr / "decomposed", ids, folder / FILE)
    return counts


def balanced(run: Run) -> set[str] | None:
    """The ids of the balanced selection, if there is one."""
    there = (run.covr / f"{BALANCED.name}.parquet").is_file()
    return set(BALANCED.read(run.covr)["id"].to_list()) if there else None


def records(questions: pl.DataFrame, image_ids: pl.Series, selection: set[str] | None = None) -> list[bytes]:
    """[question] its record as JSON; whether it is in the selection is noted, if there is one."""
    programs, found = program_shapes(questions), [b""] * len(questions)
    properties, ids = _properties(questions), image_ids.to_list()
    for node, at in watch(programs.by_shape, "writing records", len(programs.by_shape)):
        writer = CovrWriter(node)
        words = programs.filled[at, : len(slots(node))].tolist()
        for number, row, own in zip(at.tolist(), questions[at.tolist()].iter_rows(named=True), words, strict=True):
            record = _plain(row, ids) | writer.said([programs.words[word] for word in own], row["answer"])
            record |= {"properties": properties[number], "pair": row["pair"]}
            record |= {} if selection is None else {"balanced": row["id"] in selection}
            found[number] = msgspec.json.encode(record)
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
    """[question] the names of the properties it has."""
    rows = image_rows(questions)
    held = {name: named(name, rows).predicate.holds(rows).tolist() for name in PROPERTIES}
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
