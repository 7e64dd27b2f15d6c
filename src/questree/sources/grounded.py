"""Reads what FPVG needs in GQA's formats: questions, scene graphs, detections; and ids or scores beside them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from questree.faults import Fault, refuse
from questree.tables.scored import GROUNDED, Annotated
from questree.tables.store import json_records, read_json

Annotations = Literal["path", "final"]
PARTS = {"path": ("answer", "fullAnswer", "question"), "final": ("answer",)}
FAULTS = 20
Words = dict[str, str] | list[Any]  # place of a word -> the object it means; nothing annotated is also written as []


class AnnotatedThing(msgspec.Struct, gc=False):
    x: float
    y: float
    w: float
    h: float


class AnnotatedScene(msgspec.Struct, gc=False):
    objects: dict[str, AnnotatedThing] = {}


class AnnotatedWords(msgspec.Struct, frozen=True, gc=False):
    answer: Words = {}
    fullAnswer: Words = {}
    question: Words = {}


class QuestionTypes(msgspec.Struct, frozen=True, gc=False):
    structural: str | None = None


class GqaQuestion(msgspec.Struct, gc=False):
    imageId: str
    answer: str
    annotations: AnnotatedWords = AnnotatedWords()
    types: QuestionTypes = QuestionTypes()


def read_annotated(questions: Sequence[Path], scene_graphs: Path, annotations: Annotations) -> Annotated:
    """Annotated objects that the scene graph does not have are a fault; a question without any is kept and counted."""
    number, boxes = dict[str, dict[str, int]](), list[float]()  # image -> object -> its place among all
    for image, scene in json_records(scene_graphs, AnnotatedScene, "{image id: {objects: {id: {x, y, w, h}}}}"):
        first = len(boxes) // 4
        number[image] = dict(zip(scene.objects, range(first, first + len(scene.objects)), strict=True))
        for thing in scene.objects.values():
            boxes += (thing.x, thing.y, thing.x + thing.w, thing.y + thing.h)
    rows, about, start, nothing = dict[str, tuple[str, str, str]](), list[int](), [0], dict[str, int]()
    faults = list[Fault]()
    for path in questions:
        for id, question in json_records(path, GqaQuestion, "{question id: {imageId, answer, annotations}}"):
            image, words = question.imageId, [getattr(question.annotations, part) for part in PARTS[annotations]]
            names = {name for part in words if isinstance(part, dict) for name in part.values()}
            own = number.get(image, nothing)
            try:
                about += [own[name] for name in names]
            except KeyError:
                lacks = f"the scene graph of image {image} lacks it"
                faults += [
                    Fault(f"{path}, question {id}", f"object {name}: {lacks}") for name in sorted(names - own.keys())
                ]
            if id in rows:
                faults.append(Fault(f"{path}, question {id}", "expected every question once, got it in two files"))
            start.append(len(about))
            rows[id] = image, question.answer, question.types.structural or ""
    refuse(faults[:FAULTS])
    columns = (
        dict(zip(("image", "answer", "structural"), zip(*rows.values(), strict=True), strict=True)) if rows else {}
    )
    table = pl.DataFrame({"id": list(rows), **columns}, schema=dict(GROUNDED.columns))
    return Annotated(table, np.array(boxes, np.float64).reshape(-1, 4), np.array(about, np.int64), np.array(start))


class GqaText(msgspec.Struct, gc=False):
    question: str | None = None


def read_texts(questions: Sequence[Path]) -> pl.DataFrame:
    """id, question of files of GQA's questions."""
    rows = [row for path in questions for row in json_records(path, GqaText, "{question id: {question}}")]
    found = [(id, record.question) for id, record in rows]
    return pl.DataFrame(found, schema={"id": pl.String, "question": pl.String}, orient="row")


def read_ids(path: Path) -> list[str]:
    """Ids of questions: a JSON list of them, or a file of questions {id: record}."""
    ids: list[str] | dict[str, Any] = read_json(
        path, list[str] | dict[str, msgspec.Raw], "a list of question ids, or questions {id: record}"
    )
    return list(ids)


def read_importance(path: Path) -> dict[str, list[float]]:
    """{question id: a number per detection, larger is more important}."""
    scores: dict[str, list[float]] = read_json(path, dict[str, list[float]], "{question id: [a number per detection]}")
    return scores
