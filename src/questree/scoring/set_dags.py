"""DAGs about image sets, in the shards they are stored in; and their questions alone, as COVR's tables score them."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import COVR
from questree.benchmarks.covr.splits import PATTERNS
from questree.metrics.answered import Missing, ModelAnswers
from questree.metrics.cells import Ints, Tallies, stacked
from questree.metrics.scores import Resampling, Score, Scored
from questree.metrics.sets import Commonest, covr_cells, covr_tallies, guessed
from questree.models.asked_runs import AskedRun
from questree.models.bots import taught
from questree.scoring.dag_shards import answers_in
from questree.scoring.dealt_questions import QuestionDeal, deal_all
from questree.scoring.run_answers import AnsweringBots, bots_among
from questree.scoring.run_questions import answered_ids
from questree.scoring.shard_tasks import ShardAnswers, ShardScores
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.set_hierarchies import set_part, set_shards, shard_begins
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see

FEW = 4  # shards; as many take about as long as two processes to start (docs/cluster.md)


class SetListing(NamedTuple):
    """What is told of the questions of a shard, whoever answers."""

    images: list[int]  # rows of their first images, in the order of the questions
    first: list[int]  # [image] the first question about it
    guesses: dict[str, Tallies]  # MAJ's and MAJTEMPL's


@dataclass(frozen=True)
class SetAlone:
    """The questions of a shard, each alone."""

    asked: pl.DataFrame
    known: pl.DataFrame  # id, key of those that were taken apart
    commonest: Commonest | None

    @property
    def listing(self) -> SetListing:
        first = self.asked.unique("image", keep="first", maintain_order=True)
        said = guessed(self.commonest, self.asked) if self.commonest else {}
        guesses = {name: covr_tallies(self.asked, own) for name, own in said.items()}
        return SetListing(first["image"].to_list(), first["row"].to_list(), guesses)

    def tallies(self, read: ModelAnswers, missing: Missing) -> Tallies:
        given = answered_ids(self.known["id"], read.words, read.by_key[self.known["key"].to_numpy()])
        return covr_tallies(self.asked, given, missing == "skip")


@dataclass(frozen=True)
class SetsAlone:
    """The questions of all shards; beside the models MAJ and MAJTEMPL, if there is something to learn from."""

    listings: Sequence[SetListing]

    def scored(self, parts: Sequence[Tallies]) -> Scored:
        tallies = stacked(parts, self.places)
        return Scored(tallies, covr_cells(tallies, list(PATTERNS)))

    @property
    def places(self) -> list[Ints]:
        """[shard] [image] where it stands among all, in the order of the questions of all shards."""
        met = dict[int, int]()
        for own in self.listings:
            for image, first in zip(own.images, own.first, strict=True):
                met[image] = min(first, met.get(image, first))
        place = {image: at for at, image in enumerate(sorted(met, key=met.__getitem__))}
        return [np.array([place[image] for image in own.images], np.int64) for own in self.listings]

    def rows(self, found: Scored, model: str, how: Resampling | None) -> list[Score]:
        return found.rows(model, how)

    def baseline(self, how: Resampling | None) -> list[Score]:
        names = self.listings[0].guesses if self.listings else {}
        scored = {name: self.scored([own.guesses[name] for own in self.listings]) for name in names}
        return [row for name, own in scored.items() for row in own.rows(name, how)]


@dataclass(frozen=True)
class SetDags:
    run: Path
    names: tuple[str, ...]
    questions: QuestionDeal | None = None  # if they are scored alone, too
    bots: AnsweringBots | None = None

    tells_errors: ClassVar[bool] = False

    @classmethod
    def count(cls, run: Run) -> int:
        return len(set_shards(run))

    @classmethod
    def many(cls, run: Run) -> bool:
        return len(set_shards(run)) > FEW

    @classmethod
    def ids_apart(cls, run: Run, pool: Executor | None) -> bool:
        """Has every shard ids of its own?"""
        return True

    @classmethod
    def shared(
        cls, run: Run, models: Sequence[str], split: str | None, alone: bool, left: ExitStack, pool: Executor | None
    ) -> Self:
        names, bots = tuple(folder.name for folder in set_shards(run)), bots_among(run, COVR, models)
        scratch = left.enter_context(where_workers_see(run.predictions))
        asked = deal_all(run, split, shard_begins(run), scratch, pool) if alone else None
        now = AnsweringBots(taught(AskedRun(run.folder, scratch, True), bots, pool), bots) if bots else None
        return cls(run.folder, names, asked, now)

    def part(self, name: str, split: str | None) -> RunHierarchies:
        dags, named = set_part(self.run, name, split)
        return RunHierarchies(Run(self.run), dags, [named])

    def inside(self, name: str, tops: pl.DataFrame, split: str) -> NDArray[np.bool_]:
        return (tops["split"] == split).to_numpy()

    def stored(self, name: str, model: str) -> Stored:
        now = self.bots and self.bots.answers(model, name)
        return now or Stored.believed(Run(self.run), model)

    def alone(self, name: str, asked: RunHierarchies, split: str | None) -> SetAlone | None:
        if self.questions is None:
            return None
        own = self.questions.questions(self.names.index(name))
        known = own.select("id").join(asked.named[0].asked, on="id", how="inner", maintain_order="left")
        return SetAlone(own, known, self.questions.commonest) if len(own) else None

    def answers(self, name: str, split: str | None) -> ShardAnswers:
        return answers_in(self.part(name, split).hierarchies)

    def places(self, found: Sequence[ShardScores]) -> None:
        """Images are in the order of the shards."""

    @staticmethod
    def together(listings: Sequence[SetListing]) -> SetsAlone:
        return SetsAlone(listings)
