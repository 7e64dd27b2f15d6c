"""Charades CSV files: which videos there are, their split and length, and their actions with start and end; as facts,
too, where there is nothing else."""

import csv
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from questree.faults import BadInput, Fault
from questree.progress import watch
from questree.sources.assemble import SourceReading, Taking
from questree.sources.clock import clock_frames
from questree.vocabulary.words import Vocabulary

FILES = {"train": "Charades_v1_train.csv", "test": "Charades_v1_test.csv"}
CLASSES = "Charades_v1_classes.txt"
RATES = "frame_rates.csv"
COLUMNS = ("id", "actions", "length")  # of the eleven, those we read


class Charades:
    """What both files say, or the one that is there."""

    def __init__(self, folder: Path, vocabulary: Vocabulary, faults: list[Fault]):
        self.vocabulary, self.faults = vocabulary, faults
        self.split = dict[str, str]()  # video id -> split
        self.length = dict[str, float]()  # video id -> seconds
        self.actions = list[tuple[str, int, float, float]]()  # video id, action, start, end
        self.skipped = Counter[str]()
        present = {split: folder / name for split, name in FILES.items() if (folder / name).is_file()}
        if not present:
            faults.append(Fault(str(folder), f"no Charades annotations here; expected {' and '.join(FILES.values())}"))
        self._check_classes(folder / CLASSES)
        for split, path in present.items():
            for row in _rows(path, COLUMNS, faults):
                self._video(row, split, f"{path}, video {row['id']}")

    def _check_classes(self, path: Path) -> None:
        """The file of classes, where it is there, names those of the vocabulary: `c000 Holding some clothes`."""
        try:
            lines = path.read_text("utf-8").splitlines() if path.is_file() else []
        except (OSError, UnicodeDecodeError) as error:
            self.faults.append(Fault(str(path), f"not text in UTF-8 ({error})"))
            return
        for number, line in enumerate(lines, 1):
            name = line.split(" ", 1)[0]
            if name and name not in self.vocabulary.action_at:
                wrong = f"action {name!r} is not in the vocabulary {self.vocabulary.name!r}"
                self.faults.append(Fault(f"{path}, line {number}", wrong))

    def _video(self, row: dict[str, str], split: str, place: str) -> None:
        video, length = row["id"], _number(row["length"])
        if video in self.split:
            self.faults.append(Fault(place, f"listed twice, also in {FILES[self.split[video]]}"))
        elif length is None or length < 0:
            self.faults.append(Fault(place, f"length must be seconds, is {row['length']!r}"))
        else:
            self.split[video], self.length[video] = split, length
            for text in filter(None, map(str.strip, row["actions"].split(";"))):
                self._action(video, text, place)

    def _action(self, video: str, text: str, place: str) -> None:
        parts = text.split()
        start, end = (_number(part) for part in parts[1:]) if len(parts) == 3 else (None, None)
        if start is None or end is None:
            self.faults.append(Fault(place, f"an action is written `class start end`, is {text!r}"))
        elif parts[0] not in self.vocabulary.action_at:
            wanted = f"action {parts[0]!r} is not in the vocabulary {self.vocabulary.name!r}"
            self.faults.append(Fault(place, wanted))
        elif end < start:
            self.skipped["action that ends before it starts, left out"] += 1
        else:
            self.skipped["action that ends after its video, kept"] += end > self.length[video]
            self.actions.append((video, self.vocabulary.action_at[parts[0]], start, end))


def read_charades(folder: Path, vocabulary: Vocabulary, fps: float | None = None) -> SourceReading:
    """Actions alone, on frames made from the clock; a video without actions is left out."""
    taken = Taking(vocabulary)
    known, rates = Charades(folder, vocabulary, taken.faults), read_rates(folder, taken.faults)
    check_fps(fps)
    taken.skipped.update(known.skipped)
    spans = {video: list[tuple[int, float, float]]() for video in known.split}
    for video, action, start, end in known.actions:
        if start > known.length[video]:
            taken.skipped["action that starts after its video, left out"] += 1
        else:
            spans[video].append((action, start, end))
    for video, own in watch(spans.items(), "taking in Charades", len(spans)):
        if not own:
            taken.skipped["video without actions, left out"] += 1
            continue
        at = taken.add("videos", video, known.split[video], known.length[video], None, None)
        moments = clock_frames([span[1:] for span in own], known.length[video], rates.get(video, fps))
        for frame in moments:
            taken.add("frames", at, *frame)
        for span in own:
            taken.add("actions", at, *span)
    return taken.reading(str(folder))


def read_rates(folder: Path, faults: list[Fault]) -> dict[str, float]:
    """Frames per second of each video, from a table with the columns video and fps; empty without one."""
    path, rates = folder / RATES, dict[str, float]()
    if not path.is_file():
        return rates
    for row in _rows(path, ("video", "fps"), faults):
        rate = _number(row["fps"])
        if rate is None or rate <= 0:
            faults.append(Fault(f"{path}, video {row['video']}", f"fps must be a positive number, is {row['fps']!r}"))
        else:
            rates[row["video"].removesuffix(".mp4")] = rate
    return rates


def check_fps(fps: float | None) -> None:
    if fps is not None and not (fps > 0 and math.isfinite(fps)):
        raise BadInput.at("--fps", f"must be a positive number, is {fps}")


def rates_of(videos: list[str], rates: dict[str, float], fps: float | None, folder: Path) -> list[float]:
    """Frames per second of these videos: from the table, or the one that was given for all others."""
    refuse_unrated([each for each in videos if each not in rates], fps, folder)
    return [rates.get(each, fps or 0.0) for each in videos]


def refuse_unrated(without: list[str], fps: float | None, folder: Path) -> None:
    """Videos that no table gives a frame rate need one for all of them."""
    check_fps(fps)
    if without and fps is None:
        many = f"{len(without):,} video{'s' if len(without) > 1 else ''} (first: {without[0]})"
        remedy = f"add {RATES} with the columns video,fps or give --fps; 24 to 30 frames per second are usual"
        raise BadInput.at(folder, f"the frame rate of {many} is not known: {remedy}")


def _rows(path: Path, columns: tuple[str, ...], faults: list[Fault]) -> Iterator[dict[str, str]]:
    """Rows of a CSV file that has these columns; a missing cell is empty."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            yield from _cells(file, path, columns, faults)
    except OSError as error:
        faults.append(Fault(str(path), f"cannot be read ({error.strerror})"))
    except (UnicodeDecodeError, csv.Error) as error:
        faults.append(Fault(str(path), f"not a CSV file in UTF-8 ({error})"))


def _cells(file: TextIO, path: Path, columns: tuple[str, ...], faults: list[Fault]) -> Iterator[dict[str, str]]:
    table = csv.DictReader(file)
    missing = [name for name in columns if name not in (table.fieldnames or ())]
    if missing:
        found = ", ".join(table.fieldnames or ()) or "nothing"
        faults.append(Fault(str(path), f"columns missing: {', '.join(missing)}; the first line has {found}"))
        return
    for row in table:
        if row[columns[0]]:
            yield {name: row[name] or "" for name in columns}
        else:
            faults.append(Fault(f"{path}, line {table.line_num}", f"no {columns[0]}"))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
