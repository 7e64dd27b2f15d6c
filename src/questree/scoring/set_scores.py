"""Models scored on COVR's questions of a run, each alone, chunk by chunk; beside them MAJ and MAJTEMPL."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import polars as pl

from questree.benchmarks.covr.splits import PATTERNS
from questree.faults import BadInput
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Cell, Tallies
from questree.metrics.scores import Scored
from questree.metrics.sets import Commonest, answers_in, covr_cells
from questree.scoring.compared import Given, Scoring
from questree.scoring.image_sets import known_side, nothing_asked, of_records
from questree.scoring.run_shards import ShardsTogether, ShardWork, counted, given_files, stored_in
from questree.scoring.set_counts import SetTask, chunk_answers, counts_in, image_places, score_chunk
from questree.scoring.shard_tasks import KnownAnswers, ShardAnswers, ShardScores, answers_together
from questree.sources.covr import read_records
from questree.stages.split.image_sets import known_split
from questree.tables.image_questions import EMPTY, QuestionChunk, chunks
from questree.tables.predictions import samples
from questree.tables.run import Run
from questree.workers import shared_out

Task = TypeVar("Task", bound=SetTask)
FEW = 128  # shards, of 0.01 s a model each; starting processes for fewer does not pay (docs/cluster.md)


def with_commonest(task: Task, seen: Sequence[ShardAnswers]) -> Task:
    learnt = pl.concat(own.learnt for own in seen if own.learnt is not None)
    known = KnownAnswers(answers_together(seen), {})
    return replace(task, known=known, commonest=Commonest.of(learnt) if len(learnt) else None)


SETS = ShardWork(chunk_answers, score_chunk, with_commonest)


def sets_together(
    run: Run,
    models: Sequence[str],
    side: str,
    held_out: str,
    every: bool,
    how: Scoring,
    workers: int,
    files: Sequence[Given] = (),
) -> ShardsTogether:
    """The counts of all chunks with questions of one side of a run, or of what a split holds out of it."""
    known_side(side)
    # a metric of a plugin may look at all questions that name an image first, which may be in several shards
    parts = [QuestionChunk(run.folder, "")] if METRICS else chunks(run)
    if held_out:
        known_split(run, held_out)
    stored_in(run, models)
    with (
        given_files(files, how, run.predictions) as given,
        shared_out(workers if len(parts) > FEW else 1, len(parts)) as pool,
    ):
        task = SetTask(run.folder, side, how, tuple(models), given, samples(run), every=every, held_out=held_out)
        task, found = counted(SETS, task, parts, pool, unknown=True)
    if not found:
        refuse_empty(parts, every)
        raise nothing_asked(run, side, held_out)
    return of_chunks(task, found)


def records_together(place: Path, train: Path | None, how: Scoring, files: Sequence[Given]) -> ShardsTogether:
    """The counts of a file of questions, which are one shard; `train`: a file that baselines learn from."""
    asked, learnt = of_records(read_records(place)), None if train is None else of_records(read_records(train))
    with given_files(files, how) as given:
        task = SetTask(place, None, how, (), given, frozenset())
        seen = ShardAnswers.of(asked["answer"])._replace(learnt=answers_in(asked.clear() if learnt is None else learnt))
        task = with_commonest(task, [seen])
        return of_chunks(task, [counts_in(task, asked.with_row_index("number"))])


def of_chunks(task: SetTask, found: Sequence[ShardScores]) -> ShardsTogether:
    return ShardsTogether(task, found, _cells, image_places([shard.videos for shard in found]))


def refuse_empty(parts: Sequence[QuestionChunk], every: bool) -> None:
    """A selection without questions is no matter of sides."""
    if all(chunk.selected(every, "id").is_empty() for chunk in parts):
        raise BadInput.at(Run(parts[0].run).covr, EMPTY)


def baselines(found: ShardsTogether) -> dict[str, Scored]:
    """MAJ and MAJTEMPL, if there was anything to learn from."""
    return {name: found.scores([shard.listing[name] for shard in found.shards]) for name in found.shards[0].listing}


def _cells(tallies: Tallies) -> list[Cell]:
    return covr_cells(tallies, list(PATTERNS))
