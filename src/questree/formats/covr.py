"""COVR's question records, JSON lines per split with programs as rows: written from a run, and read into one."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks.covr.references import references, size
from questree.benchmarks.covr.splits import PATTERNS, RELEASED, TEMPLATE_OF
from questree.domains.images.batches import ProgramBatch, answer
from questree.domains.images.corpus import Corpus, corpus, padded
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import COUNT
from questree.faults import BadInput, Fault, refuse
from questree.notation.covr import CovrShape, CovrShapes
from questree.notation.own import show
from questree.notation.own_shapes import program_shapes, row_form
from questree.progress import watch
from questree.readings.answer import WELL
from questree.sources.covr import CovrRecord, answer_text, read_records
from questree.stages.split.properties import named
from questree.stages.split.rows import image_rows
from questree.tables.image_questions import ANSWERED, BALANCED
from questree.tables.images import Images
from questree.tables.questions import with_forms
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.terms import BOOL, REASONS, Node, Word, fill, slots

SIZES = ("length", "depth", "attributes")  # of a question's references
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


SPLIT_OF = {"train": "train", "dev": "dev", "val": "dev", "validation": "dev", "test": "test"}
ENDINGS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")
EXAMPLES = 3  # ids named per irregularity


@dataclass
class CovrImported:
    """What was read, counted."""

    questions: dict[str, int] = field(default_factory=dict)  # per file, those that were kept
    faults: Counter[str] = field(default_factory=Counter)  # of records that were left out
    examples: dict[str, list[str]] = field(default_factory=dict)
    answered: dict[str, Counter[str]] = field(default_factory=dict)  # template -> same, other, or why there is none
    differing: list[tuple[str, str, str]] = field(default_factory=list)  # id, its answer, what its program says

    def leave_out(self, fault: str, id: str) -> None:
        self.faults[fault] += 1
        self.examples.setdefault(fault, [])
        self.examples[fault] += [id][: EXAMPLES - len(self.examples[fault])]


@dataclass(frozen=True)
class KeptRecord:
    """A record that can be a row of the table."""

    record: CovrRecord
    split: str
    template: str
    images: list[int]
    shape: CovrShape
    words: list[str | int]
    program: Node

    @property
    def answer(self) -> str:
        return answer_text(self.record.answer)

    def row(self, pair: int) -> dict[str, Any]:
        record, info = self.record, self.record.sub_graph_info
        found = info if set(info) >= {*SIZES} else size(references(self.program, self.answer))
        return {
            "id": record.id,
            "split": self.split,
            "template": self.template,
            "question": record.utterance or record.question or "",
            "answer": self.answer,
            "program": show(self.program),
            "images": self.images,
            **{name: found[name] for name in SIZES},
            "pair": record.pair if record.pair is not None else pair,
        }


def question_files(folder: Path) -> dict[str, Path]:
    """split -> file: train.jsonl, val.jsonl or dev.jsonl, test.jsonl, or .json of the same, gzipped or not."""
    found: dict[str, list[Path]] = {}
    for stem, split in SPLIT_OF.items():
        found.setdefault(split, []).extend(folder / f"{stem}{ending}" for ending in ENDINGS)
    there = {split: [path for path in paths if path.is_file()] for split, paths in found.items()}
    if not any(there.values()):
        raise BadInput.at(folder, "no question files: expected train.jsonl, val.jsonl (or dev.jsonl) or test.jsonl")
    several = [(split, ", ".join(path.name for path in paths)) for split, paths in there.items() if len(paths) > 1]
    refuse([Fault(str(folder), f"expected one file of {split}, got {names}") for split, names in several])
    return {split: paths[0] for split, paths in there.items() if paths}


def import_covr(folder: Path, run: Run, attribute_groups: Mapping[str, str], replace: bool = False) -> CovrImported:
    """Records into RUN/covr, whole or not at all; what does not fit is left out and counted."""
    files = question_files(folder)
    if run.covr.exists() and not replace:
        raise BadInput.at(run.covr, "there are image questions already; remove the folder first, or give --replace")
    if not run.images.is_dir():
        raise BadInput.at(run.images, "no images yet; read the questions' images first with `questree ingest gqa`")
    known = corpus(Images.load(run.images), attribute_groups)
    told, shapes, kept, seen = CovrImported(), CovrShapes(), list[KeptRecord](), set[str]()
    for split, path in files.items():
        records = read_records(path)
        before = len(kept)
        for record in watch(records, f"reading {path.name}", len(records)):
            found = fitting(record, split, known, shapes, seen)
            if isinstance(found, str):
                told.leave_out(found, record.id)
            else:
                kept.append(found)
                seen.add(record.id)
        told.questions[path.name] = len(kept) - before
    if not kept:
        why = "; ".join(f"{count:,}: {fault}" for fault, count in told.faults.most_common())
        raise BadInput.at(folder, f"no question to import ({why or 'the files are empty'})")
    agreement(kept, known, told)
    write(run, kept)
    return told


def plausible(record: CovrRecord) -> bool:
    """Whether the sizes that come with it are numbers as questions have them, and fit into our columns."""
    given = [record.sub_graph_info.get(name, 0) for name in SIZES]
    return all(type(each) is int and 0 <= each < 1 << 8 for each in given) and 0 <= (record.pair or 0) < 1 << 32


def fitting(record: CovrRecord, split: str, known: Corpus, shapes: CovrShapes, seen: set[str]) -> KeptRecord | str:
    """The record as a row of ours, or why it cannot be one."""
    template = TEMPLATE_OF.get(record.pattern_name, record.pattern_name)
    missing = [scene for scene in record.scenes if scene not in known.image_at]
    faults = {
        f"no template {record.pattern_name!r}": template not in PATTERNS,
        "its id is used twice": record.id in seen,
        "no scenes": not record.scenes,
        "a scene that is not among the images": bool(missing),
        "no answer": record.answer is None,
        "sizes that no question has": not plausible(record),
    }
    found = next((fault for fault, true in faults.items() if true), "")
    if found:
        return found
    shape, words = shapes.of(record.program)
    if shape.wrong is not None or not shape.parts:
        return "a malformed program"
    images = [known.image_at[scene] for scene in dict.fromkeys(record.scenes)]
    said = {slot.name: Word(str(words[int(slot.name)]), slot.kind) for slot in shape.slots}
    program = fill(shape.parts[-1], said)
    assert isinstance(program, Node)
    return KeptRecord(record, split, template, images, shape, words, program)


def agreement(kept: list[KeptRecord], known: Corpus, told: CovrImported) -> None:
    """Answer every question again, those of one shape together."""
    members: dict[int, list[KeptRecord]] = {}
    for each in kept:
        members.setdefault(id(each.shape), []).append(each)
    for own_kind in watch(list(members.values()), "answering again", len(members)):
        shape = own_kind[0].shape
        columns = {
            slot.name: known.positions([each.words[int(slot.name)] for each in own_kind], slot.kind)
            for slot in shape.slots
        }
        found = answer(ProgramBatch(shape.parts, columns, padded([each.images for each in own_kind])), known)
        for each, value, reason in zip(own_kind, found.value, found.reason.tolist(), strict=True):
            spelled = answer_text(value)
            how = REASONS[reason] if reason != WELL else "same" if spelled == each.answer else "other"
            told.answered.setdefault(each.template, Counter())[how] += 1
            if how != "same":
                told.differing.append((each.record.id, each.answer, spelled if how == "other" else how))


def write(run: Run, kept: list[KeptRecord]) -> None:
    pairs: dict[tuple[str, str], int] = {}
    rows = []
    for each in kept:
        text = each.record.utterance or each.record.question or each.record.id
        rows.append(each.row(pairs.setdefault((each.split, text), len(pairs))))
    selected = [each.record.id for each in kept if each.record.balanced]
    with new_folder(run.covr) as folder:
        ANSWERED.write(with_forms(pl.DataFrame(rows, infer_schema_length=None)), folder)
        if any(each.record.balanced is not None for each in kept):
            BALANCED.write(pl.DataFrame({"id": selected}, schema=dict(BALANCED.columns)), folder)
