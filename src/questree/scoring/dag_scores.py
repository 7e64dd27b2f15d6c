"""Models scored on DAGs, shard by shard; those of a run."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import NamedTuple

from questree.benchmarks import Benchmark
from questree.faults import BadInput
from questree.metrics import catalogue
from questree.metrics.answered import Listing
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Cell, Tallies
from questree.metrics.dags import dag_cells
from questree.metrics.errors import error_cells
from questree.metrics.scores import Scored
from questree.rules.schemes import SCHEMES
from questree.scoring.compared import Given, Scoring, for_run, silent
from questree.scoring.dag_shards import RunDags
from questree.scoring.run_answers import bots_among
from questree.scoring.run_shards import ShardsTogether, ShardWork, counted, given_files, stored_in, with_answers
from questree.scoring.shard_counts import DagTask, score_shard, shard_answers
from questree.scoring.shard_tasks import ShardScores
from questree.stages.decompose.hierarchies import nothing_asked
from questree.tables.predictions import samples
from questree.tables.run import Run
from questree.workers import shared_out

DAGS = ShardWork(shard_answers, score_shard, with_answers)
PART = "DAG shards"  # of a benchmark


def run_dags(
    run: Run,
    benchmark: Benchmark,
    models: Sequence[str],
    split: str | None,
    how: Scoring,
    workers: int,
    files: Sequence[Given] = (),
    errors: bool = False,
    alone: bool = False,
) -> ShardsTogether:
    """Stored models, bots that answer now and files on the DAGs of a run; `alone`: every question alone, too."""
    stored_or_bots(run, benchmark, models)
    with shared_dags(run, benchmark, models, split, how, workers, files, errors, alone) as dags:
        return dags.together()


def scored_bots(
    run: Run, benchmark: Benchmark, names: Sequence[str], split: str | None, how: Scoring
) -> dict[str, Scored]:
    """Bots that answer the DAGs of a run now."""
    found = run_dags(run, benchmark, names, split, replace(how, policy="exact"), 2)
    models = found.read((), silent, strict=False)
    return {read.model: found.scores([counts.tallies for counts in read.counts]) for read in models}


def stored_or_bots(run: Run, benchmark: Benchmark, names: Sequence[str]) -> None:
    """Says so if one that is no bot is not there, or answered other nodes than the run has now."""
    bots = {own.model for own in bots_among(run, benchmark, names)}
    stored_in(run, [name for name in names if name not in bots])


class SharedDags(NamedTuple):
    """The DAGs of a run, shared out."""

    task: DagTask  # what workers are sent with each of its shards
    shards: RunDags
    pool: Executor | None  # who works
    empty: BadInput  # what is wrong if there are no questions

    def together(self) -> ShardsTogether:
        """The counts of all shards, which must know what an answer is to read files or free text."""
        unknown = bool(self.task.files or self.task.how.policies != ("exact",))
        task, found = counted(DAGS, self.task, self.shards.names, self.pool, unknown)
        if not any(shard.videos for shard in found):
            raise self.empty
        return ShardsTogether(task, found, cells_of(found, task.errors), task.dags.places(found))


@contextmanager
def shared_dags(
    run: Run,
    benchmark: Benchmark,
    models: Sequence[str],
    split: str | None,
    how: Scoring,
    workers: int,
    files: Sequence[Given] = (),
    errors: bool = False,
    alone: bool = False,
) -> Iterator[SharedDags]:
    """For these models and files; `alone`: every question is to be counted alone, too."""
    shards: type[RunDags] = benchmark.part(PART)
    with (
        ExitStack() as left,
        given_files(files, how, run.predictions) as given,
        shared_out(workers if shards.many(run) else 1, shards.count(run)) as pool,
    ):
        dags = shards.shared(run, models, split, alone, left, pool)
        if files and not shards.ids_apart(run, pool):
            dags = dags.at_once()
        shared = run.folder, split, for_run(run, how), tuple(models), given, samples(run), unscored_types()
        task = DagTask(*shared, dags=dags, errors=errors, alone=alone)
        yield SharedDags(task, dags, pool, nothing_asked(benchmark.place(run, "decomposed"), split))


def unscored_types() -> tuple[str, ...]:
    return tuple(sorted({type for known in SCHEMES.values() for type in known.unscored}))


def cells_of(found: Sequence[ShardScores], errors: bool) -> Callable[[Tallies], list[Cell]]:
    """The cells of DAGs over what was counted in all shards."""
    listing = Listing.together([shard.listing.dags for shard in found])

    def cells(tallies: Tallies) -> list[Cell]:
        more = error_cells(tallies) if errors else []
        return [*dag_cells(tallies, listing), *more, *catalogue.cells(tallies.columns, METRICS.values())]

    return cells
