"""The scene graphs of all videos as tables the rules work on: facts with every relation track opened into rows."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from questree.columns.keys import distinct, from_keys, keys, known
from questree.tables.facts import ACTIONS, OBJECTS, Facts, pack
from questree.vocabulary.words import Vocabulary

SPOT = ["video", "frame", "object"]  # an object in a frame
OTHER = "other relationship"
GAP = 0.01  # seconds between two actions that follow each other; stamps have two digits


@dataclass(frozen=True)
class Graphs:
    videos: pl.DataFrame
    frames: pl.DataFrame
    objects: pl.DataFrame
    persons: pl.DataFrame
    relations: pl.DataFrame  # rows video, frame, relation, object: sorted by them, each once
    actions: pl.DataFrame

    @classmethod
    def of(cls, facts: Facts) -> "Graphs":
        return cls(facts.videos, facts.frames, facts.objects, facts.persons, facts.relations, facts.actions)

    def facts(self) -> Facts:
        objects = OBJECTS.frame(self.objects).sort(SPOT)
        actions = ACTIONS.frame(self.actions).sort("video", "start", "end", "action", "instance")
        return Facts(self.videos, self.frames, objects, self.persons, pack(self.relations), actions)


def rows(*tables: pl.DataFrame) -> pl.DataFrame:
    """Relation rows put together, sorted, each fact once."""
    return from_keys(distinct(np.concatenate([keys(table) for table in tables])))


def without(table: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The relation rows that are not among the others, which are sorted."""
    return table.filter(~known(keys(table), keys(others)))


def within(table: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    """The relation rows that are among the others, which are sorted."""
    return table.filter(known(keys(table), keys(others)))


def among(column: str, values: Iterable[int]) -> pl.Expr:
    return pl.col(column).is_in([int(value) for value in values])


def counted_as(table: pl.DataFrame, column: str, targets: Iterable[int]) -> pl.DataFrame:
    """The table with every position in the column replaced by the position it is counted as."""
    new = np.fromiter(targets, np.uint8)
    return table.with_columns(pl.Series(column, new[table[column].to_numpy()]))


def telling(vocabulary: Vocabulary, *groups: str) -> list[int]:
    """Relations of these groups but `other relationship`: it says nothing, nothing follows and it is never copied."""
    return [int(at) for at in vocabulary.group(*groups) if vocabulary.relations[at].name != OTHER]


def inside(actions: pl.DataFrame, frames: pl.DataFrame) -> pl.DataFrame:
    """The actions with `first` and `last` set to the frames inside start..end, null when there is none."""
    stamps = frames.select("video", "seconds", at="frame").sort("video", "seconds")
    asked = actions.drop("first", "last", strict=False).with_row_index("row")
    first = _nearest(asked, "start", stamps, "forward").rename({"at": "first"})
    last = _nearest(asked, "end", stamps, "backward").rename({"at": "last"})
    found = asked.join(first, on="row").join(last, on="row").sort("row")
    some = pl.col("first") <= pl.col("last")
    both = (pl.when(some).then(pl.col(name)).alias(name) for name in ("first", "last"))
    return ACTIONS.frame(found.with_columns(*both))


def _nearest(asked: pl.DataFrame, stamp: str, stamps: pl.DataFrame, way: str) -> pl.DataFrame:
    slack = -1e-6 if way == "forward" else 1e-6  # a frame number over a frame rate does not hit a stamp to the last bit
    wanted = asked.select("row", "video", seconds=pl.col(stamp) + slack).sort("video", "seconds")
    found = wanted.join_asof(stamps, on="seconds", by="video", strategy=way, check_sortedness=False)  # type: ignore[arg-type]
    return found.select("row", "at")


def doing(actions: pl.DataFrame) -> pl.DataFrame:
    """One row per action instance and frame of it: the columns of the action and `frame`."""
    real = actions.filter(pl.col("first").is_not_null())
    frames = pl.int_ranges("first", pl.col("last").cast(pl.Int32) + 1, dtype=pl.UInt16).alias("frame")
    return real.with_columns(frames).explode("frame")
