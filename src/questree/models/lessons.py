"""What is common in all shards of a run, for bots that must know it: looked for in every shard, put together once, and
kept in a folder for whoever answers."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import polars as pl

from questree.models.asked import AskedNodes
from questree.tables.hierarchies import NOTHING
from questree.terms import Array

Known = TypeVar("Known")
FILE = "known.arrow"


class AskedShards(Protocol):
    """The nodes of a run, some at a time."""

    names: Sequence[str]
    reading_first: "Sequence[Lesson[Any]]"  # what must be known before texts are learnt from

    @property
    def number(self) -> dict[str, int]:
        """Words -> their numbers."""

    def asked(self, name: str, /) -> AskedNodes: ...


@dataclass(frozen=True)
class Lesson(Generic[Known]):
    """Functions of modules: they are sent to workers."""

    name: str
    look: Callable[[Any, Any], pl.DataFrame]  # (shards, name of one) -> what it tells
    learn: Callable[[list[str], Path], None]  # (what shards told, as files; a folder for what follows)
    read: Callable[[Path], Known]  # the folder ->
    reads: bool = False  # is it learnt from texts?


def counted(table: pl.DataFrame, asked: AskedNodes) -> pl.DataFrame:
    """How often nodes of a key have which published word; table: [node] the columns of the key."""
    words = table.with_columns(word=pl.Series(asked.published)).filter(pl.col("word") != NOTHING)
    return words.group_by(words.columns).len("times")


def learn_commonest(files: list[str], folder: Path) -> None:
    """Columns of the key and the most frequent published word; of equally frequent ones the smaller number."""
    counts = pl.scan_ipc(files, glob=False)
    *key, word, times = counts.collect_schema().names()
    summed = counts.group_by(*key, word).agg(pl.col(times).sum()).collect(engine="streaming")
    ordered = summed.sort(times, word, descending=[True, False])
    ordered.unique(key, keep="first", maintain_order=True).drop(times).write_ipc(folder / FILE)


def read_table(folder: Path) -> pl.DataFrame:
    return pl.read_ipc(os.fspath(folder / FILE))


def looked_up(asked: pl.DataFrame, words: pl.DataFrame) -> Array:
    """[node] the word of its key, NOTHING without one."""
    found = asked.join(words, on=asked.columns, how="left", maintain_order="left")["word"]
    return found.fill_null(NOTHING).to_numpy()


def type_of(asked: AskedNodes) -> pl.DataFrame:
    return asked.types.rename("type").to_frame()


def look_at_types(shards: AskedShards, name: str) -> pl.DataFrame:
    asked = shards.asked(name)
    return counted(type_of(asked), asked)


def look_at_texts(shards: AskedShards, name: str) -> pl.DataFrame:
    asked = shards.asked(name)
    return counted(asked.texts, asked)


OF_TYPE = Lesson("types", look_at_types, learn_commonest, read_table)  # the commonest answer to questions of a type
OF_TEXT = Lesson("texts", look_at_texts, learn_commonest, read_table)  # and to a question, whatever it is asked about
