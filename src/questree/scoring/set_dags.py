"""DAGs about image sets, in the shards they are stored in; and their questions alone, as COVR's tables score them."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import COVR
from questree.benchmarks.covr.splits import PATTERNS
from questree.metrics.answered import Missing, ModelAnswers
from questree.metrics.cells import Tallies, stacked
from questree.metrics.scores import Resampling, Score, Scored
from questree.metrics.sets import Commonest, covr_cells, covr_tallies, guessed
from questree.metrics.sets import answers_in as counted_answers
from questree.models.asked_runs import AskedRun
from questree.models.bots import taught
from questree.scoring.dag_shards import answers_in
from questree.scoring.image_sets import options_of
from questree.scoring.run_answers import AnsweringBots, bots_among
from questree.scoring.run_questions import answered_ids
from questree.scoring.set_counts import first_asked, image_places
from questree.scoring.shard_tasks import ShardAnswers, ShardScores
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.set_hierarchies import set_part, set_shards
from questree.tables.image_questions import QuestionChunk
from questree.tables.predictions import Stored
from questree.tables.questions import PROGRAM
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.workers import each

FEW = 4  # shards; as many take about as long as two processes to start (docs/cluster.md)
ASKED = ("number", "id", "split", "template", "answer", *PROGRAM, "images")


class SetListing(NamedTuple):
    """What is told of the questions of a shard, whoever answers."""

    images: list[tuple[int, int]]  # the first question about an image, and its row
    guesses: dict[str, Tallies]  # MAJ's and MAJTEMPL's


@dataclass(frozen=True)
class SetAlone:
    """The questions of a shard, each alone."""

    asked: pl.DataFrame  # number, id, template, answer, image, images, options
    known: pl.DataFrame  # id, key of those that were taken apart
    commonest: Commonest | None

    @property
    def listing(self) -> SetListing:
        said = guessed(self.commonest, self.asked) if self.commonest else {}
        guesses = {name: covr_tallies(self.asked, own) for name, own in said.items()}
        return SetListing(first_asked(self.asked), guesses)

    def tallies(self, read: ModelAnswers, missing: Missing) -> Tallies:
        given = answered_ids(self.known["id"], read.words, read.by_key[self.known["key"].to_numpy()])
        return covr_tallies(self.asked, given, missing == "skip")


@dataclass(frozen=True)
class SetsAlone:
    """The questions of all shards; beside the models MAJ and MAJTEMPL, if there is something to learn from."""

    listings: Sequence[SetListing]

    def scored(self, parts: Sequence[Tallies]) -> Scored:
        tallies = stacked(parts, image_places([own.images for own in self.listings]))
        return Scored(tallies, covr_cells(tallies, list(PATTERNS)))

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
    scored_alone: bool = False
    commonest: Commonest | None = None  # answers of train, if there is anything to learn from
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
        learnt = each(pool, "answers of train", "shard", names, count_learnt, run.folder) if alone else []
        known = pl.concat(learnt) if learnt else pl.DataFrame()
        own = cls(run.folder, names, alone, Commonest.of(known) if len(known) else None)
        if not bots:
            return own
        place = left.enter_context(where_workers_see(run.predictions))
        return replace(own, bots=AnsweringBots(taught(AskedRun(run.folder, place, True), bots, pool), bots))

    def part(self, name: str, split: str | None) -> RunHierarchies:
        dags, named = set_part(self.run, name, split)
        return RunHierarchies(Run(self.run), dags, [named])

    def inside(self, name: str, tops: pl.DataFrame, split: str) -> NDArray[np.bool_]:
        return (tops["split"] == split).to_numpy()

    def stored(self, name: str, model: str) -> Stored:
        now = self.bots and self.bots.answers(model, name)
        return now or Stored.believed(Run(self.run), model)

    def alone(self, name: str, asked: RunHierarchies, split: str | None) -> SetAlone | None:
        if not self.scored_alone:
            return None
        table = QuestionChunk(self.run, name).selected(False, *ASKED)
        table = table if split is None else table.filter(split=split)
        first, number = pl.col("images").list.first().fill_null(0), pl.col("images").list.len()
        own = table.select("number", "id", "template", "answer", image=first, images=number, options=options_of(table))
        known = own.select("id").join(asked.named[0].asked, on="id", how="inner", maintain_order="left")
        return SetAlone(own, known, self.commonest) if len(own) else None

    def answers(self, name: str, split: str | None) -> ShardAnswers:
        return answers_in(self.part(name, split).hierarchies)

    def places(self, found: Sequence[ShardScores]) -> None:
        """Images are in the order of the shards."""

    @staticmethod
    def together(listings: Sequence[SetListing]) -> SetsAlone:
        return SetsAlone(listings)


def count_learnt(run: Path, name: str) -> pl.DataFrame:
    """In a worker: template, answer, len of the questions of train in a shard."""
    return counted_answers(
        QuestionChunk(run, name).selected(False, "split", "template", "answer", "id").filter(split="train")
    )
