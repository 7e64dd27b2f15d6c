"""Reads COVR's questions as far as scoring needs them, and the plan that names the models of every split."""

import gzip
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.tables.table import Table

QUESTIONS = Table("questions", {"id": pl.String, "answer": pl.String, "image": pl.String})
ROLES = ("text", "model", "iid-size", "iid")


class Question(msgspec.Struct, gc=False):
    qid: str
    answer: str | int | float | bool
    scenes: list[str] = []


class Split(msgspec.Struct, forbid_unknown_fields=True):
    """Files of predictions of the four models of one split; questions: the held-out ones, all without it."""

    text: str
    model: str
    iid_size: str = msgspec.field(name="iid-size")
    iid: str
    questions: list[str] | None = None
    filtered: int | None = None  # examples taken out of the training set

    def file(self, role: str) -> str:
        return str(getattr(self, role.replace("-", "_")))


def read_covr_questions(path: Path) -> pl.DataFrame:
    """A JSON list or JSON lines of COVR questions; a question's first image stands for the place it was asked."""
    content = _content(path)
    try:
        if content.lstrip()[:1] == b"[":
            rows = msgspec.json.decode(content, type=list[Question])
        else:
            rows = msgspec.json.Decoder(Question).decode_lines(content)
    except msgspec.DecodeError as error:
        raise BadInput.at(path, f"wanted a list of {{qid, answer, scenes}}; {error}") from error
    columns = {
        "id": [row.qid for row in rows],
        "answer": [answer_text(row.answer) for row in rows],
        "image": [row.scenes[0] if row.scenes else row.qid for row in rows],
    }
    return pl.DataFrame(columns, schema=dict(QUESTIONS.columns))


def answer_text(answer: Any) -> str:
    """Truth values are answered yes and no."""
    return ("yes" if answer else "no") if isinstance(answer, bool) else str(answer)


def read_plan(path: Path) -> dict[str, Split]:
    """{split: {text, model, iid-size, iid, questions?, filtered?}}; files are named relative to the plan."""
    try:
        plan = msgspec.json.decode(_content(path), type=dict[str, Split])
    except msgspec.DecodeError as error:
        raise BadInput.at(path, f"wanted {{split: {{{', '.join(ROLES)}: file}}}}; {error}") from error
    faults = [
        Fault(f"{path}, split {name}", f"{role}: no such file {split.file(role)}")
        for name, split in plan.items()
        for role in ROLES
        if not (path.parent / split.file(role)).is_file()
    ]
    refuse(faults if plan else [Fault(str(path), "the plan names no split")])
    return plan


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise BadInput.at(path, "no such file")
    content = path.read_bytes()
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
