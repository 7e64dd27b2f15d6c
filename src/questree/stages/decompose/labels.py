"""What people say is not in a video: files of labels, read and checked against the videos and the vocabulary."""

import csv
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

import msgspec
import polars as pl

from questree.faults import BadInput, Fault, refuse
from questree.tables.nodes import ABSENT
from questree.vocabulary.words import Vocabulary

COLUMNS = ("video", "object")
SHAPES = 'expected a CSV file with the columns video,object, or a JSON file {"<video>": ["<object>", ..], ..}'


class Label(NamedTuple):
    place: str  # in the file
    video: str
    object: str


def read_labels(path: Path, videos: Iterable[str], vocabulary: Vocabulary) -> pl.DataFrame:
    """The labels of a file as rows of ABSENT, by video and object; all that is wrong is told at once."""
    rows = {name: at for at, name in enumerate(videos)}
    found: dict[tuple[int, int], None] = {}
    faults: list[Fault] = []
    for label in labels_of(path):
        wrong = fault(label, rows, vocabulary)
        pair = (rows.get(label.video, -1), vocabulary.object_at.get(label.object, -1))
        if not wrong and pair in found:
            wrong = f"{label.object!r} is labelled twice for video {label.video!r}"
        if wrong:
            faults.append(Fault(f"{path}, {label.place}", wrong))
        found[pair] = None
    refuse(faults)
    return pl.DataFrame(sorted(found), schema=dict(ABSENT.columns), orient="row")


def fault(label: Label, rows: dict[str, int], vocabulary: Vocabulary) -> str:
    """What is wrong with a label, "" if nothing is."""
    if label.video not in rows:
        return f"no video {label.video!r} here{like(label.video, rows)}"
    at = vocabulary.object_at.get(label.object)
    if at is None:
        names = [word.name for word in vocabulary.objects]
        return f"no object {label.object!r} in the vocabulary {vocabulary.name}{like(label.object, names)}"
    counted = vocabulary.objects[vocabulary.merged_object[at]].name
    if counted != vocabulary.objects[at].name:
        return f"{label.object!r} is counted as {counted!r}; label that"
    if counted in vocabulary.lists.always_there:
        never = ", ".join(vocabulary.lists.always_there)
        return f"{label.object!r} is in nearly every video, annotated or not; nobody is asked about {never}"
    return ""


def like(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name, list(names), 3)
    return f"; did you mean {', '.join(near)}?" if near else ""


def labels_of(path: Path) -> Iterator[Label]:
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise BadInput.at(path, f"cannot be read ({error.strerror}); {SHAPES}") from error
    except UnicodeDecodeError as error:
        raise BadInput.at(path, f"not UTF-8 ({error.reason}); {SHAPES}") from error
    return from_json(path, text) if path.suffix == ".json" else from_csv(path, text)


def from_json(path: Path, text: str) -> Iterator[Label]:
    try:
        found = msgspec.json.decode(text, type=dict[str, list[str]])
    except msgspec.MsgspecError as error:
        raise BadInput.at(path, f"{error}; {SHAPES}") from error
    for video, objects in found.items():
        yield from (Label(f"video {video}, label {number}", video, name) for number, name in enumerate(objects, 1))


def from_csv(path: Path, text: str) -> Iterator[Label]:
    table = csv.DictReader(text.splitlines())
    if not set(COLUMNS) <= set(table.fieldnames or ()):
        raise BadInput.at(path, f"its columns are {', '.join(table.fieldnames or ('none',))}; {SHAPES}")
    for row in table:
        yield Label(f"line {table.line_num}", *((row[name] or "").strip() for name in COLUMNS))
