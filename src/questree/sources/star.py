"""STAR questions -> facts: the situations of all questions about a video are put together frame by frame."""

from dataclasses import replace
from functools import cache
from importlib import resources
from pathlib import Path

import msgspec
import polars as pl

from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.progress import watch
from questree.sources.assemble import OTHER_SUBJECT, SourceReading, SourceRows, Taking, unknown
from questree.sources.charades import rates_of, read_rates
from questree.tables.store import content
from questree.vocabulary.words import Vocabulary

SPLITS = {"train": "train", "val": "test", "test": "test"}  # in a file's name; STAR's validation part is held out
NAMES = "STAR_train.json, STAR_val.json or STAR_test.json"


class StarSituation(msgspec.Struct):
    """One frame: pairs of (person, object) with a relation each, boxes as corners with a class each."""

    rel_pairs: list[tuple[str, str]] = []
    rel_labels: list[str] = []
    actions: list[str] = []
    bbox: list[tuple[float, float, float, float]] = []
    bbox_labels: list[str] = []


class StarQuestion(msgspec.Struct):
    video_id: str
    question_id: str = ""
    situations: dict[str, StarSituation] | None = None


class StarNumbering(msgspec.Struct):
    objects: list[str]
    relations: list[str]
    actions: list[str]
    without_counterpart: list[str]

    def name(self, kind: str, label: str) -> str | None:
        """`o003` -> closet."""
        words: list[str] = getattr(self, f"{kind}s")
        number = int(label[1:]) if label[1:].isdecimal() and label[:1] == kind[0] else len(words)
        return words[number] if number < len(words) else None


@cache
def numbering() -> StarNumbering:
    text = resources.files("questree.sources").joinpath("star.toml").read_bytes()
    return msgspec.toml.decode(text, type=StarNumbering)


def read_star(source: Path, vocabulary: Vocabulary, fps: float | None = None) -> SourceReading:
    gathered = StarFrames(vocabulary)
    for path in _files(source):
        split = next((value for word, value in SPLITS.items() if word in path.stem.lower()), "")
        questions = _questions(path, gathered.faults)
        for place, question in watch(questions, f"taking in {path.name}", len(questions)):
            gathered.take(question, split, place)
    folder = source if source.is_dir() else source.parent
    rates = read_rates(folder, gathered.faults)
    refuse(gathered.faults)
    gathered.fill(rates_of(list(gathered.split), rates, fps, folder))
    return gathered.reading(str(source))


def _files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise BadInput.at(source, f"no such folder; expected one with {NAMES}")
    found = sorted(source.glob("STAR_*.json"), key=lambda path: ("train" not in path.name, path.name))
    if not found:
        raise BadInput.at(source, f"no STAR questions here; expected {NAMES}")
    return found


def _questions(path: Path, faults: list[Fault]) -> list[tuple[str, StarQuestion]]:
    """(where, question) of a file: a list of questions, or one."""
    data = content(path)
    try:
        many = data.lstrip()[:1] == b"["
        parts = (
            msgspec.json.decode(data, type=list[msgspec.Raw]) if many else [msgspec.json.decode(data, type=msgspec.Raw)]
        )
    except RecursionError:
        raise BadInput.at(path, "nested too deeply to be read") from None
    except UNREADABLE as error:
        raise BadInput.at(path, f"not JSON ({error if data.strip() else 'the file is empty'})") from error
    found = []
    for at, part in enumerate(parts):
        try:
            question = msgspec.json.decode(part, type=StarQuestion)
            found.append((f"{path}, question {question.question_id or at}", question))
        except UNREADABLE as error:
            faults.append(Fault(f"{path}, question {at} (counted from 0)", str(error)))
    return found


class StarFrames(Taking):
    """Frames of all questions; a frame is known by (video, number), a video by its id."""

    def __init__(self, vocabulary: Vocabulary):
        super().__init__(vocabulary)
        self.split: dict[str, str] = {}  # video id -> split
        self.frame_at: dict[tuple[str, int], int] = {}  # -> row in frames
        self.objects: dict[tuple[int, int], tuple[float, ...]] = {}  # frame, object -> box
        self.persons: dict[int, tuple[float, ...]] = {}  # frame -> box
        self.relations: set[tuple[int, int, int]] = set()  # frame, relation, object
        self.doing: set[tuple[int, int]] = set()  # frame, action
        self.person = vocabulary.object_at[vocabulary.person]

    def take(self, question: StarQuestion, split: str, place: str) -> None:
        if not question.situations:
            self.skipped["question without situations"] += 1
            return
        if self.split.setdefault(question.video_id, split) != split:
            self.skipped["question about a video of another split, taken for the first"] += 1
        for number, situation in question.situations.items():
            where = f"{place}, frame {number}"
            uneven = len(situation.rel_pairs) != len(situation.rel_labels)
            if not number.isdecimal() or len(number) > 9:
                self.say(where, "a frame is named by its number, like 000445")
            elif uneven or len(situation.bbox) != len(situation.bbox_labels):
                self.say(where, "relations and boxes need one label each")
            else:
                frame = self.frame_at.setdefault((question.video_id, int(number)), len(self.frame_at))
                self.situation(frame, situation, where)

    def situation(self, frame: int, situation: StarSituation, where: str) -> None:
        for box, label in zip(situation.bbox, situation.bbox_labels, strict=True):
            thing = self.numbered("object", label, where)
            if thing == self.person:
                self.persons.setdefault(frame, box)
            elif thing is not None:
                self.objects.setdefault((frame, thing), box)
        for (subject, other), label in zip(situation.rel_pairs, situation.rel_labels, strict=True):
            who, thing = (self.numbered("object", each, where) for each in (subject, other))
            relation = self.numbered("relation", label, where)
            if who not in (None, self.person):
                self.skipped[OTHER_SUBJECT] += 1
            elif thing is not None and relation is not None:
                self.relations.add((frame, relation, thing))
        found = (self.numbered("action", label, where) for label in situation.actions)
        self.doing.update((frame, action) for action in found if action is not None)

    def numbered(self, kind: str, label: str, where: str) -> int | None:
        """The position of the word that STAR's number stands for."""
        name = numbering().name(kind, label)
        if name is None:
            self.say(where, f"{label!r} is not the number of one of STAR's {kind}s")
        elif name in numbering().without_counterpart and name not in self.words[kind]:
            self.skipped[f"relation {name!r}, which Action Genome does not have, left out"] += 1
        elif name not in self.words[kind]:
            self.say(where, f"{label}: {unknown(kind, name, self.vocabulary)}")
        return self.words[kind].get(name or "")

    def fill(self, rates: list[float]) -> None:
        """The tables, given the frame rate of every video."""
        video_at = {video: at for at, video in enumerate(self.split)}
        frames = [(video_at[video], number, number / rates[video_at[video]]) for video, number in self.frame_at]
        self.tables |= {
            "videos": [(video, split, None, None, None) for video, split in self.split.items()],
            "frames": frames,
            "objects": [(*key, *box, True) for key, box in self.objects.items()],
            "persons": [(frame, *box, None) for frame, box in self.persons.items()],
            "relations": list(self.relations),
        }

    def rows(self) -> SourceRows:
        rows, schema = super().rows(), {"frame": pl.Int64, "action": pl.Int64}
        doing = pl.DataFrame(sorted(self.doing), schema=schema, orient="row")
        return replace(rows, actions=instances(doing, rows.frames))


def instances(doing: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """STAR says per frame what is being done: an instance is a run of frames, until the last one has been shown."""
    placed = frames.with_columns(frame=pl.int_range(pl.len())).sort("video", "number")
    placed = placed.with_columns(place=pl.int_range(pl.len()).over("video"))
    table = doing.join(placed, on="frame").sort("video", "action", "place")
    run = pl.col("place") - pl.int_range(pl.len()).over("video", "action")  # the same within a run
    spans = table.group_by("video", "action", run.alias("run"), maintain_order=True)
    one = pl.when(pl.col("number") > 0).then(pl.col("seconds") / pl.col("number")).otherwise(0)
    return spans.agg(start=pl.col("seconds").first(), end=(pl.col("seconds") + one).last()).drop("run")
