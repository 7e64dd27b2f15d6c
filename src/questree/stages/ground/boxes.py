"""Boxes by number, and which of them show one another: a box that covers much of a relevant one is not irrelevant."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import ranges
from questree.metrics.relevance import COVERED
from questree.tables.facts import BOX, Facts
from questree.tables.images import Images
from questree.tables.table import Table
from questree.vocabulary.words import Vocabulary

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
SIDES = list(BOX)
# `place` is a video's or an image's id, `frame` the number of a video's frame (null for images)
BOXES = Table(
    "boxes",
    {"box": pl.UInt32, "place": pl.String, "frame": pl.UInt32, "name": pl.String, **BOX},
    optional=frozenset({"frame"}),
)
# what a detector looks at: an image by its id, a frame as its picture is called, VIDEO/000012
NUMBERED = pl.format("{}/{}", "place", pl.col("frame").cast(pl.String).str.zfill(6))
VIEW = pl.when(pl.col("frame").is_null()).then("place").otherwise(NUMBERED).alias("view")


@dataclass(frozen=True)
class Boxes:
    """Boxes by place and by view: an image, or a frame of a video."""

    table: pl.DataFrame  # of BOXES; box: its number among all boxes of the run
    view: Ints  # [box] ascending
    start: Ints  # [place + 1] where a place's boxes begin

    @cached_property
    def _covering(self) -> tuple[Ints, Ints]:
        """([box + 1] where its rows begin, rows): other boxes of its view that cover much of it."""
        corners = self.table.select(SIDES).to_numpy().astype(np.float64)
        begin = np.searchsorted(self.view, self.view)
        one, other = ranges(begin, np.searchsorted(self.view, self.view, side="right"))
        seen = _covers(corners[other], corners[one]) & (one != other)
        return np.searchsorted(one[seen], np.arange(len(self.view) + 1)), other[seen]

    def before(self, place: Ints) -> Ints:
        """[image + 1, question] boxes before an image, the last: all; place: [image, question] it, -1 for none."""
        size = np.where(place < 0, 0, self.start[place + 1] - self.start[place])
        return np.cumsum([np.zeros_like(place[0]), *size], axis=0)

    def number(self, question: Ints, box: Ints, place: Ints, before: Ints) -> Ints:
        """The place of a box among those of a question."""
        own = np.searchsorted(self.start, box, side="right") - 1
        at = np.argmax(place[:, question] == own, axis=0)
        return np.asarray(before[at, question] + box - self.start[own])

    def parted(self, question: Ints, box: Ints, place: list[Ints]) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
        """(question, box) that are relevant, each once, and those of the same places that show nothing relevant.

        question, box: the relevant ones, in any order; place: per image of a question [question] it, -1 for none.
        """
        where = np.array(place)  # [image, question]
        shift = self.before(where)

        def column(question: Ints, box: Ints) -> Ints:
            return self.number(question, box, where, shift)

        def number(question: Ints, column: Ints) -> Ints:
            at = sum((shift[image, question] <= column for image in range(1, len(place))), np.zeros_like(question))
            return np.asarray(self.start[where[at, question]] + column - shift[at, question])

        relevant = np.zeros((len(place[0]), int(shift[-1].max(initial=0))), bool)  # [question, column]
        relevant[question, column(question, box)] = True
        asked, at = np.nonzero(relevant)
        kept, shown, (first, covering) = number(asked, at), relevant.copy(), self._covering
        row, other = ranges(first[kept], first[kept + 1])
        shown[asked[row], column(asked[row], covering[other])] = True
        rest = np.nonzero(~shown & (np.arange(shown.shape[1]) < shift[-1][:, None]))
        return (asked, kept), (rest[0], number(*rest))


def _covers(covering: NDArray[np.float64], covered: NDArray[np.float64]) -> Bools:
    """[pair] does the first box cover more than a quarter of the second?"""
    low = np.maximum(covering[:, :2], covered[:, :2])
    high = np.minimum(covering[:, 2:], covered[:, 2:])
    common = np.prod(np.maximum(high - low, 0), axis=1)
    area = np.prod(np.maximum(covered[:, 2:] - covered[:, :2], 0), axis=1)
    return np.asarray(common > COVERED * area)


def video_boxes(facts: Facts, vocabulary: Vocabulary, first: int = 0) -> tuple[Boxes, Ints]:
    """The boxes of the person and of objects, and [box] (video, frame, class) as one number, ascending."""
    person = vocabulary.object_at[vocabulary.person]
    persons = facts.persons.with_columns(object=pl.lit(person, facts.objects["object"].dtype))
    columns = ["video", "frame", "object", *SIDES]
    both = pl.concat([persons.select(columns), facts.objects.select(columns)]).drop_nulls(SIDES)
    key = spot(*(both[name].to_numpy().astype(np.int64) for name in columns[:3]))
    order = np.argsort(key, kind="stable")
    both, key = both[order.tolist()], key[order]
    frames = facts.frames.select("video", "frame", "number")
    named = both.join(frames, on=["video", "frame"], how="left", maintain_order="left")
    names = [word.name for word in vocabulary.objects]
    table = named.select(
        pl.int_range(first, first + len(both), dtype=pl.UInt32, eager=True).alias("box"),
        facts.videos["id"].gather(both["video"]).alias("place"),
        pl.col("number").alias("frame"),
        pl.Series("name", names, dtype=pl.String).gather(both["object"]),
        *SIDES,
    )
    start = np.searchsorted(both["video"].to_numpy(), np.arange(len(facts.videos) + 1))
    return Boxes(BOXES.frame(table), key >> CLASS, start), key


CLASS, FRAME = 14, 16  # bits


def spot(video: Ints, frame: Ints, object: Ints) -> Ints:
    return (video << FRAME | frame) << CLASS | object


def image_boxes(images: Images) -> tuple[Boxes, Ints]:
    """The boxes of things that have one, and [thing] its box, -1 without one."""
    there = images.things["x1"].is_not_null().to_numpy()
    things = images.things.filter(pl.Series(there))
    image = things["image"].to_numpy().astype(np.int64)
    table = things.select(
        pl.int_range(len(things), dtype=pl.UInt32, eager=True).alias("box"),
        images.images["id"].gather(things["image"]).alias("place"),
        pl.lit(None, pl.UInt32).alias("frame"),
        images.words["word"].gather(things["name"]).alias("name"),
        *SIDES,
    )
    start = np.searchsorted(image, np.arange(len(images.images) + 1))
    return Boxes(BOXES.frame(table), image, start), np.where(there, np.cumsum(there) - 1, -1)
