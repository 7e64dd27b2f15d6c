"""GQA's questions, scene graphs and detections of a made-up detector, with answers of a made-up model: FPVG's files."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

PER_IMAGE, THINGS, ROWS = 13, 17, 100  # questions, annotated objects and rows of detections of an image, as GQA's
ANSWERS = ["yes", "no", *(f"thing {n}" for n in range(30))]
TYPES = ("verify", "query", "choose", "logical", "compare")
CONDITIONS = ("all", "rel", "irrel")


def write_grounded(folder: Path, questions: int, seed: int = 0) -> dict[str, Path]:
    """The files of `questree score fpvg` by the names of its options."""
    draw = np.random.default_rng(seed)
    images = -(-questions // PER_IMAGE)
    corner, size = draw.integers(0, 400, (images, THINGS, 2)), draw.integers(15, 200, (images, THINGS, 2))
    near = np.concatenate([corner, corner + size], axis=2)[:, np.arange(ROWS) % THINGS]  # [image, row, side]
    found = np.round(near + draw.normal(0, 15, near.shape), 2)
    live = draw.integers(ROWS - 18, ROWS + 1, images)
    found[np.arange(ROWS) >= live[:, None]] = 0
    files: dict[str, Any] = {
        "scene_graphs": {f"{image}": _scene(image, corner[image], size[image]) for image in range(images)},
        "detections": {
            f"{image}": {"bboxes": boxes.tolist(), "objectsNum": int(count)}
            for image, (boxes, count) in enumerate(zip(found, live, strict=True))
        },
        "questions": {},
        **{name: [] for name in CONDITIONS},
    }
    about, type, truth = (
        draw.integers(0, THINGS, (questions, 3)),
        draw.integers(0, 5, questions),
        _said(draw, questions),
    )
    chances = {"all": 0.6, "rel": 0.55, "irrel": 0.3}
    said = {name: np.where(draw.random(questions) < p, truth, _said(draw, questions)) for name, p in chances.items()}
    for number in range(questions):
        image, id = number // PER_IMAGE, f"{number:08}"
        files["questions"][id] = _question(id, image, about[number].tolist(), TYPES[type[number]], truth[number])
        for name in CONDITIONS:
            files[name].append({"questionId": id, "prediction": said[name][number]})
    paths = {name: folder / f"{name}.json" for name in files}
    for name, path in paths.items():
        path.write_bytes(msgspec.json.encode(files[name]))
    return paths


def _said(draw: np.random.Generator, count: int) -> Any:
    return np.array(ANSWERS, object)[draw.integers(0, len(ANSWERS), count)]


def _scene(image: int, corner: Any, size: Any) -> dict[str, Any]:
    objects = {
        f"{image}{at:03}": {
            "name": f"thing {at}",
            **{side: int(value) for side, value in zip("xywh", (*corner[at], *size[at]), strict=True)},
            "attributes": ["black"],
            "relations": [{"object": f"{image}{other:03}", "name": "to the left of"} for other in range(at % 5)],
        }
        for at in range(THINGS)
    }
    return {"width": 640, "height": 640, "location": "outdoors", "objects": objects}


def _question(id: str, image: int, about: list[int], type: str, answer: str) -> dict[str, Any]:
    names = [f"{image}{at:03}" for at in about]
    steps = [
        {"operation": "relate", "dependencies": [at], "argument": f"thing {thing},to the left of,s ({name})"}
        for at, (thing, name) in enumerate(zip(about, names, strict=True))
    ]
    return {
        "semantic": steps,
        "entailed": [id],
        "equivalent": [id],
        "question": f"What is the thing {about[0]} to the left of the thing {about[1]} holding?",
        "imageId": f"{image}",
        "isBalanced": True,
        "groups": {"global": "thing", "local": "14-thing_holding,o"},
        "answer": answer,
        "semanticStr": "->".join(f"{step['operation']}: {step['argument']} [{at}]" for at, step in enumerate(steps)),
        "annotations": {
            "answer": {"0:2": names[0]},
            "question": {"9": names[1], "3": names[2]},
            "fullAnswer": {"1": names[2], "5": names[0]},
        },
        "types": {"detailed": "relO", "semantic": "rel", "structural": type},
        "fullAnswer": f"The thing {about[1]} is holding the thing {about[0]}.",
    }
