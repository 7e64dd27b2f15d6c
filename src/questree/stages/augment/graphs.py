"""The scene graphs of all videos as tables that rules of augmentation work on, and what such a rule is."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.keys import distinct, from_keys, keys, known, word_type
from questree.faults import Fault, refuse
from questree.tables.facts import ACTIONS, OBJECTS, Facts, pack
from questree.vocabulary.words import Vocabulary

SPOT = ["video", "frame", "object"]  # an object in a frame
GAP = 0.01  # seconds between two actions that follow each other in released graphs; stamps have two digits


@dataclass(frozen=True)
class Graphs:
    videos: pl.DataFrame
    frames: pl.DataFrame
    objects: pl.DataFrame
    persons: pl.DataFrame
    relations: pl.DataFrame  # rows video, frame, relation, object: sorted by them, each once
    actions: pl.DataFrame
    unseen: pl.DataFrame  # those that no frame shows, when it is known (rule 6)

    @classmethod
    def of(cls, facts: Facts) -> "Graphs":
        tables = (facts.videos, facts.frames, facts.objects, facts.persons, facts.relations, facts.actions)
        return cls(*tables, facts.actions.clear())

    def facts(self) -> Facts:
        objects = OBJECTS.frame(self.objects).sort(SPOT)
        every = pl.concat([ACTIONS.frame(rows) for rows in (self.actions, self.unseen)], how="vertical_relaxed")
        actions = every.sort("video", "start", "end", "action", "instance")
        return Facts(self.videos, self.frames, objects, self.persons, pack(self.relations), actions)


def rows(*tables: pl.DataFrame) -> pl.DataFrame:
    """Relation rows put together, sorted, each fact once."""
    return from_keys(distinct(np.concatenate([keys(table) for table in tables])), word=word_type(tables[0]))


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
    new, old = np.fromiter(targets, np.int64), table[column]
    return table.with_columns(pl.Series(column, new[old.to_numpy()]).cast(old.dtype))


def telling(vocabulary: Vocabulary, *groups: str) -> list[int]:
    """Relations of these groups but vague ones: nothing follows from them and they are never copied."""
    vague = vocabulary.relations_named(vocabulary.lists.vague_relations)
    return [int(at) for at in vocabulary.group(*groups) if at not in vague]


def doing(actions: pl.DataFrame) -> pl.DataFrame:
    """One row per action instance and frame of it: the columns of the action and `frame`."""
    real = actions.filter(pl.col("first").is_not_null())
    frames = pl.int_ranges("first", pl.col("last").cast(pl.Int32) + 1, dtype=pl.UInt16).alias("frame")
    return real.with_columns(frames).explode("frame")


FACTS, QUESTIONS = "facts", "questions"  # when a rule acts
SHARES = ("duplicate_iou", "height_agreement", "head_share", "action_share", "spatial_share")  # the others are seconds


@dataclass(frozen=True)
class AugmentOptions:
    duplicate_iou: float = 0.5
    """Boxes of two classes that overlap this much are one object (rule 3)."""
    spatial_share: float = 0.6
    """A video with fewer annotations that have a spatial relation loses them all (rule 12)."""
    height_agreement: float = 0.95
    """Above and beneath survive in classes that agree more than this (rule 5)."""
    head_share: float = 0.25
    """The head is this upper part of the person's box (rule 5)."""
    inferred_reach: float = 3.0
    """As released: seconds between a holding and the frame of an inferred taking or putting (rule 9)."""
    action_share: float = 0.7
    """A contact on this part of the frames of an action belongs to all of it (rule 10)."""
    neighbour_seconds: float = 4.0
    """A relation on two frames no further apart holds between them (rule 10)."""
    as_released: bool = False
    """As in released graphs, a place or tool is what an action is done to (rule 6), every overlap is cut (rule 8), and
    takings and puttings that nobody annotated are inserted (rule 9)."""

    def words(self, vocabulary: Vocabulary) -> Vocabulary:
        return vocabulary.as_released() if self.as_released else vocabulary

    def __post_init__(self) -> None:
        bad = [
            Fault(f"--{field.name.replace('_', '-')}", f"expected {wanted}, got {value:g}")
            for field in fields(self)
            if field.type is not bool
            for value, share in [(getattr(self, field.name), field.name in SHARES)]
            for wanted in ["a share from 0 to 1" if share else "0 seconds or more"]
            if not 0 <= value <= (1 if share else float("inf"))
        ]
        refuse(bad)


@dataclass(frozen=True)
class Change:
    """Counts for one table; its size grows by added - removed."""

    what: str
    added: int = 0
    removed: int = 0
    changed: int = 0
    concerned: int = 0  # rules that act when questions are made: what they will act on

    def __add__(self, other: "Change") -> "Change":
        numbers = ((getattr(self, name), getattr(other, name)) for name in ("added", "removed", "changed", "concerned"))
        return Change(self.what, *map(sum, numbers))


Apply = Callable[..., tuple[Graphs, list[Change]]]  # of graphs, vocabulary, options; of `seen`, if the rule counts
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class AugmentationRule:
    number: int  # in the list of the paper's fact sheet; the order of work is that of RULES
    name: str
    says: str
    apply: Apply
    when: str = FACTS
    fixed: str = ""  # why it cannot be left out
    remedy: str = ""  # of one that cannot: why it removes something, and what helps
    seen: Callable[[Graphs, Vocabulary, AugmentOptions], Counts] | None = None  # what it counts in all videos first
    by_video: bool = True  # else it may look at several videos together, so all of them are cleaned in one place
