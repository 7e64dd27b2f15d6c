"""Models scored on DAGs, shard by shard; those of a run."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from questree.benchmarks import Benchmark
from questree.faults import BadInput
from questree.metrics import catalogue
from questree.metrics.answered import Listing
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Cell, Tallies
from questree.metrics.dags import dag_cells
from questree.metrics.errors import error_cells
from questree.models.predictions import FieldNames
from questree.rules.schemes import SCHEMES
from questree.scoring.compared import Given, OneModel, Scoring, Tell, for_run
from questree.scoring.dag_shards import RunDags
from questree.scoring.run_answers import bots_among
from questree.scoring.run_shards import ShardsTogether, ShardWork, counted, given_files, stored_in, with_answers
from questree.scoring.shard_counts import DagTask, score_shard, shard_answers
from questree.stages.decompose.hierarchies import nothing_asked
from questree.tables.predictions import samples
from questree.tables.run import Run
from questree.workers import shared_out

DAGS = ShardWork(shard_answers, score_shard, with_answers)
PART = "DAG shards"  # of a benchmark


def in_shards(run: Run, own: Benchmark, given: Sequence[Given], workers: int = 1) -> bool:
    """Can the counts of shards be added up, and does every id of a file belong to one of them?"""
    dags: type[RunDags] = own.part(PART)
    if not given or not dags.adds_up(alone=False):
        return dags.adds_up(alone=False)
    with shared_out(workers if dags.many(run) else 1, dags.count(run)) as pool:
        return dags.ids_apart(run, pool)


def scored_in_shards(
    run: Run,
    own: Benchmark,
    models: Sequence[str],
    split: str | None,
    how: Scoring,
    say: Tell,
    workers: int = 2,
    files: Sequence[Given] = (),
    errors: bool = False,
) -> Iterator[OneModel]:
    """Stored models and files on the DAGs of a run, as if all of these had been read at once."""
    stored_in(run, models)
    with shared_dags(run, own, models, split, how, workers, files, errors) as dags:
        found = dags.together()
    yield from found.scored(files, say)


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
        """The counts of all shards."""
        unknown = bool(self.task.files or self.task.how.policies != ("exact",))
        return together(DAGS, self.task, self.shards.names, self.pool, self.empty, unknown)


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
        given_files(run.predictions, files, FieldNames(how.id_column, how.answer_column)) as given,
        shared_out(workers if shards.many(run) else 1, shards.count(run)) as pool,
    ):
        dags = shards.shared(run, models, split, alone, left, pool)
        shared = run.folder, split, for_run(run, how), tuple(models), given, samples(run), unscored_types()
        task = DagTask(*shared, dags=dags, errors=errors, alone=alone)
        yield SharedDags(task, dags, pool, nothing_asked(benchmark.place(run, "decomposed"), split))


def unscored_types() -> tuple[str, ...]:
    return tuple(sorted({type for known in SCHEMES.values() for type in known.unscored}))


def together(
    work: ShardWork, task: DagTask, names: Sequence[Any], pool: Executor | None, empty: BadInput, unknown: bool = True
) -> ShardsTogether:
    """The counts of all shards; `empty`: what is wrong if none of them has a question; `unknown`: must they know what
    an answer is?"""
    task, found = counted(work, task, names, pool, unknown)
    if not any(shard.videos for shard in found):
        raise empty
    listing = Listing.together([shard.listing.dags for shard in found])

    def cells(tallies: Tallies) -> list[Cell]:
        more = error_cells(tallies) if task.errors else []
        return [*dag_cells(tallies, listing), *more, *catalogue.cells(tallies.columns, METRICS.values())]

    return ShardsTogether(task, found, cells, task.dags.places(found))
