"""Videos as lines of Charades tables and entries of Action Genome pickles."""

import csv
import io
import re
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from questree.synth.habits import GROUPS, habits
from questree.synth.pickles import (
    FALSE,
    NONE,
    TRUE,
    Memo,
    integer,
    items,
    listing,
    mapping,
    number_tuples,
    several,
    text,
)
from questree.synth.video import Video
from questree.vocabulary import Object, Relation

COLUMNS = ["id", "subject", "scene", "quality", "relevance", "verified", "script", "objects", "descriptions"]
COLUMNS += ["actions", "length"]
LISTS = {
    "attention_relationship": "attention",
    "spatial_relationship": "spatial",
    "contacting_relationship": "contact",
}
KEYS = ["class", "bbox", *LISTS, "visible", "metadata", "tag", "set"]
KEYS += ["bbox_score", "bbox_size", "bbox_mode", "keypoints"]
SPLITS = ("train", "test")


def object_label(word: Object) -> str:
    """As the annotations spell it: closet/cabinet."""
    return next((label for label in word.labels if "/" in label), word.name)


def relation_label(word: Relation) -> str:
    """As the annotations spell it: in_front_of."""
    return next((label for label in word.labels if "_" in label), word.name.replace(" ", "_"))


def class_files() -> dict[str, str]:
    """The two lists of names, without anything between the words."""
    words = habits().words
    things = [object_label(word) for word in words.objects if not word.part_only]
    relations = [relation_label(word) for word in words.relations if word.group in GROUPS]
    return {
        f"{name}_classes.txt": "\n".join(re.sub("[^a-z]", "", label) for label in labels) + "\n"
        for name, labels in (("object", things), ("relationship", relations))
    }


@cache
def memo() -> Memo:
    words = habits().words
    labels = [object_label(word) for word in words.objects] + [relation_label(word) for word in words.relations]
    return Memo([*KEYS, *SPLITS, "xyxy", *labels])


def csv_line(video: Video) -> str:
    known = habits().words
    told = [known.actions[span.action] for span in video.spans]
    story = ", then they ".join(action.present for action in told) or "wait"
    row = {
        "id": video.id,
        "subject": video.subject,
        "scene": video.scene,
        "quality": 1 + len(video.spans) % 7,
        "relevance": 1 + len(video.objects) % 7,
        "verified": "Yes",
        "script": f"A person is in the {video.scene.lower()}. They {story}.",
        "objects": ";".join(object_label(known.objects[o]) for o in video.objects),
        "descriptions": f"The person {', and '.join(a.past for a in told) or 'waited'}.",
        "actions": ";".join(f"{a.id} {s.start:.2f} {s.end:.2f}" for a, s in zip(told, video.spans, strict=True)),
        "length": f"{video.length:.2f}",
    }
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerow([row[name] for name in COLUMNS])
    return out.getvalue()


@cache
def _relation_lists(mask: int) -> bytes:
    """The three lists of an entry, by the relations that hold."""
    known = habits()
    parts = []
    for key, group in LISTS.items():
        there = [known.words.relations[int(at)] for at in known.words.group(group) if mask >> int(at) & 1]
        parts += [memo()[key], listing(memo()[relation_label(word)] for word in there) if there else NONE]
    return b"".join(parts)


def frame_names(video: Video) -> list[str]:
    return [f"{video.id}.mp4/{index:06d}.png" for index in video.numbers.tolist()]


def object_entries(video: Video) -> bytes:
    """All frames of the video, to be added to the dictionary of object_bbox_and_relationship.pkl."""
    if not len(video.numbers):
        return b""
    columns = [_column(video, column) for column in range(len(video.objects))]
    frames = [(text(name), listing(column[f] for column in columns)) for f, name in enumerate(frame_names(video))]
    return items(part for frame in frames for part in frame)


def _column(video: Video, column: int) -> list[bytes]:
    """[frame] the entry of one object; nothing where it is not annotated"""
    label = object_label(habits().words.objects[video.objects[column]])
    head = b"}(" + memo()["class"] + memo()[label] + memo()["bbox"]
    middle = [memo()["visible"] + flag + memo()["metadata"] + b"}(" + memo()["tag"] for flag in (FALSE, TRUE)]
    tail = memo()["set"] + memo()[video.split] + b"uu"
    rows = zip(
        video.numbers.tolist(),
        video.annotated[:, column].tolist(),
        video.visible[:, column].tolist(),
        _wide(video.boxes[:, column]),
        video.relations[:, column].tolist(),
        strict=True,
    )
    return [
        b"".join((head, box if seen else NONE, _relation_lists(mask), middle[seen], _tag(video, label, index), tail))
        if there
        else b""
        for index, there, seen, box, mask in rows
    ]


def _tag(video: Video, label: str, index: int) -> bytes:
    return text(f"{video.id}.mp4/{label}/{index:06d}")


def _wide(boxes: NDArray[Any]) -> list[bytes]:
    """[frame] x, y, width, height as the objects' boxes are written: tuples of four numbers"""
    wide = np.concatenate([boxes[..., :2], boxes[..., 2:] - boxes[..., :2]], -1).round(2)
    return [row.tobytes() for row in number_tuples(wide)]


def person_entries(video: Video) -> bytes:
    if not len(video.numbers):
        return b""
    size = several(map(integer, video.size))
    tail = memo()["bbox_size"] + size + memo()["bbox_mode"] + memo()["xyxy"] + memo()["keypoints"] + NONE
    boxes = video.person.astype("<f4")
    score = np.array([0.98], "<f4").tobytes()
    parts = []
    for name, box, found in zip(frame_names(video), boxes, video.detected.tolist(), strict=True):
        count = int(found)
        person = memo().array((count, 4), box.tobytes() if found else b"")
        scores = memo().array((count,), score if found else b"")
        parts += [text(name), mapping([memo()["bbox"], person, memo()["bbox_score"], scores, tail])]
    return items(parts)
