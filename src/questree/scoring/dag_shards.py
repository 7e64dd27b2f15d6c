"""What the DAGs of a run are shared out by, whatever they are about, and their questions alone."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import Missing, ModelAnswers
from questree.metrics.cells import Ints, Tallies
from questree.metrics.scores import Resampling, Score, Scored
from questree.scoring.answer_kinds import answers_by_type
from questree.scoring.compared import used_words
from questree.scoring.shard_tasks import ShardAnswers, ShardScores
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.tables.hierarchies import Hierarchies
from questree.tables.predictions import Stored
from questree.tables.run import Run


class AloneQuestions(Protocol):
    """The questions of a shard, each alone."""

    @property
    def listing(self) -> Any:
        """What needs no predictions."""

    def tallies(self, read: ModelAnswers, missing: Missing) -> Tallies:
        """Of a model's answers to the DAGs of the shard."""


class AloneScores(Protocol):
    """The questions of all shards, each alone."""

    def scored(self, parts: Sequence[Tallies]) -> Scored:
        """Of the tallies of all shards that have questions."""

    def rows(self, found: Scored, model: str, how: Resampling | None) -> list[Score]: ...

    def baseline(self, how: Resampling | None) -> list[Score]:
        """What needs no predictions."""


class RunDags(Protocol):
    """The DAGs of a run, in shards; small enough to send anywhere that sees the run."""

    tells_errors: ClassVar[bool]  # are there kinds of errors?

    def part(self, name: Any, split: str | None) -> RunHierarchies:
        """The DAGs of a shard, or those of one split."""

    def stored(self, name: Any, model: str) -> Stored:
        """What a stored model or a bot answers in a shard."""

    def alone(self, name: Any, asked: RunHierarchies, split: str | None) -> AloneQuestions | None:
        """The questions of a shard, each alone; nothing if none are asked or wanted."""

    def answers(self, name: Any, split: str | None) -> ShardAnswers:
        """The answers there are in a shard, before all of them know about each other."""

    def places(self, found: Sequence[ShardScores]) -> list[Ints] | None:
        """[shard] [video] where it stands among all, if not as they come."""

    @classmethod
    def count(cls, run: Run) -> int:
        """How many shards there are, or so."""

    @classmethod
    def many(cls, run: Run) -> bool:
        """Do processes pay?"""

    @classmethod
    def ids_apart(cls, run: Run, pool: Executor | None) -> bool:
        """Has every shard ids of its own?"""

    @classmethod
    def shared(
        cls, run: Run, models: Sequence[str], split: str | None, alone: bool, left: ExitStack, pool: Executor | None
    ) -> Self:
        """Those of a run, for these models; what is needed for it on the way is left to be removed, once nobody in the
        pool works any more."""

    @staticmethod
    def together(listings: Sequence[Any]) -> AloneScores:
        """Of the listings of all shards that have questions."""

    def at_once(self) -> Self:
        """The same with one shard that holds everything."""

    @property
    def names(self) -> Sequence[Any]:
        """The shards, in their order."""

    def inside(self, name: Any, tops: pl.DataFrame, split: str) -> NDArray[np.bool_]:
        """[question of a shard] is it of a split?"""


def answers_in(dags: Hierarchies) -> ShardAnswers:
    return ShardAnswers(dags.words, used_words(dags), answers_by_type(dags))
