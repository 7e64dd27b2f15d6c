"""COVR's question records, as released or as exported here, read into a run that has their images."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from questree.benchmarks.covr.references import references, size
from questree.benchmarks.covr.splits import PATTERNS, TEMPLATE_OF
from questree.domains.images.batches import ProgramBatch, answer
from questree.domains.images.corpus import Corpus, corpus, padded
from questree.faults import BadInput
from questree.notation import own
from questree.notation.covr import CovrShape, CovrShapes
from questree.notation.own import SPECIAL
from questree.program import REASONS, Node, Word, fill
from questree.progress import watch
from questree.readings.answer import WELL
from questree.sources.covr import CovrRecord, answer_text, read_records
from questree.tables.image_questions import ANSWERED, BALANCED
from questree.tables.images import Images
from questree.tables.questions import with_forms
from questree.tables.run import Run
from questree.tables.store import new_folder

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
class Kept:
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
        found = info if set(info) >= {"length", "depth", "attributes"} else size(references(self.program, self.answer))
        return {
            "id": record.id,
            "split": self.split,
            "template": self.template,
            "question": record.utterance or record.question or "",
            "answer": self.answer,
            "program": own.show(self.program),
            "images": self.images,
            **{name: found[name] for name in ("length", "depth", "attributes")},
            "pair": record.pair if record.pair is not None else pair,
        }


def question_files(folder: Path) -> dict[str, Path]:
    """split -> file: train.jsonl, dev.jsonl or val.jsonl, test.jsonl, or .json of the same, gzipped or not."""
    found: dict[str, Path] = {}
    for stem, split in SPLIT_OF.items():
        for path in (folder / f"{stem}{ending}" for ending in ENDINGS):
            if path.is_file():
                found.setdefault(split, path)
    if not found:
        raise BadInput.at(folder, "no question files: expected train.jsonl, dev.jsonl (or val.jsonl) or test.jsonl")
    return found


def import_covr(folder: Path, run: Run, attribute_groups: Mapping[str, str], replace: bool = False) -> CovrImported:
    """Records into RUN/covr, whole or not at all; what does not fit is left out and counted."""
    files = question_files(folder)
    if run.covr.exists() and not replace:
        raise BadInput.at(run.covr, "there are image questions already; remove the folder first, or give --replace")
    if not run.images.is_dir():
        raise BadInput.at(run.images, "no images yet; read the questions' images first with `questree ingest gqa`")
    known = corpus(Images.load(run.images), attribute_groups)
    told, shapes, kept, seen = CovrImported(), CovrShapes(), list[Kept](), set[str]()
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


def fitting(record: CovrRecord, split: str, known: Corpus, shapes: CovrShapes, seen: set[str]) -> Kept | str:
    """The record as a row of ours, or why it cannot be one."""
    template = TEMPLATE_OF.get(record.pattern_name, record.pattern_name)
    missing = [scene for scene in record.scenes if scene not in known.image_at]
    faults = {
        f"no template {record.pattern_name!r}": template not in PATTERNS,
        "its id is used twice": record.id in seen,
        "no scenes": not record.scenes,
        "a scene that is not among the images": bool(missing),
        "no answer": record.answer is None,
    }
    found = next((fault for fault, true in faults.items() if true), "")
    if found:
        return found
    shape, words = shapes.of(record.program)
    if shape.wrong is not None or not shape.parts:
        return "a malformed program"
    if any(set(str(word)) & set(SPECIAL) or not str(word).strip() or str(word)[0] == "$" for word in words):
        return "a word that our notation cannot write"
    images = [known.image_at[scene] for scene in dict.fromkeys(record.scenes)]
    said = {slot.name: Word(str(words[int(slot.name)]), slot.kind) for slot in shape.slots}
    program = fill(shape.parts[-1], said)
    assert isinstance(program, Node)
    return Kept(record, split, template, images, shape, words, program)


def agreement(kept: list[Kept], known: Corpus, told: CovrImported) -> None:
    """Answer every question again, those of one shape together."""
    members: dict[int, list[Kept]] = {}
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


def write(run: Run, kept: list[Kept]) -> None:
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
