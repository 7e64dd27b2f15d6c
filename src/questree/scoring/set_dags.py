"""DAGs about image sets, dealt by chunks of images; and their questions alone, as COVR's tables score them."""

from collections.abc import Mapping, Sequence
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
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Ints, Tallies, stacked
from questree.metrics.scores import Resampling, Score, Scored
from questree.metrics.sets import Commonest, covr_cells, covr_tallies, guessed
from questree.models.asked_runs import AskedRun
from questree.models.bots import taught
from questree.scoring.dag_shards import answers_in
from questree.scoring.dealt_questions import ALONE, SIDES, QuestionDeal, deal_all
from questree.scoring.run_answers import AnsweringBots, Computed, bots_among
from questree.scoring.run_questions import answered_ids
from questree.scoring.run_shards import by_video
from questree.scoring.shard_tasks import ShardAnswers, ShardScores
from questree.stages.decompose.dealt_dags import DealtDags, chunks_in, deal_dags, many_chunks, rows_of
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.tables.predictions import IMAGE_SETS, Stored
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.tables.table import Table
from questree.workers import whole


class SetListing(NamedTuple):
    """What is told of the questions of a chunk, whoever answers."""

    images: list[int]  # rows of their first images, in the order of the questions
    first: list[int]  # [image] the first question about it
    guesses: dict[str, Tallies]  # MAJ's and MAJTEMPL's


@dataclass(frozen=True)
class SetAlone:
    """The questions of a chunk, each alone."""

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
    """The questions of all chunks; beside the models MAJ and MAJTEMPL, if there is something to learn from."""

    listings: Sequence[SetListing]

    def scored(self, parts: Sequence[Tallies]) -> Scored:
        tallies = stacked(parts, self.places)
        return Scored(tallies, covr_cells(tallies, list(PATTERNS)))

    @property
    def places(self) -> list[Ints]:
        """[chunk] [image] where it stands among all, in the order of the questions of all chunks."""
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
    """Chunks of images with what counts for them."""

    dealt: DealtDags
    models: tuple[str, ...]  # that are stored
    questions: QuestionDeal | None = None  # which are of which split, if that matters
    bots: AnsweringBots | None = None
    again: Mapping[int, int] | None = None  # nodes whose id others have before them, once that is known

    tells_errors: ClassVar[bool] = False

    @classmethod
    def count(cls, run: Run) -> int:
        return chunks_in(run)

    @classmethod
    def many(cls, run: Run) -> bool:
        return many_chunks(run)

    @classmethod
    def adds_up(cls, alone: bool) -> bool:
        """Can the counts of chunks be added up? Alone a question counts for the image it names first, not for the first
        one of its set: a metric of a plugin may look at questions in other chunks."""
        return not METRICS if alone else by_video()

    @classmethod
    def ids_apart(cls, run: Run, pool: Executor | None) -> bool:
        """Has every chunk ids of its own?"""
        return True

    @classmethod
    def shared(
        cls, run: Run, models: Sequence[str], split: str | None, alone: bool, left: ExitStack, pool: Executor | None
    ) -> Self:
        bots, scratch = bots_among(run, COVR, models), left.enter_context(where_workers_see(run.predictions))
        stored = [model for model in models if model not in {own.model for own in bots}]
        dealt = deal_dags(run, scratch, [run.predictions / model for model in stored], pool)
        asked = QuestionDeal(scratch, dealt.layout.cuts, split, alone) if alone or split is not None else None
        now = AnsweringBots(taught(AskedRun(run.folder, scratch, True, dealt), bots, pool), bots) if bots else None
        return cls(dealt, tuple(stored), asked and deal_all(run, asked, pool), now)

    @property
    def names(self) -> range:
        return self.dealt.chunks

    def part(self, name: int, split: str | None) -> RunHierarchies:
        wanted = None if split is None else self._ids(name, split)
        return self.dealt.hierarchies(name, wanted, self.again)

    def inside(self, name: int, tops: pl.DataFrame, split: str) -> NDArray[np.bool_]:
        return tops["id"].is_in(self._ids(name, split).implode()).to_numpy()

    def _ids(self, name: int, split: str) -> pl.Series:
        return self._questions(SIDES, name).filter(split=split)["id"]

    def stored(self, name: int, model: str) -> Stored:
        if now := self.bots and self.bots.answers(model, str(name), IMAGE_SETS):
            return now
        at = self.models.index(model)
        words = Stored.at(self.dealt.deal.answered[at]).words
        return Computed(Path(), words, {IMAGE_SETS: self.dealt.said(name, at)})

    def alone(self, name: int, asked: RunHierarchies, split: str | None) -> SetAlone | None:
        if self.questions is None or not self.questions.alone:
            return None
        own = self._questions(ALONE, name)
        known = own.select("id").join(asked.named[0].asked, on="id", how="inner", maintain_order="left")
        return SetAlone(own, known, self.questions.commonest) if len(own) else None

    def _questions(self, table: Table, chunk: int) -> pl.DataFrame:
        assert self.questions is not None
        return rows_of(table, self.questions.pieces, chunk)

    def answers(self, name: int, split: str | None) -> ShardAnswers:
        self.dealt.write_digests(name)
        return answers_in(self.part(name, split).hierarchies)

    def looked(self) -> Self:
        return replace(self, again=whole(self.dealt.repeated))

    def places(self, found: Sequence[ShardScores]) -> None:
        """Images are in the order of the chunks."""

    @staticmethod
    def together(listings: Sequence[SetListing]) -> SetsAlone:
        return SetsAlone(listings)
