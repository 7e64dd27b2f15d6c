"""The questions of a run in memory as small integers: all that filters look at, and enough to say any of them."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.progress import watch
from questree.show.opened import Opened
from questree.show.page.below import below, compositions
from questree.show.page.models import Judgement, Model
from questree.show.shared import shared
from questree.stages.decompose.words import AnswerWords
from questree.stages.questions import Bank, Question, Shard
from questree.stages.split.shapes import VideoRows, rows_of
from questree.stages.split.work import between
from questree.tables.balanced import read_balanced
from questree.tables.facts import VIDEOS
from questree.tables.nodes import TYPES
from questree.tables.run import Run

Ints = NDArray[Any]
KEY = 1 << 32  # video * KEY + number
ALL_TYPES = sorted(TYPES)


@dataclass(frozen=True)
class Questions:
    """What is asked: every decomposed question, or else the balanced selection, or else all."""

    bank: Bank
    names: list[str]  # of the shards
    shards: list[Shard]  # only with these questions
    start: Ints  # [shard + 1] where its questions begin
    key: Ints  # [question] video and number, ascending
    columns: dict[str, Ints]  # [question] template, steps, answer; of decomposed ones type, composition, node
    number: dict[str, int]  # answers, and whatever else models say -> their numbers
    models: dict[str, Model]
    decomposed: bool
    _rows: list[VideoRows | None] = field(default_factory=list)

    @classmethod
    def read(cls, run: Run) -> "Questions":
        """Everything at once, so that no page has to wait for it."""
        bank = Bank(run)
        words, decomposed = AnswerWords(bank.vocabulary), run.decomposed.is_dir()
        number = dict(words.number)
        models = {model.name: model for model in Model.all(run, number)} if decomposed else {}
        chosen = read_balanced(run.balanced) if not decomposed and run.balanced.is_dir() else None
        parts = []
        for folder in watch(bank.folders(), "questions", len(bank.folders())):
            parts.append(_Part.read(bank, folder, chosen, decomposed, words, number, models))
        columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns}
        for name, model in models.items():
            model.judgement = Judgement.joined([part.judged[name] for part in parts])
        start = np.cumsum([0, *(len(part.shard.questions) for part in parts)])
        key = columns.pop("video").astype(np.int64) * KEY + columns.pop("number")
        shards, names = [part.shard for part in parts], [part.name for part in parts]
        return cls(bank, names, shards, start, key, columns, number, models, decomposed, [None] * len(parts))

    def __len__(self) -> int:
        return int(self.start[-1])

    @cached_property
    def words(self) -> list[str]:
        """[number of an answer] the answer."""
        return list(self.number)

    @cached_property
    def video_at(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.bank.ids)}

    @cached_property
    def splits(self) -> pl.Series:
        """[video] as the source splits them."""
        return self.bank.run.table("facts", VIDEOS)["split"]

    def shard_of(self, at: int) -> int:
        return int(np.searchsorted(self.start, at, side="right")) - 1

    def question(self, at: int) -> Question:
        shard = self.shard_of(at)
        return self.shards[shard].question(at - int(self.start[shard]))

    def find(self, id: str) -> int | None:
        """Row of a question by its id, <video>-<number>."""
        video, _, number = id.rpartition("-")
        if video not in self.video_at or not (number.isascii() and number.isdecimal() and len(number) < 10):
            return None
        return self.place(np.array([self.video_at[video] * KEY + int(number)]))[0]

    def place(self, keys: Ints) -> list[int | None]:
        """Rows of these keys, None for one that is not there."""
        at = np.searchsorted(self.key, keys)
        there = np.append(self.key, -1)[at] == keys
        return [int(row) if found else None for row, found in zip(at, there, strict=True)]

    def holding(self, keys: Ints) -> NDArray[np.bool_]:
        """[question] is its key one of these?"""
        found = np.zeros(len(self) + 1, bool)
        at = np.searchsorted(self.key, keys)
        found[at[np.append(self.key, -1)[at] == keys]] = True
        return found[:-1]

    def rows(self, shard: int) -> VideoRows:
        """What the language of splits looks at; made when it is first asked for, and kept small."""
        if self._rows[shard] is None:
            made = rows_of(self.shards[shard])
            words = {name: column.astype(np.int16) for name, column in made.words.items()}
            self._rows[shard] = replace(made, code=made.code.astype(np.int32), words=words)
        found = self._rows[shard]
        assert found
        return found


@dataclass(frozen=True)
class _Part:
    """The questions of one shard."""

    name: str
    shard: Shard
    columns: dict[str, Ints]
    judged: dict[str, Judgement]

    @classmethod
    def read(
        cls,
        bank: Bank,
        folder: Path,
        chosen: pl.DataFrame | None,
        decomposed: bool,
        words: AnswerWords,
        number: dict[str, int],
        models: dict[str, Model],
    ) -> "_Part":
        shard = bank.shard(folder)
        if not decomposed:
            asked = shard.questions
            if chosen is not None:
                few = between(chosen, asked)
                asked = asked.join(few, on=["video", "number"], how="semi", maintain_order="left")
            return cls(folder.name, replace(shard, questions=asked), _columns(asked, words), {})._in_order()
        opened = Opened.read(bank.run.decomposed / folder.name)
        asked = opened.tops.join(shard.questions, on=["video", "number"], how="left", maintain_order="left")
        node = asked["node"].to_numpy()
        type_of = np.array([ALL_TYPES.index(name) for name in opened.forms["type"]], np.uint8)
        own = compositions(opened)
        columns = _columns(asked, words) | {
            "node": node,
            "type": type_of[opened.form][node],
            "composition": (own | below(opened, own))[node],
        }
        judged: dict[str, Judgement] = {}
        if models:
            rows = shared(opened, words, node.astype(np.int64))
            judged = {name: model.judge(opened, rows, number) for name, model in models.items()}
        return cls(folder.name, replace(shard, questions=asked.drop("node")), columns, judged)._in_order()

    def _in_order(self) -> "_Part":
        """By video and number, so that a question is found by its id."""
        order = np.argsort(self.columns["video"].astype(np.int64) * KEY + self.columns["number"])
        return _Part(
            self.name,
            replace(self.shard, questions=self.shard.questions[order]),
            {name: column[order] for name, column in self.columns.items()},
            {name: judgement.at(order) for name, judgement in self.judged.items()},
        )


def _columns(asked: pl.DataFrame, words: AnswerWords) -> dict[str, Ints]:
    columns = {name: asked[name].to_numpy() for name in ("video", "number", "template", "steps")}
    answer = np.zeros(len(asked), np.int16)
    for code, template in enumerate(TEMPLATES):
        own = columns["template"] == code
        answer[own] = words.of(template.node.kind)[asked["answer"].to_numpy()[own]]
    return columns | {"answer": answer}
