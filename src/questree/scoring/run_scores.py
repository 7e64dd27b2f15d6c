"""Models and bots scored on the questions and DAGs of a run, as the papers' tables do: read once for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from questree.benchmarks import Benchmark
from questree.faults import Fault
from questree.metrics.answered import Missing
from questree.metrics.cells import Ints
from questree.metrics.scores import Coverage, Score, Scored
from questree.scoring.compared import OnePolicy, lacking, silent
from questree.scoring.dag_scores import PART, run_dags
from questree.scoring.dag_shards import AloneScores, RunDags
from questree.scoring.run_shards import ReadModel, ShardsTogether
from questree.tables.run import Run


@dataclass(frozen=True)
class How(OnePolicy):
    """The choices behind the numbers; the seed is also that of the choice of failures and texts."""

    split: str | None = "test"  # of which videos or images; None for all


@dataclass(frozen=True)
class ModelScores:
    model: str
    scored: Scored  # of the DAGs
    dags: list[Score]
    scored_alone: Scored  # of every question alone
    alone: list[Score]
    per_dag: Ints  # [accuracy, consistency] how many DAGs
    coverage: Coverage
    unread: float | None  # share of the predictions that are no answer in the policy's reading
    sample: bool = False  # was it asked some questions only?


@dataclass(frozen=True)
class RunScores:
    """What models and bots of a run got, and what needs no predictions."""

    models: list[ModelScores]
    baseline: list[Score]

    @classmethod
    def of(cls, run: Run, benchmark: Benchmark, how: How, names: Sequence[str], workers: int = 2) -> "RunScores":
        dags: type[RunDags] = benchmark.part(PART)
        found = run_dags(run, benchmark, names, how.split, how, workers, errors=dags.tells_errors, alone=True)
        there = [shard.listing.alone for shard in found.shards if shard.listing.alone is not None]
        alone = dags.together(there)
        models = [_model(found, alone, read, how) for read in found.read((), silent, strict=False)]
        return cls(models, alone.baseline(how.resampling))


def _model(found: ShardsTogether, every: AloneScores, read: ReadModel, how: How) -> ModelScores:
    scored = found.scores([own.tallies for own in read.counts])
    alone = every.scored([own.alone for own in read.counts if own.alone is not None])
    rows, of_alone = scored.rows(read.model, how.resampling), every.rows(alone, read.model, how.resampling)
    dags = np.sum([own.dags for own in read.counts if own.dags is not None], axis=0)
    about = read.coverage, read.unread, read.model in found.task.samples
    return ModelScores(read.model, scored, rows, alone, of_alone, dags, *about)


def gaps(found: Sequence[ModelScores], missing: Missing) -> list[Fault]:
    """All models that lack predictions, unless a missing one is wrong or left out, or they were asked a sample."""
    whole = [one for one in found if missing == "error" and not one.sample]
    short = [(one.model, one.coverage) for one in whole if one.coverage.missing]
    return [Fault(f"model {model}", lacking(coverage)) for model, coverage in short]
