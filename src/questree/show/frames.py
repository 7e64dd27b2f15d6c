"""Named boxes on a picture or on an empty ground, and one annotated frame of a video, as SVG."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.domains.video.facts import WORD
from questree.faults import BadInput
from questree.show.dag import few
from questree.show.tags import LETTER, ROOM, Box, Tag, meet, tags
from questree.show.timeline import Mentioned
from questree.svg import element, spelled
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

KINDS = ("other", "person", "step", "mentioned")  # in the order they are drawn; step: on the way to what is meant
PICTURES = 1024  # with up to ROOM boxes that are kept as they are drawn: some ten megabytes
DEFAULT = (400.0, 300.0)  # corner of a picture with neither a size nor boxes


class Boxed(NamedTuple):
    label: str
    kind: str  # one of KINDS
    box: Box
    parts: tuple[int, ...] = ()  # numbers of what picks it out


def picture(
    size: tuple[int, int], boxes: Sequence[Boxed], name: str, address: str | None = "", seen: Box | None = None
) -> str:
    """`seen` is the piece that is looked at; all of it, if nobody says. An address None: nothing is behind it."""
    draw = _kept if len(boxes) <= ROOM else _picture
    return draw(size, tuple(boxes), name, address, seen)


def _picture(size: tuple[int, int], boxes: tuple[Boxed, ...], name: str, address: str | None, seen: Box | None) -> str:
    width, height = size
    seen = seen or (0, 0, width, height)
    x1, y1, x2, y2 = seen
    ground = "" if address is None else element("rect", class_="ground", width=width, height=height)
    if address:
        ground = element("image", href=address, width=width, height=height)
    unit = max(x2 - x1, y2 - y1) / 100
    drawn = sorted(boxes, key=lambda each: KINDS.index(each.kind))
    # what is meant chooses the place of its name first, and is drawn last
    places = tags([(each.label, each.box) for each in reversed(drawn)], unit, seen)[::-1]
    shapes = [_drawn(each, tag, unit) for each, tag in zip(drawn, places, strict=True)]
    view = f"{x1:.0f} {y1:.0f} {x2 - x1:.0f} {y2 - y1:.0f}"
    return element("svg", ground, *shapes, class_="picture", viewBox=view, role="img", aria_label=name)


_kept = lru_cache(PICTURES)(_picture)  # many questions show the same images, and pick the same things out


def _drawn(each: Boxed, tag: Tag, unit: float) -> str:
    """Written as text and not as elements: pages have many hundreds of these."""
    x1, y1, x2, y2 = each.box
    label, parts = escape(each.label), " ".join(map(str, each.parts))
    x, y, width, height = map(spelled, tag)
    lead = "" if meet(tag.box, (x1 - 1, y1 - 1, x2 + 1, y2 + 1)) else _lead(tag, x1, y1, unit)
    return (
        f'<g class="{each.kind}" data-parts="{parts}"><title>{label}</title>'
        f'<rect class="box" x="{spelled(x1)}" y="{spelled(y1)}" width="{spelled(max(x2 - x1, 1))}" '
        f'height="{spelled(max(y2 - y1, 1))}" stroke-width="{spelled(0.6 * unit)}"/>{lead}'
        f'<rect class="tag" x="{x}" y="{y}" width="{width}" height="{height}"/>'
        f'<text x="{spelled(tag.x + unit / 2)}" y="{spelled(tag.y + 0.75 * tag.height)}" '
        f'font-size="{spelled(LETTER * unit)}">{label}</text></g>'
    )


def _lead(tag: Tag, x: float, y: float, unit: float) -> str:
    """From a name to its box, where they are apart."""
    ends = {"x1": tag.x + unit, "y1": tag.y + tag.height / 2, "x2": x, "y2": y}
    return element("line", class_="lead", **ends, stroke_width=0.4 * unit)


def size_of(width: int | None, height: int | None, boxes: Sequence[Boxed]) -> tuple[int, int]:
    """As the source says, or all that there is to see."""
    if width and height:
        return int(width), int(height)
    corners = [each.box[2:] for each in boxes] or [DEFAULT]
    return int(max(x for x, _ in corners)) + 10, int(max(y for _, y in corners)) + 10


SUFFIXES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
FILMS = {".mp4": "video/mp4", ".webm": "video/webm"}
MARGIN = 0.05  # of a frame, around what is shown of it


@dataclass(frozen=True)
class ShownFrame:
    position: int
    number: int  # as the source names it
    seconds: float
    size: tuple[int, int]
    boxes: list[Boxed]
    unboxed: list[str]  # objects that are there, but nobody said where
    relations: list[tuple[str, bool]]  # what holds, and whether the question is about it
    address: str | None = ""  # of the real frame; None if a film shows it
    seen: Box | None = None  # the piece of it that is shown

    @property
    def svg(self) -> str:
        return picture(self.size, self.boxes, f"frame {self.number}", self.address, self.seen)


def frame_of(
    facts: Facts, position: int, vocabulary: Vocabulary, mentioned: Mentioned, address: str | None = ""
) -> ShownFrame:
    """`facts` are those of one video."""
    number, seconds = next(at_frame(facts.frames["frame", "number", "seconds"], position).iter_rows())[1:]
    boxes = [Boxed("person", "person", box_of(row)) for row in at_frame(facts.persons, position).iter_rows(named=True)]
    unboxed = []
    for row in at_frame(facts.objects, position).iter_rows(named=True):
        if not row["visible"]:
            continue
        label = vocabulary.objects[row["object"]].name
        if row["x1"] is None:
            unboxed.append(label)
        else:
            boxes.append(Boxed(label, "mentioned" if row["object"] in mentioned.objects else "other", box_of(row)))
    width, height = facts.videos["width", "height"].row(0)
    relations = holding(facts, position, vocabulary, mentioned)
    size = size_of(width, height, boxes)
    seen = around(facts, size) if address == "" else None
    return ShownFrame(position, number, seconds, size, boxes, unboxed, relations, address, seen)


def at_frame(table: pl.DataFrame, position: int) -> pl.DataFrame:
    """What is said about one frame."""
    return few(table, np.flatnonzero(table["frame"].to_numpy() == position))


def around(facts: Facts, size: tuple[int, int]) -> Box | None:
    """The piece of an empty frame in which anything happens in the whole video."""
    boxed = [table for table in (facts.objects, facts.persons) if table["x1"].null_count() < len(table)]
    if not boxed:
        return None
    room = MARGIN * max(size)
    low = [max(min(float(table[name].min()) for table in boxed) - room, 0.0) for name in ("x1", "y1")]  # type: ignore[arg-type]
    high = [
        min(max(float(table[name].max()) for table in boxed) + room, float(most))  # type: ignore[arg-type]
        for name, most in zip(("x2", "y2"), size, strict=True)
    ]
    return (*low, *high) if low[0] < high[0] and low[1] < high[1] else None  # type: ignore[return-value]


def box_of(row: dict[str, float]) -> Box:
    return row["x1"], row["y1"], row["x2"], row["y2"]


def holding(facts: Facts, position: int, vocabulary: Vocabulary, mentioned: Mentioned) -> list[tuple[str, bool]]:
    """Relations of a frame, those the question is about first; that an object is annotated is seen."""
    unshown, (word, bit) = set(vocabulary.group("derived", "attention").tolist()), divmod(position, WORD)
    found = [
        (f"{vocabulary.relations[relation].name} {vocabulary.objects[thing].name}", mentioned.track(relation, thing))
        for relation, thing, bits in facts.tracks["relation", "object", "bits"].iter_rows()
        if relation not in unshown and word < len(bits) and bits[word] >> bit & 1
    ]
    return sorted(found, key=lambda each: not each[1])


def media_folder(folder: Path) -> Path:
    """It is there, or refused."""
    if not folder.is_dir():
        wanted = "expected DIR/<video>.mp4 or .webm, DIR/<video>/<frame>.png or .jpg, or DIR/<image>.png or .jpg"
        raise BadInput.at(folder, f"no such folder of frames, images or films; {wanted}")
    return folder


def media_file(folder: Path, video: str, number: int) -> Path | None:
    """DIR/<video>/<frame>.png or .jpg, the number with or without leading zeros."""
    return _file(folder, (f"{video}/{number}", f"{video}/{number:06}"), SUFFIXES)


def film_file(folder: Path, video: str) -> Path | None:
    """DIR/<video>.mp4 or .webm."""
    return _file(folder, (video,), FILMS)


def image_file(folder: Path, image: str) -> Path | None:
    """DIR/<image>.png or .jpg; ids of some sources end so themselves."""
    stem = Path(image).with_suffix("").as_posix() if Path(image).name else image
    return _file(folder, (image, stem), SUFFIXES)


def _file(folder: Path, names: Sequence[str], suffixes: Iterable[str]) -> Path | None:
    """Nothing outside of the folder."""
    for path in (folder / f"{name}{suffix}" for name in names for suffix in suffixes):
        with suppress(OSError, ValueError):  # no file can be called so
            if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
                return path
    return None
