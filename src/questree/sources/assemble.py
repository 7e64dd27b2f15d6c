"""Rows as a reader finds them, names and all -> facts: everything numbered, sorted, and tied to annotated frames."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput, Fault, refuse, with_nul
from questree.sources.repeated_ids import Met
from questree.tables.action_frames import inside
from questree.tables.facts import ACTIONS, BOX, FRAMES, OBJECTS, PERSONS, RELATIONS, VIDEOS, Facts, instances, pack
from questree.tables.table import WORD
from questree.vocabulary.words import Vocabulary

UNKNOWN = -1
NO_WORD = ("unknown object ", "unknown relation ", "unknown action ")
FOREIGN = 4  # from so many unknown names on they are told together, if most names are unknown
SHORT = 40  # so many valid choices are listed, more are only hinted at


def known(vocabulary: Vocabulary, kind: str) -> dict[str, int]:
    """Every spelling of an object, relation or action that a source may use; derived relations come by themselves."""
    if kind == "relation":
        words = vocabulary.relations
        return {name: at for name, at in vocabulary.relation_at.items() if words[at].group != "derived"}
    return vocabulary.object_at if kind == "object" else vocabulary.action_at


def positions(
    names: Sequence[str], kind: str, vocabulary: Vocabulary, faults: list[Fault], place: Callable[[int], str]
) -> NDArray[np.int64]:
    """Position of each name, UNKNOWN with one fault per unknown name; `place(row)` says where its first use is."""
    at = known(vocabulary, kind)
    found = np.fromiter(map(at.get, names, repeat(UNKNOWN)), np.int64, len(names))  # [name]
    rows = np.flatnonzero(found == UNKNOWN)
    uses = Counter(names[row] for row in rows.tolist())
    first = {names[row]: row for row in reversed(rows.tolist())}
    for name, count in uses.items():
        faults.append(Fault(place(first[name]), unknown(kind, name, vocabulary, count)))
    return found


def unknown(kind: str, name: str, vocabulary: Vocabulary, times: int = 1) -> str:
    """What to say about a name that is not in the vocabulary."""
    near = _nearest(str(name), tuple(known(vocabulary, kind)))
    names = _names(vocabulary, kind)
    valid = ", ".join(names) if len(names) <= SHORT else f"{len(names)} {kind}s, see the vocabulary {vocabulary.name!r}"
    listed = "" if near and len(names) <= SHORT else f" known: {valid}"  # who misspelt a word needs no list of all
    often = f" ({times:,} times)" if times > 1 else ""
    return f"unknown {kind} {name!r}{often};{f' did you mean {near!r}?' if near else ''}{listed}"


@lru_cache(maxsize=1000)
def _nearest(name: str, spellings: tuple[str, ...]) -> str:
    return next(iter(get_close_matches(name, spellings, n=1)), "")


def _names(vocabulary: Vocabulary, kind: str) -> list[str]:
    if kind == "action":
        return [word.id for word in vocabulary.actions]
    if kind == "object":
        return [word.name for word in vocabulary.objects]
    return list(dict.fromkeys(word.name for word in vocabulary.relations if word.group != "derived"))


MOST_FRAMES, MOST_INSTANCES = 1 << 16, (1 << 16) - 1  # what the columns of the tables hold
BOX_COLUMNS, NO_BOX = tuple(BOX), (None, None, None, None)
CLIPPED = "box that stuck out of its frame, clipped"
OTHER_SUBJECT = "relation that does not begin at the person, left out"
COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "videos": VIDEOS.columns,
    "frames": {"video": pl.Int64, "number": pl.Int64, "seconds": pl.Float64},
    "objects": {"frame": pl.Int64, "object": pl.Int64} | BOX | {"visible": pl.Boolean},
    "persons": {"frame": pl.Int64} | BOX | {"score": pl.Float32},
    "relations": {"frame": pl.Int64, "relation": pl.Int64, "object": pl.Int64},
    "actions": {"video": pl.Int64, "action": pl.Int64, "start": pl.Float64, "end": pl.Float64},
}


@dataclass
class SourceRows:
    """What a reader finds: `frame` is a row in `frames`, `video` a row in `videos`."""

    videos: pl.DataFrame  # id, split, length, width, height
    frames: pl.DataFrame  # video, number, seconds
    objects: pl.DataFrame  # frame, object, x1, y1, x2, y2, visible
    persons: pl.DataFrame  # frame, x1, y1, x2, y2, score
    relations: pl.DataFrame  # frame, relation, object
    actions: pl.DataFrame  # video, action, start, end; also first_frame, last_frame if the source says them
    skipped: Counter[str] = field(default_factory=Counter)  # what was left out or is odd, in words -> how often


class Taking:
    """What a reader has taken in: rows as tuples in the order of COLUMNS, faults, and what was left out or is odd."""

    columns: Mapping[str, Mapping[str, Any]] = COLUMNS

    def __init__(self, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self.words = {kind: known(vocabulary, kind) for kind in ("object", "relation", "action")}
        self.tables: dict[str, list[tuple[Any, ...]]] = {name: [] for name in COLUMNS}
        self.faults = list[Fault]()
        self.used = dict[tuple[str, bool], None]()  # names, and whether the vocabulary has them
        self.skipped = Counter[str]()
        self.met = Met()

    def meet(self, video: str, file: Path) -> str:
        """A video comes, from this file; the file of an earlier one of the same id."""
        return self.met.note(video, str(file), len(self.faults))

    def add(self, table: str, *values: Any) -> int:
        """The number of the new row."""
        self.tables[table].append(values)
        return len(self.tables[table]) - 1

    def say(self, place: str, *messages: str) -> None:
        self.faults += [Fault(place, message) for message in messages]

    def position(self, kind: str, name: str, place: str) -> int | None:
        """Of a word in the vocabulary; one it does not have is a fault."""
        at = self.words[kind].get(name)
        self.used[name, at is not None] = None
        if at is None:
            self.say(place, unknown(kind, name, self.vocabulary))
        return at

    def rows(self) -> SourceRows:
        made = {
            name: pl.DataFrame(self.tables[name], schema=dict(columns), orient="row")
            for name, columns in self.columns.items()
        }
        return SourceRows(**made, skipped=self.skipped)

    def reading(self, place: str) -> "SourceReading":
        """The facts, or everything that is wrong."""
        refuse([*self.foreign(place)])
        try:
            rows = self.rows()
        except (pl.exceptions.ComputeError, OverflowError) as error:
            raise BadInput.at(place, f"a number is too large ({str(error).partition(';')[0]})") from error
        return assemble(rows, self.vocabulary, place)

    def foreign(self, place: str) -> Iterator[Fault]:
        """The faults; that most names are of another vocabulary is one fault."""
        new = [repr(name) for name, known in self.used if not known]
        if len(new) < FOREIGN or 2 * len(new) <= len(self.used):
            yield from self.faults
            return
        rest = f" and {len(new) - 3} more"
        draft = f"draft one with `questree vocabulary draft {place} --out vocabulary.toml`"
        got = f"expected words of the vocabulary {self.vocabulary.name!r}, got {', '.join(new[:3])}{rest}"
        yield Fault(place, f"{got}; give --vocabulary FILE, or {draft}")
        yield from (fault for fault in self.faults if not fault.message.startswith(NO_WORD))


@dataclass(frozen=True)
class SourceReading:
    """Facts of one source, and what of it was left out or is odd."""

    facts: Facts
    skipped: Mapping[str, int]
    truth: Facts | None = None  # the clean facts of a made-up world


def assemble(rows: SourceRows, vocabulary: Vocabulary, place: str) -> SourceReading:
    """Videos are ordered by id, frames by number; an object that is visible in a frame is `annotated` there."""
    refuse(with_nul(place, "video id", rows.videos["id"].to_list()))
    rows = _of_words(rows, WORD[vocabulary.wide])
    videos, video_at = _sorted(rows.videos, "id")
    frames = rows.frames.with_columns(video=pl.Series(video_at[rows.frames["video"].to_numpy()], dtype=pl.UInt32))
    frames, frame_at = _sorted(frames, "video", "number")
    frames = frames.with_columns(frame=pl.int_range(pl.len()).over("video"))
    _check_sizes(videos, frames, place)

    def placed(table: pl.DataFrame) -> pl.DataFrame:
        found: pl.DataFrame = frames.select("video", "frame")[frame_at[table["frame"].to_numpy()]]
        return found.hstack(table.drop("frame"))

    objects, persons = (_clipped(placed(table), videos, rows.skipped) for table in (rows.objects, rows.persons))
    annotated = objects.filter("visible").select("video", "frame", "object")
    annotated = annotated.with_columns(
        relation=pl.lit(vocabulary.relation_at[vocabulary.annotated], WORD[vocabulary.wide])
    )
    relations = pl.concat([RELATIONS.frame(placed(rows.relations)), RELATIONS.frame(annotated)])
    actions = rows.actions.with_columns(video=pl.Series(video_at[rows.actions["video"].to_numpy()], dtype=pl.UInt32))
    facts = Facts(
        videos=VIDEOS.frame(videos),
        frames=FRAMES.frame(frames),
        objects=OBJECTS.frame(_one_each(objects, rows.skipped)),
        persons=PERSONS.frame(persons.sort("video", "frame")),
        tracks=pack(relations),
        actions=ACTIONS.frame(_on_frames(_numbered(actions, videos, place), frames, frame_at)),
    )
    return SourceReading(facts, {what: count for what, count in sorted(rows.skipped.items()) if count})


def _of_words(rows: SourceRows, word: type[pl.DataType]) -> SourceRows:
    """The rows with positions of words as the tables have them."""
    names = {"objects": ("object",), "relations": ("relation", "object"), "actions": ("action",)}
    return replace(
        rows, **{table: getattr(rows, table).cast(dict.fromkeys(columns, word)) for table, columns in names.items()}
    )


def _sorted(table: pl.DataFrame, *by: str) -> tuple[pl.DataFrame, NDArray[np.int64]]:
    """The table in order, and for each old row its new one. # [old row]"""
    order = table.select(pl.arg_sort_by(*by)).to_series().to_numpy().astype(np.int64)
    new = np.empty(len(order), np.int64)
    new[order] = np.arange(len(order))
    return table[order], new


def _check_sizes(videos: pl.DataFrame, frames: pl.DataFrame, place: str) -> None:
    sizes = frames.group_by("video").len().filter(pl.col("len") > MOST_FRAMES).sort("video")
    message = "{:,} annotated frames; a video may have {:,}"
    refuse(
        [Fault(f"{place}, video {videos['id'][v]}", message.format(n, MOST_FRAMES)) for v, n in sizes.iter_rows()],
    )


def _clipped(table: pl.DataFrame, videos: pl.DataFrame, skipped: Counter[str]) -> pl.DataFrame:
    """Boxes inside their frames, where the size of these is known; one that is nowhere in its frame stays."""
    sizes = videos.select("width", "height")[table["video"].to_numpy()]
    sized = table.select(BOX_COLUMNS).hstack(sizes)
    sides = {"x1": "width", "x2": "width", "y1": "height", "y2": "height"}
    meets = (
        (pl.col("x1") <= pl.col("width")) & (pl.col("y1") <= pl.col("height")) & (pl.min_horizontal("x2", "y2") >= 0)
    )
    inside = [
        pl.when(meets).then(pl.min_horizontal(pl.col(name).clip(0), end)).otherwise(name).cast(BOX[name]).alias(name)
        for name, end in sides.items()
    ]
    cut = sized.select(inside)
    changed = pl.any_horizontal(pl.col(name).cast(BOX[name]).ne_missing(cut[name]) for name in sides)
    skipped[CLIPPED] += sized.select(changed.sum()).item()
    return table.with_columns(cut[name] for name in sides)


def _one_each(objects: pl.DataFrame, skipped: Counter[str]) -> pl.DataFrame:
    """One row per class and frame: the first visible one, as released data has one instance per class."""
    by = ["video", "frame", "object"]
    single = objects.sort(*by, "visible", descending=[False, False, False, True], maintain_order=True)
    single = single.unique(by, keep="first", maintain_order=True)
    skipped["second object of a class in one frame, left out"] += len(objects) - len(single)
    return single


def _on_frames(actions: pl.DataFrame, frames: pl.DataFrame, frame_at: NDArray[np.int64]) -> pl.DataFrame:
    """First and last annotated frame of each action, null if none shows it."""
    if "first_frame" in actions.columns:
        place = pl.DataFrame({"old": np.arange(len(frame_at)), "frame": frames["frame"].to_numpy()[frame_at]})
        for side in ("first", "last"):
            seen = place.select(pl.col("old").alias(f"{side}_frame"), pl.col("frame").alias(side))
            actions = actions.join(seen, on=f"{side}_frame", how="left", maintain_order="left")
        return actions
    return inside(actions, frames)


def _numbered(actions: pl.DataFrame, videos: pl.DataFrame, place: str) -> pl.DataFrame:
    """Instances of one action in one video are counted from 1 in the order in which they start."""
    actions = actions.sort("video", "start", "end", "action")
    size = actions.group_by("video", "action", maintain_order=True).len().filter(pl.col("len") > MOST_INSTANCES)
    message = f"expected at most {MOST_INSTANCES:,} instances of one action, got"
    refuse([Fault(f"{place}, video {videos['id'][v]}", f"{message} {n:,}") for v, _, n in size.iter_rows()])
    return instances(actions)
