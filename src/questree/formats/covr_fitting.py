"""Records of COVR as rows of ours: what keeps one out, and what its program says when it is run again."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from questree.benchmarks.covr.references import references, size
from questree.benchmarks.covr.splits import PATTERNS, TEMPLATE_OF
from questree.domains.images.batches import ProgramBatch, answer
from questree.domains.images.corpus import Corpus, padded
from questree.notation.covr import CovrShape, CovrShapes
from questree.notation.own import show
from questree.readings.answer import WELL
from questree.sources.covr import CovrRecord, answer_text
from questree.terms import REASONS, Node, Word, fill

SIZES = ("length", "depth", "attributes")  # of a question's references


@dataclass(frozen=True)
class KeptRecord:
    """A record that can be a row of the table."""

    record: CovrRecord
    template: str
    images: list[int]
    shape: CovrShape
    words: list[str | int]
    program: Node

    @property
    def answer(self) -> str:
        return answer_text(self.record.answer)

    def row(self) -> dict[str, Any]:
        record, info = self.record, self.record.sub_graph_info
        found = info if set(info) >= {*SIZES} else size(references(self.program, self.answer))
        return {
            "id": record.id,
            "template": self.template,
            "question": record.utterance or record.question or "",
            "answer": self.answer,
            "program": show(self.program),
            "images": self.images,
            **{name: found[name] for name in SIZES},
            "pair": record.pair,
            "balanced": record.balanced,
        }


def no_template(record: CovrRecord) -> str:
    """What is wrong with the name of its template, if anything."""
    known = TEMPLATE_OF.get(record.pattern_name, record.pattern_name) in PATTERNS
    return "" if known else f"no template {record.pattern_name!r}"


def plausible(record: CovrRecord) -> bool:
    """Whether the sizes that come with it are numbers as questions have them, and fit into our columns."""
    given = [record.sub_graph_info.get(name, 0) for name in SIZES]
    return all(type(each) is int and 0 <= each < 1 << 8 for each in given) and 0 <= (record.pair or 0) < 1 << 32


def fitting(record: CovrRecord, known: Corpus, shapes: CovrShapes) -> KeptRecord | str:
    """A record of a known template as a row of ours, or why it cannot be one."""
    missing = [scene for scene in record.scenes if scene not in known.image_at]
    faults = {
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
    template = TEMPLATE_OF.get(record.pattern_name, record.pattern_name)
    return KeptRecord(record, template, images, shape, words, program)


class SaidAgain(NamedTuple):
    how: str  # "same", "other", or why there is no answer
    found: str  # what the program says


def agreement(kept: Sequence[KeptRecord], known: Corpus) -> list[SaidAgain]:
    """[record] answered again, those of one shape together."""
    members, said = dict[int, list[int]](), [SaidAgain("", "")] * len(kept)
    for at, each in enumerate(kept):
        members.setdefault(id(each.shape), []).append(at)
    for rows in members.values():
        own = [kept[at] for at in rows]
        columns = {slot.name: known.positions(column(own, int(slot.name)), slot.kind) for slot in own[0].shape.slots}
        found = answer(ProgramBatch(own[0].shape.parts, columns, padded([each.images for each in own])), known)
        for at, each, value, reason in zip(rows, own, found.value, found.reason.tolist(), strict=True):
            spelled = answer_text(value)
            how = REASONS[reason] if reason != WELL else "same" if spelled == each.answer else "other"
            said[at] = SaidAgain(how, spelled)
    return said


def column(kept: Sequence[KeptRecord], slot: int) -> list[str | int]:
    """[record] the word of a slot."""
    return [each.words[slot] for each in kept]
