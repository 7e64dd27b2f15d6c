"""COVR's files: question records, whole or as far as scoring needs them, plans of the models of every split, scenes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
from msgspec import Raw, Struct

from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.sources.gqa import SceneFiles
from questree.tables.images import Images
from questree.tables.store import content, read_json
from questree.tables.table import Table

QUESTIONS = Table(
    "questions",
    {
        "id": pl.String,
        "answer": pl.String,
        "image": pl.String,
        "template": pl.String,
        "options": pl.List(pl.String),  # the two a choice is between
        "question": pl.String,  # its text
    },
    frozenset({"options", "question"}),
)
CHOOSING = ("choose_attr", "choose_name", "choose_relation")
ROLES = ("text", "model", "iid-size", "iid")
EVERY = "all"  # examples of a learning curve: as many as there are
SIDES = ("train", "val")  # of a file that is to be split
FAULTS = 20
WANTED = "questions {qid, answer, scenes, pattern_name, program}"


class CovrRecord(msgspec.Struct, gc=False):
    """A question as released, or as we export it; what a record does not say is None or empty."""

    qid: str | int
    answer: str | int | float | bool | None
    scenes: list[str] = []
    pattern_name: str = ""
    program: list[dict[str, Any]] = []  # rows {operation, arguments, dependencies}
    utterance: str | None = None
    question: str | None = None
    paraphrase: str | None = None  # of a released question, by a person
    sub_graph_info: dict[str, Any] = {}
    pair: int | None = None
    balanced: bool | None = None

    @property
    def id(self) -> str:
        return str(self.qid)


class SplitPredictions(msgspec.Struct, forbid_unknown_fields=True):
    """Files of predictions of the four models of one split; questions: the held-out ones, all without it."""

    text: str
    model: str
    iid_size: str = msgspec.field(name="iid-size")
    iid: str
    questions: list[str] | None = None
    filtered: int | None = None  # examples taken out of the training set

    def file(self, role: str) -> str:
        return str(getattr(self, role.replace("-", "_")))


class CurvePredictions(msgspec.Struct, forbid_unknown_fields=True):
    """Files of predictions of models trained with so many examples of what a split holds out ("all": as many as there
    are); questions: those it holds out, all without it."""

    models: dict[str, str]
    questions: list[str] | None = None


def read_records(path: Path) -> list[CovrRecord]:
    """A JSON list or JSON lines of questions, gzipped or not."""
    text = content(path)
    if text.lstrip()[:1] != b"[":
        return read_lines(path, text)
    try:
        return msgspec.json.decode(text, type=list[CovrRecord])
    except UNREADABLE as error:
        raise BadInput.at(path, f"expected {WANTED}; {error}") from error


def read_lines(path: Path, text: bytes) -> list[CovrRecord]:
    """Lines of a file; if they are not its first, what is wrong is said of the wrong line."""
    decoder, found, faults = msgspec.json.Decoder(CovrRecord), list[CovrRecord](), list[Fault]()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found += [decoder.decode(line)] if line.strip() else []
        except UNREADABLE as error:
            faults.append(Fault(f"{path}, line {number}", f"expected {WANTED}; {error}"))
    refuse(faults[:FAULTS])
    return found


def read_sides(path: Path) -> dict[str, list[CovrRecord]]:
    """{"train": [questions], "val": [questions]}; every program must hang together."""
    shape: Any = dict[str, list[CovrRecord]]
    found: dict[str, list[CovrRecord]] = read_json(path, shape, '{"train": [questions], "val": [questions]}')
    if set(found) != set(SIDES):
        raise BadInput.at(path, f"expected the keys {' and '.join(SIDES)}, got {', '.join(found) or 'none'}")
    return {side: hanging_together(f"{path}, {side}", found[side]) for side in SIDES}


def hanging_together(place: str, records: list[CovrRecord]) -> list[CovrRecord]:
    """The records; refuses them if a program has loose ends."""
    faults = (Fault(f"{place}, question {one.id}", end) for one in records for end in loose_ends(one.program))
    refuse(list(islice(faults, FAULTS)))
    return records


def loose_ends(program: list[Any]) -> Iterator[str]:
    """Rows without an operation, and rows that depend on a row that does not stand before them."""
    for at, row in enumerate(program):
        if not isinstance(row, dict) or not isinstance(row.get("operation"), str):
            yield f"row {at}: expected {{operation, arguments, dependencies}}, got {row!r:.60}"
            continue
        for on in _list(row, "dependencies"):
            if not isinstance(on, int) or not 0 <= on < at:
                yield f"row {at}, {row['operation']}: expected dependencies on the rows before it, got {on!r}"
        for argument in _list(row, "arguments"):
            if is_program(argument):
                yield from (f"row {at}, {row['operation']}: in its sub-program, {end}" for end in loose_ends(argument))


def _list(row: dict[str, Any], name: str) -> list[Any]:
    given = row.get(name)
    return given if isinstance(given, list) else [] if given is None else [given]


def is_program(argument: Any) -> bool:
    """Is an argument the sub-program of a quantifier?"""
    return isinstance(argument, list) and any(isinstance(row, dict) for row in argument)


def read_covr_questions(path: Path) -> pl.DataFrame:
    """A JSON list or JSON lines of COVR questions, without their templates."""
    return asked_in(read_records(path)).drop("template")


def asked_in(rows: Sequence[CovrRecord]) -> pl.DataFrame:
    """Columns of QUESTIONS, templates as records name them; a question's first image stands for the place it was
    asked."""
    columns = {
        "id": [row.id for row in rows],
        "answer": [answer_text(row.answer) for row in rows],
        "image": [row.scenes[0] if row.scenes else row.id for row in rows],
        "template": [row.pattern_name for row in rows],
        "options": [options(row.program) for row in rows],
        "question": [row.utterance or row.question for row in rows],
    }
    return pl.DataFrame(columns, schema=dict(QUESTIONS.columns))


def options(program: list[dict[str, Any]]) -> list[str] | None:
    """What the last row chooses between, if it does."""
    last = program[-1] if program else {}
    return [str(option) for option in _list(last, "arguments")[-2:]] if last.get("operation") in CHOOSING else None


def answer_text(answer: Any) -> str:
    """Truth values are answered yes and no."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    return "" if answer is None else str(answer)


def read_plan(path: Path) -> dict[str, SplitPredictions]:
    """{split: {text, model, iid-size, iid, questions?, filtered?}}; files are named relative to the plan."""
    shape: Any = dict[str, SplitPredictions]
    plan: dict[str, SplitPredictions] = read_json(path, shape, f"{{split: {{{', '.join(ROLES)}: file}}}}")
    faults = [
        Fault(f"{path}, split {name}", f"{role}: no such file {split.file(role)}")
        for name, split in plan.items()
        for role in ROLES
        if not (path.parent / split.file(role)).is_file()
    ]
    refuse(faults if plan else [Fault(str(path), "the plan names no split")])
    return plan


def read_curve_plan(path: Path) -> dict[str, CurvePredictions]:
    """{split: {models: {examples: file}, questions?}}; files are named relative to the plan."""
    shape: Any = dict[str, CurvePredictions]
    plan: dict[str, CurvePredictions] = read_json(path, shape, "{split: {models: {number of examples: file}}}")
    faults = [] if plan else [Fault(str(path), "the plan names no split")]
    for name, split in plan.items():
        place = f"{path}, split {name}"
        faults += [] if split.models else [Fault(place, "expected models {number of examples: file}, got none")]
        for count, file in split.models.items():
            if count != EVERY and not count.isdecimal():
                faults.append(Fault(place, f"expected a number of examples or {EVERY}, got {count!r}"))
            if not (path.parent / file).is_file():
                faults.append(Fault(place, f"{count} examples: no such file {file}"))
    refuse(faults)
    return plan


SHAPE = '{"gqa": {scene: {objects}}, "imsitu": {scene: {objects}}, "attribute_groups": {attribute: group}}'


class _File(Struct):
    gqa: Raw = Raw(b"")
    imsitu: Raw = Raw(b"")
    attribute_groups: dict[str, str] = {}


@dataclass(frozen=True)
class CovrScenes:
    images: Images  # GQA's first, in the order of the file; no splits
    attribute_groups: dict[str, str]  # attribute -> group: red -> color


def read_scenes(path: Path) -> CovrScenes:
    """A JSON file, gzipped or not; one of gqa and imsitu may be left out, and the groups."""
    file: _File = read_json(path, _File, SHAPE)
    parts = {"gqa": bytes(file.gqa), "imsitu": bytes(file.imsitu)}
    if not any(parts.values()):
        raise BadInput.at(path, f"expected {SHAPE}; got neither gqa nor imsitu")
    reading = SceneFiles(tidy=False)  # programs name things as the file does
    for name, data in parts.items():
        if not data:
            continue
        if data.lstrip()[:1] == b"{":
            reading.file(data, f"{path}, {name}", "")
        else:
            got = data[:20].decode(errors="replace")
            reading.faults.append(Fault(f"{path}, {name}", f"expected scenes by id, got {got}"))
    return CovrScenes(reading.done(), file.attribute_groups)
