"""DAGs about videos, in the shards they are stored in; and their questions alone, as AGQA's tables score them."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import AGQA
from questree.metrics.answered import Missing, ModelAnswers
from questree.metrics.answers import AnswerCounts, agqa_cells, agqa_tallies, fit_rows, most_likely
from questree.metrics.catalogue import Groups
from questree.metrics.cells import Ints, Tallies, stacked
from questree.metrics.scores import Resampling, Score, Scored
from questree.models.asked_runs import AskedRun
from questree.models.bots import taught
from questree.scoring.dag_shards import answers_in
from questree.scoring.run_answers import AnsweringBots, bots_among
from questree.scoring.run_questions import AskedShard, answered_ids, asked_shard
from questree.scoring.shard_tasks import EVERY, ShardAnswers, ShardScores
from questree.stages.decompose.hierarchies import (
    RunHierarchies,
    corpus,
    dags_given,
    file_order,
    many,
    part,
    run_hierarchies,
    shards,
)
from questree.stages.questions import Bank
from questree.stages.split import steps
from questree.tables.nodes import GIVEN, NODES
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.workers import each


@dataclass(frozen=True)
class VideoAlone:
    """The questions of a shard, each alone."""

    asked: AskedShard
    groups: dict[str, Groups] = field(default_factory=dict)  # of its questions, whoever answers

    @property
    def listing(self) -> AnswerCounts:
        return AnswerCounts.of(self.asked.records.table)

    def tallies(self, read: ModelAnswers, missing: Missing) -> Tallies:
        asked = self.asked
        said = answered_ids(asked.records.table["id"], read.words, read.by_key[asked.nodes :][asked.rows])
        return agqa_tallies(asked.records, said, missing, self.groups)


@dataclass(frozen=True)
class VideosAlone:
    """The questions of all shards; beside the models AGQA's Most-Likely."""

    counts: AnswerCounts

    def scored(self, parts: Sequence[Tallies]) -> Scored:
        tallies = stacked(parts)
        return Scored(tallies, agqa_cells(tallies))

    def rows(self, found: Scored, model: str, how: Resampling | None) -> list[Score]:
        return [*found.rows(model, how), *fit_rows(found.tallies, model, how)]

    def baseline(self, how: Resampling | None) -> list[Score]:
        return most_likely(self.counts)


@dataclass(frozen=True)
class VideoDags:
    run: Path
    names: tuple[str, ...]
    most_steps: tuple[int, ...] | None = None  # [template] in train, if questions are scored alone, too
    bots: AnsweringBots | None = None

    tells_errors: ClassVar[bool] = True

    @classmethod
    def count(cls, run: Run) -> int:
        return len(shards(run))

    @classmethod
    def many(cls, run: Run) -> bool:
        return many(shards(run))

    @classmethod
    def ids_apart(cls, run: Run, pool: Executor | None) -> bool:
        """Has every shard ids of its own? In imported DAGs that of a sub-question may be in several of them."""
        if not dags_given(run):
            return True
        names = [folder.name for folder in shards(run)]
        return all(each(pool, "looking at ids", "shard", names, keys_apart, run.folder))

    @classmethod
    def shared(
        cls, run: Run, models: Sequence[str], split: str | None, alone: bool, left: ExitStack, pool: Executor | None
    ) -> Self:
        names, bank = tuple(folder.name for folder in shards(run)), Bank(run)  # says so if they are of other facts
        own, bots = cls(run.folder, names, steps.of_run(bank) if alone else None), bots_among(run, AGQA, models)
        if not bots:
            return own
        place = left.enter_context(where_workers_see(run.predictions))
        return replace(own, bots=AnsweringBots(taught(AskedRun(run.folder, place), bots, pool), bots))

    def at_once(self) -> Self:
        return replace(self, names=(EVERY,))

    def part(self, name: str, split: str | None) -> RunHierarchies:
        if name == EVERY:
            return run_hierarchies(Run(self.run), split, 1)
        dags, named = part(self.run, name, split)
        return RunHierarchies(Run(self.run), dags, [named])

    def inside(self, name: str, tops: pl.DataFrame, split: str) -> NDArray[np.bool_]:
        return np.asarray(corpus(self.run)[1][tops["video"].to_numpy()] == split)

    def stored(self, name: str, model: str) -> Stored:
        now = self.bots and self.bots.answers(model, name)
        return now or Stored.believed(Run(self.run), model)

    def alone(self, name: str, asked: RunHierarchies, split: str | None) -> VideoAlone | None:
        if self.most_steps is None:
            return None
        found = asked_shard(asked.run, name, split, self.most_steps)
        return VideoAlone(found) if len(found.records.table) else None

    def answers(self, name: str, split: str | None) -> ShardAnswers:
        return answers_in(self.part(name, split).hierarchies)

    def places(self, found: Sequence[ShardScores]) -> list[Ints]:
        """[shard] [video] where it stands when files are read in their order."""
        videos = [name for shard in found for name in shard.videos]
        order = file_order(videos, np.concatenate([shard.with_dags for shard in found]))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        return np.split(place, np.cumsum([len(shard.videos) for shard in found])[:-1])

    @staticmethod
    def together(listings: Sequence[AnswerCounts]) -> VideosAlone:
        return VideosAlone(AnswerCounts.together(listings))


def keys_apart(run: Path, name: str) -> bool:
    """In a worker: does every key that came with a node of a shard name its video, so that no other shard has it?"""
    bank, folder = corpus(run)[0], Run(run).decomposed / name
    names = bank.names.gather(NODES.only("video").read(folder)["video"])
    return bool((GIVEN.only("key").read(folder)["key"].str.replace("-[^-]*$", "") == names).all())
