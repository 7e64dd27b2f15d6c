"""Reads what FPVG needs in GQA's formats: questions, scene graphs, detections; and ids or scores beside them."""

from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.progress import watch
from questree.tables.scored import GROUNDED, Boxes, Detected, Grounded
from questree.tables.store import read_json

Annotations = Literal["path", "final"]
FIELDS = {"path": ("answer", "fullAnswer", "question"), "final": ("answer",)}  # of `annotations`
FAULTS = 20


class AnnotatedThing(msgspec.Struct, gc=False):
    x: float
    y: float
    w: float
    h: float


class AnnotatedScene(msgspec.Struct, gc=False):
    objects: dict[str, AnnotatedThing] = {}


class GqaQuestion(msgspec.Struct, gc=False):
    imageId: str
    answer: str
    annotations: dict[str, dict[str, str] | list[Any]] = {}
    types: dict[str, str | None] = {}


class Detection(msgspec.Struct, gc=False):
    bboxes: list[list[float]]
    objectsNum: int


def read_grounded(questions: Path, scene_graphs: Path, detections: Path, annotations: Annotations) -> Grounded:
    """Annotated objects that the scene graph does not have are a fault; a question without any is kept and counted."""
    asked: dict[str, GqaQuestion] = read_json(
        questions, dict[str, GqaQuestion], "{question id: {imageId, answer, annotations}}"
    )
    scenes: dict[str, AnnotatedScene] = read_json(
        scene_graphs, dict[str, AnnotatedScene], "{image id: {objects: {id: {x, y, w, h}}}}"
    )
    found: dict[str, Detection] = read_json(detections, dict[str, Detection], "{image id: {bboxes, objectsNum}}")
    faults, annotated = list[Fault](), list[Boxes]()
    for id, question in watch(asked.items(), "annotations", len(asked)):
        things = scenes.get(question.imageId, AnnotatedScene()).objects
        names = _annotated(question, FIELDS[annotations])
        faults += [
            Fault(f"{questions}, question {id}", f"object {name}: the scene graph of image {question.imageId} lacks it")
            for name in names
            if name not in things
        ]
        annotated.append(_boxes([things[name] for name in names if name in things]))
    refuse(faults[:FAULTS])
    columns = {
        "id": list(asked),
        "image": [question.imageId for question in asked.values()],
        "answer": [question.answer for question in asked.values()],
        "structural": [question.types.get("structural") or "" for question in asked.values()],
    }
    boxes = {image: _detected(detections, image, detection) for image, detection in found.items()}
    return Grounded(pl.DataFrame(columns, schema=dict(GROUNDED.columns)), annotated, boxes)


def _annotated(question: GqaQuestion, fields: tuple[str, ...]) -> list[str]:
    """Ids of objects, each once, in order."""
    parts = [part for name in fields if isinstance(part := question.annotations.get(name, {}), dict)]
    return list(dict.fromkeys(id for part in parts for id in part.values()))


def _boxes(things: list[AnnotatedThing]) -> Boxes:
    return np.array([(t.x, t.y, t.x + t.w, t.y + t.h) for t in things], np.float64).reshape(-1, 4)


def _detected(path: Path, image: str, detection: Detection) -> Detected:
    if any(len(box) != 4 for box in detection.bboxes):
        raise BadInput.at(f"{path}, image {image}", "expected boxes of four numbers x1, y1, x2, y2")
    return Detected(np.array(detection.bboxes, np.float64).reshape(-1, 4), detection.objectsNum)


def read_ids(path: Path) -> list[str]:
    """A JSON list of question ids."""
    ids: list[str] = read_json(path, list[str], "a list of question ids")
    return ids


def read_importance(path: Path) -> dict[str, list[float]]:
    """{question id: a number per detection, larger is more important}."""
    scores: dict[str, list[float]] = read_json(path, dict[str, list[float]], "{question id: [a number per detection]}")
    return scores
