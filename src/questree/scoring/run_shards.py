"""Models scored on a run shard by shard, anywhere: what comes together is counts per video or image, not questions.

Whether something said is an answer is a matter of all shards. Where that must be known before anything is read, in
files and by policies other than `exact`, a first round gathers the answers; the second one counts.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import polars as pl

from questree.metrics.cells import Cell, Ints, Tallies, stacked
from questree.metrics.scores import SHOWN, Coverage, Score, Scored
from questree.models.predictions import FieldNames, read_predictions
from questree.scoring.answer_kinds import kinds_by_type
from questree.scoring.compared import Given, OneModel, PredictionReader, Scoring, Tell, given_names, words_of
from questree.scoring.shard_tasks import (
    GivenFile,
    KnownAnswers,
    ModelCounts,
    ReadCounts,
    ScoringTask,
    ShardAnswers,
    ShardScores,
    answers_together,
    read_given,
    write_given,
)
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see
from questree.workers import each, whole

Task = TypeVar("Task", bound=ScoringTask)


@contextmanager
def given_files(given: Sequence[Given], how: Scoring, beside: Path | None = None) -> Iterator[tuple[GivenFile, ...]]:
    """Predictions, each file read once; `beside`: next to what workers see them, if there are several shards."""
    named, fields = [*zip(given, given_names(given), strict=True)], FieldNames(how.id_column, how.answer_column)
    if beside is None or not given:
        read = (read_predictions(one, name, fields) if isinstance(one, Path) else one for one, name in named)
        yield tuple(GivenFile(own.model, len(own.table), own.duplicates, own.table) for own in read)
        return
    with where_workers_see(beside) as folder:
        yield tuple(
            whole(read_given, one, name, fields, folder / f"{at:04d}")
            if isinstance(one, Path)
            else write_given(one, folder / f"{at:04d}")
            for at, (one, name) in enumerate(named)
        )


class ShardWork(NamedTuple):
    """What workers do with a shard: its name, or a chunk."""

    answers: Callable[[Any, Any], ShardAnswers | None]
    score: Callable[[Any, Any], ShardScores]
    told: Callable[[Any, Sequence[ShardAnswers]], Any]  # the task with what all shards say about answers


def counted(
    work: ShardWork, task: Task, shards: Sequence[Any], pool: Executor | None, unknown: bool
) -> tuple[Task, list[ShardScores]]:
    """The task with what it must know, and the counts of all shards that have questions; `unknown`: must it know what
    an answer is?"""
    if unknown:
        task, shards = knowing(work, task, shards, pool)
    return task, [own for own in each(pool, "scoring", "shard", shards, work.score, task) if own.listing is not None]


def knowing(work: ShardWork, task: Task, shards: Sequence[Any], pool: Executor | None) -> tuple[Task, list[Any]]:
    """The task that knows what an answer is in any shard, and the shards that have some."""
    seen = each(pool, "answers", "shard", shards, work.answers, task)
    there = [own for own in seen if own]
    told = work.told(task, there) if there else task
    return told, [shard for shard, own in zip(shards, seen, strict=True) if own and own.asked]


def with_answers(task: Task, seen: Sequence[ShardAnswers]) -> Task:
    return replace(task, known=known_answers(task, seen))


def known_answers(task: ScoringTask, seen: Sequence[ShardAnswers]) -> KnownAnswers:
    """The answers of all shards, and of what kind those of each type are."""
    pairs = pl.concat(own.by_type for own in seen if own.by_type is not None).unique()
    return KnownAnswers(answers_together(seen), kinds_by_type(pairs, words_of(task.how)))


class ReadModel(NamedTuple):
    """A model under a policy."""

    name: str
    about: list[Score]  # rows about coverage
    model: str  # without the policy
    coverage: Coverage
    unread: float | None  # share of the predictions that are no answer
    counts: Sequence[ReadCounts]  # [shard]


@dataclass(frozen=True)
class ShardsTogether:
    """The counts of all shards of a corpus."""

    task: ScoringTask
    shards: Sequence[ShardScores]
    cells: Callable[[Tallies], list[Cell]]
    places: Sequence[Ints] | None = None  # [shard] [video] where it stands among all, if not as they come

    def scored(self, files: Sequence[Given], say: Tell) -> Iterator[OneModel]:
        """Stored models and files under every policy, as if all shards had been read at once."""
        for read in self.read(files, say):
            yield read.name, self.scores([own.tallies for own in read.counts]), read.about

    def scores(self, parts: Sequence[Tallies]) -> Scored:
        tallies = stacked(parts, self.places)
        return Scored(tallies, self.cells(tallies))

    def read(self, files: Sequence[Given], say: Tell, strict: bool = True) -> Iterator[ReadModel]:
        """`strict`: a model that lacks predictions is refused if it must have all of them."""
        task, run = self.task, Run(self.task.run)
        reader = PredictionReader(pl.Series(), pl.Series(), self.answers, task.how, say, samples=task.samples)
        for at, name in enumerate(task.models):
            parts = [shard.models[at] for shard in self.shards]
            coverage = self.coverage(parts)
            if strict:
                reader.tell(run.predictions / name, name, coverage, "")
            yield from self._readings(reader, name, coverage, parts, None if task.known else _unread(parts, reader))
        for at, (place, one) in enumerate(zip(files, task.files, strict=True), len(task.models)):
            parts = [shard.models[at] for shard in self.shards]
            coverage = self.coverage(parts, one.predictions - sum(part.here for part in parts))
            twice = f", {one.duplicates:,} repeated ids (the last counts)" if one.duplicates else ""
            reader.tell(place if isinstance(place, Path) else place.place, one.model, coverage, twice)
            yield from self._readings(reader, one.model, coverage, parts)

    @property
    def answers(self) -> tuple[str, ...]:
        return answers_together([shard.answers for shard in self.shards])

    def coverage(self, parts: Sequence[ModelCounts], unknown: int = 0) -> Coverage:
        late = dict(pair for counts in parts for pair in counts.late)
        lacking = sorted((key for counts in parts for key in counts.lacking), key=lambda key: late.get(key, -1))
        needed, found = (sum(getattr(counts, name) for counts in parts) for name in ("needed", "found"))
        return Coverage(needed, found, unknown, tuple(lacking[:SHOWN]))

    def _readings(
        self,
        reader: PredictionReader,
        name: str,
        coverage: Coverage,
        parts: Sequence[ModelCounts],
        unread: tuple[int, int] | None = None,
    ) -> Iterator[ReadModel]:
        """A model under every policy; `unread`: where shards could not tell."""
        for at, policy in enumerate(reader.how.policies):
            own = [part.policies[at] for part in parts]
            lost, count = unread or (sum(read.lost for read in own), sum(read.read for read in own))
            called, rows = reader.about(name, policy, coverage, lost, count)
            yield ReadModel(called, rows, name, coverage, lost / count if count else None, own)


def _unread(parts: Sequence[ModelCounts], reader: PredictionReader) -> tuple[int, int]:
    """How many predictions are no answer, and how many there are."""
    known = {*reader.answers, *reader.reader.words}
    lost = sum(times for part in parts for word, times in part.said.items() if word not in known)
    return lost, sum(times for part in parts for times in part.said.values())


def stored_in(run: Run, models: Sequence[str]) -> None:
    """Says so if a model is not there, or answered other nodes than the run has now."""
    for name in models:
        Stored.of(run, name)
