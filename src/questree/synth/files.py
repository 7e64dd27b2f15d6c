"""Videos as lines of Charades tables and entries of Action Genome pickles, written piece by piece."""

import csv
import io
import re
import struct
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np

from questree.synth.habits import GROUPS, Array, habits
from questree.synth.video import SynthVideo
from questree.vocabulary import Object, Relation

START, END = b"\x80\x04", b"."
NONE, TRUE, FALSE = b"N", b"\x88", b"\x89"
_REMEMBER = b"\x940"  # into the memo, off the stack
_FLOAT4, _ORDER = "f4", "<"
_NUMPY = ("numpy.core.multiarray", "_reconstruct"), ("numpy", "ndarray"), ("numpy", "dtype")  # as in released files


def text(value: str) -> bytes:
    raw = value.encode()
    return b"\x8c" + bytes([len(raw)]) + raw if len(raw) < 256 else b"X" + struct.pack("<I", len(raw)) + raw


def integer(value: int) -> bytes:
    return b"K" + bytes([value]) if 0 <= value < 256 else b"J" + struct.pack("<i", value)


def several(parts: Iterable[bytes]) -> bytes:
    """A tuple."""
    return b"(" + b"".join(parts) + b"t"


def listing(parts: Iterable[bytes]) -> bytes:
    return b"](" + b"".join(parts) + b"e"


def items(parts: Iterable[bytes]) -> bytes:
    """Alternating keys and values, to be added to the dictionary before them."""
    return b"(" + b"".join(parts) + b"u"


class Memo:
    """Words, and what numpy arrays need, stored once at the head of the stream and referred to by two bytes."""

    def __init__(self, words: Sequence[str]):
        names = list(dict.fromkeys(words))
        if len(names) + len(_NUMPY) + 1 > 256:
            raise ValueError("a memo holds at most 252 words")
        globals_ = [text(module) + text(name) + b"\x93" for module, name in _NUMPY]
        self._at = {name: b"h" + bytes([place]) for place, name in enumerate(names)}
        reconstruct, ndarray, dtype = (b"h" + bytes([len(names) + k]) for k in range(3))
        state = several([integer(3), text(_ORDER), NONE, NONE, NONE, integer(-1), integer(-1), integer(0)])
        kind = dtype + text(_FLOAT4) + FALSE + TRUE + b"\x87R" + state + b"b"
        self._kind = b"h" + bytes([len(names) + 3])
        self._empty = reconstruct + ndarray + integer(0) + b"\x85" + b"C\x01b" + b"\x87R"
        self.head = START + b"".join(part + _REMEMBER for part in [*map(text, names), *globals_, kind])

    def __getitem__(self, word: str) -> bytes:
        return self._at[word]

    def array(self, shape: Sequence[int], data: bytes) -> bytes:
        """A numpy array of 32-bit floats in this order of bytes (little end first)."""
        size = b"C" + bytes([len(data)]) if len(data) < 256 else b"B" + struct.pack("<I", len(data))
        return self._empty + several([integer(1), several(map(integer, shape)), self._kind, FALSE, size + data]) + b"b"


COLUMNS = ["id", "subject", "scene", "quality", "relevance", "verified", "script", "objects", "descriptions"]
COLUMNS += ["actions", "length"]
LISTS = dict(zip(("attention_relationship", "spatial_relationship", "contacting_relationship"), GROUPS, strict=True))
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


def csv_line(video: SynthVideo) -> str:
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


def frame_names(video: SynthVideo) -> list[str]:
    return [f"{video.id}.mp4/{index:06d}.png" for index in video.numbers.tolist()]


def object_entries(video: SynthVideo) -> bytes:
    """All frames of the video, to be added to the dictionary of object_bbox_and_relationship.pkl."""
    if not len(video.numbers):
        return b""
    columns = [_column(video, column) for column in range(len(video.objects))]
    frames = [(text(name), listing(column[f] for column in columns)) for f, name in enumerate(frame_names(video))]
    return items(part for frame in frames for part in frame)


def _column(video: SynthVideo, column: int) -> list[bytes]:
    """[frame] the entry of one object; nothing where it is not annotated"""
    label = object_label(habits().words.objects[video.objects[column]])
    head = b"}(" + memo()["class"] + memo()[label] + memo()["bbox"]
    middle = [memo()["visible"] + flag + memo()["metadata"] + b"}(" + memo()["tag"] for flag in (FALSE, TRUE)]
    tail, tag = memo()["set"] + memo()[video.split] + b"uu", f"{video.id}.mp4/{label}/"
    rows = zip(
        video.numbers.tolist(),
        video.annotated[:, column].tolist(),
        video.visible[:, column].tolist(),
        _wide(video.boxes[:, column]),
        video.relations[:, column].tolist(),
        strict=True,
    )
    return [
        b"".join((head, box if seen else NONE, _relation_lists(mask), middle[seen], text(f"{tag}{index:06d}"), tail))
        if there
        else b""
        for index, there, seen, box, mask in rows
    ]


def _wide(boxes: Array) -> list[bytes]:
    """[frame] x, y, width, height as the objects' boxes are written: tuples of four numbers"""
    wide = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], 1).round(2)
    raw = wide.astype(">f8")[..., None].view(np.uint8)  # [frame, number, 8]
    coded = np.concatenate([np.full((*wide.shape, 1), ord("G"), np.uint8), raw], -1)
    return [b"(" + row.tobytes() + b"t" for row in coded]


def person_entries(video: SynthVideo) -> bytes:
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
        parts += [text(name), b"}" + items([memo()["bbox"], person, memo()["bbox_score"], scores, tail])]
    return items(parts)
