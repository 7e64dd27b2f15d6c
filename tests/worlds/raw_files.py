"""Writes small Action Genome and Charades files in their released form, for tests."""

import csv
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

HEAD = [
    "id",
    "subject",
    "scene",
    "quality",
    "relevance",
    "verified",
    "script",
    "objects",
    "descriptions",
    "actions",
    "length",
]


def mark(
    name: str, box: Sequence[float] | None = (10, 20, 30, 40), visible: bool = True, **lists: Any
) -> dict[str, Any]:
    """One object annotation; relations are given as attention=, spatial=, contacting=."""
    relations = {f"{group}_relationship": lists.get(group) for group in ("attention", "spatial", "contacting")}
    meta = {"tag": f"x.mp4/{name}/000001", "set": lists.get("set", "train")}
    return {"class": name, "bbox": box, **relations, "visible": visible, "metadata": meta}


def people(*boxes: Sequence[float], size: Any = (400, 300), scores: Sequence[float] | None = None) -> dict[str, Any]:
    """The persons of one frame, corners of each."""
    return {
        "bbox": np.array(boxes, np.float32).reshape(-1, 4),
        "bbox_score": np.array(scores if scores is not None else [0.9] * len(boxes), np.float32),
        "bbox_size": size,
        "bbox_mode": "xyxy",
        "keypoints": np.zeros((len(boxes), 17, 3), np.float32),
    }


def write_action_genome(
    folder: Path,
    objects: Mapping[str, Any],
    persons: Mapping[str, Any] | None = None,
    train: Mapping[str, tuple[str, float]] | None = None,
    test: Mapping[str, tuple[str, float]] | None = None,
) -> Path:
    """`train` and `test`: video -> (actions, length)."""
    folder.mkdir(parents=True, exist_ok=True)
    found = persons if persons is not None else {key: people((1, 2, 3, 4)) for key in objects}
    (folder / "object_bbox_and_relationship.pkl").write_bytes(pickle.dumps(dict(objects)))
    (folder / "person_bbox.pkl").write_bytes(pickle.dumps(dict(found)))
    for split, videos in {"train": train, "test": test}.items():
        if videos is not None:
            write_charades(folder / f"Charades_v1_{split}.csv", videos)
    return folder


def write_charades(path: Path, videos: Mapping[str, tuple[str, float]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, HEAD)
        table.writeheader()
        for video, (actions, length) in videos.items():
            row = {"id": video, "scene": "Kitchen", "script": 'A person, who says "hm".', "objects": "cup;door"}
            table.writerow(row | {"actions": actions, "length": length})
