"""Models scored on the DAGs of a run shard by shard, anywhere: what comes together is counts per video, not questions.

Whether something said is an answer is a matter of all shards. Where that must be known before anything is read, in
files and by policies other than `exact`, a first round gathers the answers; the second one counts.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.metrics.answered import Listing
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Tallies, stacked
from questree.metrics.dags import dag_cells
from questree.metrics.scores import SHOWN, Coverage, Scored
from questree.models.predictions import FieldNames
from questree.progress import watch
from questree.rules.schemes import VIDEO_DAGS
from questree.scoring.answer_kinds import kinds_by_type
from questree.scoring.compared import OneModel, PredictionReader, Scoring, Tell, for_run, names, words_of
from questree.scoring.shard_counts import (
    GivenFile,
    KnownAnswers,
    ModelCounts,
    ScoringTask,
    ShardAnswers,
    ShardScores,
    score_shard,
    shard_answers,
    write_given,
)
from questree.stages.decompose.hierarchies import dags_given, file_order, many, shards
from questree.stages.questions import Bank
from questree.tables.predictions import Stored, samples
from questree.tables.run import Run
from questree.tables.store import scratch
from questree.workers import in_parallel, over, processes, whole

Result = TypeVar("Result")


def in_shards(run: Run, files: Sequence[Path]) -> bool:
    """Can the counts of shards be added up? Metrics of plugins look at all questions at once, and the same id may be in
    several shards of imported DAGs."""
    return not METRICS and not (files and dags_given(run))


def scored_in_shards(
    run: Run,
    models: Sequence[str],
    split: str | None,
    how: Scoring,
    say: Tell,
    workers: int = 2,
    files: Sequence[Path] = (),
) -> Iterator[OneModel]:
    """Stored models and files on the DAGs of a run about videos, as if all of these had been read at once."""
    stored, own = [Stored.of(run, name) for name in models], for_run(run, how)
    Bank(run)  # says so if the questions are of other facts
    more = samples(run), tuple(sorted(VIDEO_DAGS.unscored))
    with _given(run, files, how) as given:
        task = ScoringTask(run.folder, split, own, tuple(models), tuple(given), *more)
        task, found = _counted(run, task, workers)
    if not found:
        raise BadInput.at(run.decomposed, f"no questions of the split {split}" if split else "no questions")
    together = _Together(found)
    reader = PredictionReader(pl.Series(), pl.Series(), together.answers, own, say, samples=task.samples)
    for at, (model, name) in enumerate(zip(stored, models, strict=True)):
        parts = [shard.models[at] for shard in found]
        reader.tell(model.folder, name, coverage := together.coverage(parts), "")
        unread = None if task.known else _unread(model.words, np.sum([part.said for part in parts], axis=0), reader)
        yield from _readings(reader, name, coverage, together, parts, unread)
    for at, (file, one) in enumerate(zip(files, given, strict=True), len(models)):
        parts = [shard.models[at] for shard in found]
        coverage = together.coverage(parts, one.predictions - sum(part.here for part in parts))
        twice = f", {one.duplicates:,} repeated ids (the last counts)" if one.duplicates else ""
        reader.tell(file, one.model, coverage, twice)
        yield from _readings(reader, one.model, coverage, together, parts)


@contextmanager
def _given(run: Run, files: Sequence[Path], how: Scoring) -> Iterator[list[GivenFile]]:
    """Predictions of files, each read once; in the run's folder only if workers elsewhere must see them."""
    if not files:
        yield []
        return
    with scratch(run.predictions) if in_parallel(1) else TemporaryDirectory() as folder:
        called, place = (
            FieldNames(how.id_column, how.answer_column),
            Path(folder) if isinstance(folder, str) else folder,
        )
        named = enumerate(zip(files, names(files), strict=True))
        yield [whole(write_given, file, name, called, place / f"{at:04d}") for at, (file, name) in named]


def _counted(run: Run, task: ScoringTask, workers: int) -> tuple[ScoringTask, list[ShardScores]]:
    """The task with what it must know, and the counts of all shards that have questions."""
    shard_names, workers = [folder.name for folder in shards(run)], workers if many(shards(run)) else 1
    if task.files or task.how.policies != ("exact",):
        seen = [own for own in _each(shard_answers, task, "answers", shard_names, workers) if own]
        task = replace(task, known=known_answers(task, seen)) if seen else task
        shard_names = shard_names if seen else []
    return task, [own for own in _each(score_shard, task, "scoring", shard_names, workers) if own.videos]


def _each(
    work: Callable[[ScoringTask, str], Result], task: ScoringTask, label: str, names: Sequence[str], workers: int
) -> list[Result]:
    if not in_parallel(workers) or len(names) < 2:
        return [work(task, name) for name in watch(names, label, len(names))]
    with processes(workers) as pool:
        return over(pool, label, "shard", names, work, task)


def known_answers(task: ScoringTask, seen: Sequence[ShardAnswers]) -> KnownAnswers:
    """The answers of all shards, and of what kind those of each type are."""
    used = np.any([own.used for own in seen], axis=0)
    words = pl.Series(seen[0].words, dtype=pl.String).filter(pl.Series(used))
    pairs = pl.concat(own.by_type for own in seen).unique()
    return KnownAnswers(tuple(words), kinds_by_type(pairs, words_of(task.how)))


class _Together:
    """What shards have in common with each other, whoever answers."""

    def __init__(self, shards: Sequence[ShardScores]):
        videos = [name for shard in shards for name in shard.videos]
        self.order = file_order(videos, np.concatenate([shard.with_dags for shard in shards]))
        self.listing = Listing.together([shard.listing for shard in shards])
        used = np.any([shard.used for shard in shards], axis=0)
        self.answers = pl.Series(shards[0].words, dtype=pl.String).filter(pl.Series(used)).to_list()
        self.needed = sum(shard.needed for shard in shards)

    def coverage(self, parts: Sequence[ModelCounts], unknown: int = 0) -> Coverage:
        lacking = [key for counts in parts for key in counts.lacking]
        return Coverage(self.needed, sum(counts.found for counts in parts), unknown, tuple(lacking[:SHOWN]))

    def scored(self, parts: Sequence[Tallies]) -> Scored:
        tallies = stacked(parts)
        tallies = Tallies(tallies.columns, tallies.passed[self.order], tallies.total[self.order])
        return Scored(tallies, dag_cells(tallies, self.listing))


def _unread(words: Sequence[str], times: NDArray[np.int64], reader: PredictionReader) -> tuple[int, int]:
    """How many predictions are no answer, and how many there are; `times`: [word] said."""
    meant = pl.Series(words, dtype=pl.String).is_in([*reader.answers, *reader.reader.words]).to_numpy()
    return int(times[~meant].sum()), int(times.sum())


def _readings(
    reader: PredictionReader,
    name: str,
    coverage: Coverage,
    together: _Together,
    parts: Sequence[ModelCounts],
    unread: tuple[int, int] | None = None,
) -> Iterator[OneModel]:
    """A model under every policy; `unread`: where shards could not tell."""
    for at, policy in enumerate(reader.how.policies):
        own = [part.policies[at] for part in parts]
        lost, count = unread or (sum(read.lost for read in own), sum(read.read for read in own))
        model, rows = reader.about(name, policy, coverage, lost, count)
        yield model, together.scored([read.tallies for read in own]), rows
