"""How the questions of a domain are shown: what a scope and its evidence look like is all in which media differ."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Benchmark
from questree.faults import BadInput
from questree.readings.evidence import DECIDES, REFERENCE, SEARCHED, TIME, Role
from questree.rules import Scheme
from questree.show.dag import Dag, DagColumns, Opened, Piece
from questree.tables.run import Run
from questree.terms import Node

Ints = NDArray[Any]
Mask = NDArray[np.bool_]  # [question]
READ = 8  # shards kept open
SAID = 4096  # nodes of DAGs that are kept as they are shown
POSED = 2048  # questions kept as they are asked: lists have many in common
MARKED: tuple[Role, ...] = (DECIDES, REFERENCE, TIME)  # evidence that is drawn, each by its own mark


@dataclass(frozen=True)
class Posed:
    """One question as it is asked."""

    id: str
    text: str
    pieces: list[Piece]
    answer: str
    template: str
    reading: Callable[[], Node | None]
    stored: Any  # as the view keeps it

    @cached_property
    def program(self) -> Node | None:
        """None if it cannot be read; lists do without."""
        return self.reading()


@dataclass(frozen=True)
class Listed:
    """The questions of one shard that are shown."""

    columns: dict[str, Ints]  # [question] key, template, answer, and the view's numbers
    opened: Opened | None  # their DAGs; the questions are its tops, in this order


@dataclass(frozen=True)
class Evidence:
    """What a piece of a program rests on."""

    program: str
    at: list[int]  # positions of frames; or the number of the part, if it picks out things
    told: str  # "3 frames"
    role: Role  # what it is needed for

    @property
    def window(self) -> bool:
        """Is it a time, or something that is seen?"""
        return self.role in (TIME, SEARCHED)


def lit(found: Sequence[Evidence]) -> dict[Role, list[int]]:
    """Role -> the places to mark."""
    return {role: sorted({place for each in found if each.role == role for place in each.at}) for role in MARKED}


class Scene(ABC):
    """The scope of one question with its evidence, ready to be drawn by a template of the page."""

    template: ClassVar[str]  # that draws it
    script: ClassVar[str]  # that lights up the evidence of a chosen sub-question

    @abstractmethod
    def evidence(self, program: Node) -> list[Evidence]: ...

    @abstractmethod
    def files(self, program: Node | None, folder: Path) -> list[tuple[str, Path]]:
        """Pictures that decide a program, as far as the folder has them: what each is called, its file."""


class View(ABC):
    """A run's questions of one domain."""

    name: ClassVar[str]  # videos, sets of images: what its scopes are called
    title: ClassVar[str]
    home: ClassVar[str]  # address of the list; questions are at `item`, two models at `compare`
    item: ClassVar[str]
    compare: ClassVar[str]
    scope: ClassVar[str]  # the filter by scope
    words_hint: ClassVar[str]  # examples for the boxes above the list
    query_hint: ClassVar[str]
    language: ClassVar[tuple[str, ...]]  # what a query is made of
    twin: ClassVar[str]  # what the twin of a question is
    kinds: ClassVar[Mapping[str, str]]  # kinds of words that are coloured -> what they are called
    numbers: ClassVar[Mapping[str, str]]  # columns of whole numbers -> their titles; accuracy is plotted over the first
    scheme: ClassVar[Scheme]
    benchmark: ClassVar[Benchmark]

    run: Run
    templates: list[str]
    number: dict[str, int]  # every answer -> its number
    decomposed: bool

    def __init__(self, run: Run):
        self.run = run
        self.opened, self.find = lru_cache(READ)(self.open), lru_cache(POSED)(self.pose)

    @classmethod
    def there(cls, run: Run) -> bool:
        """Does a run have questions of this domain?"""
        return cls.benchmark.has(run, "questions")

    @classmethod
    @abstractmethod
    def check(cls, run: Run) -> None:
        """Says so if the questions are of other facts than the run has, or their DAGs of another version."""

    @classmethod
    def of_some(cls, run: Run, ids: Sequence[str]) -> Self:
        """A view that need not know other questions than these."""
        return cls(run)

    @classmethod
    @abstractmethod
    def counted(cls, folder: Path) -> DagColumns:
        """The DAGs of a shard, on any worker and without a view."""

    @abstractmethod
    def shards(self) -> list[str]: ...

    @abstractmethod
    def open(self, shard: str) -> Opened:
        """The DAGs of a shard; `opened` keeps the last few."""

    @abstractmethod
    def cut_out(self, name: str, nodes: Sequence[int]) -> list[Opened]:
        """The DAGs of some nodes of a shard, each a shard of its own that is shown without the others."""

    @abstractmethod
    def dag(self, one: Opened) -> Dag:
        """Of a shard that is one DAG."""

    @abstractmethod
    def programs(self, one: Opened) -> list[Node]:
        """[node] its program."""

    @abstractmethod
    def listed(self, shard: str) -> Listed:
        """The decomposed questions of a shard, or else the balanced selection, or else all."""

    @abstractmethod
    def alone(self, asked: Posed) -> Opened | None:
        """A question taken apart now, whether or not the run is; None if it has no parts that are known."""

    def taken_apart(self, id: str) -> tuple[Posed, Dag]:
        """Any question of the run with its DAG, made now."""
        key = self.key(id)
        if key is None:
            raise BadInput.at(self.run.folder, f"no question {id!r} about {self.name}")
        asked = self.find(key)
        one = self.alone(asked)
        if one is None:
            raise BadInput.at(self.run.folder, f"no rule takes question {id!r} apart")
        return asked, self.dag(one)

    @abstractmethod
    def scene(self, asked: Posed, one: Opened | None) -> Scene: ...

    @abstractmethod
    def labels(self, asked: Posed) -> list[tuple[str, str]]: ...

    def notations(self, asked: Posed) -> dict[str, str]:
        """Its program as others write it."""
        return {}

    @abstractmethod
    def twins(self, asked: Posed) -> list[int]:
        """Keys of the questions it is best compared with, as `twin` says."""

    @abstractmethod
    def key(self, id: str) -> int | None:
        """The number behind an id."""

    @abstractmethod
    def keys(self, tops: pl.DataFrame) -> Ints:
        """[question] of DAGs."""

    @abstractmethod
    def shard_of(self, key: int) -> str:
        """The name of the shard whose DAGs a question is among."""

    @abstractmethod
    def pose(self, key: int) -> Posed:
        """Any question of the run; `find` keeps some."""

    @abstractmethod
    def worded(self, shard: str, rows: Ints) -> pl.Series:
        """Texts of some of the questions that a shard lists, by columns."""

    @abstractmethod
    def ids(self, keys: Ints) -> pl.Series:
        """[question] its id."""

    @abstractmethod
    def scopes(self, keys: Ints) -> pl.Series:
        """[question] its video, or its images."""

    @abstractmethod
    def drawn(self, keys: Ints) -> Ints:
        """[question] what a bootstrap draws it with."""

    @abstractmethod
    def named(self, tops: pl.DataFrame) -> pl.Series:
        """[question] of DAGs: its id, whether or not the view knows it."""

    @abstractmethod
    def chances(self, tops: pl.DataFrame, seed: int) -> NDArray[np.uint64]:
        """[question] of DAGs: a hash to choose by."""

    @abstractmethod
    def side(self, keys: Ints) -> pl.Series:
        """[question] train, dev or test, as the source puts its scope."""

    @abstractmethod
    def written(self) -> Iterator[tuple[str, Ints]]:
        """The sides of the splits that were made, with the keys of their questions."""

    def splits(self, keys: Ints) -> dict[str, Mask]:
        """The splits a question can be in; keys ascend."""
        side = self.side(keys)
        found = {name: (side == name).to_numpy() for name in ("train", "dev", "test")}
        return found | {name: held(keys, own) for name, own in self.written()}

    @abstractmethod
    def within(self, scope: str, keys: Ints) -> Mask:
        """Questions about a scope, or Wrong."""

    @abstractmethod
    def query(self, text: str, shards: Sequence[str]) -> list[Mask]:
        """[shard] the listed questions a text finds, or Wrong."""


def held(keys: Ints, wanted: Ints) -> Mask:
    """[key] is it one of these? Keys ascend."""
    found = np.zeros(len(keys) + 1, bool)
    at = np.searchsorted(keys, wanted)
    found[at[np.append(keys, -1)[at] == wanted]] = True
    return found[:-1]
