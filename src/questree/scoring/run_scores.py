"""Models and bots scored on the questions and DAGs of a run, as the papers' tables do: read once for all of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from questree.benchmarks import Benchmark
from questree.faults import Fault
from questree.metrics.answered import Missing, answered
from questree.metrics.cells import Ints
from questree.metrics.dags import dag_counts, score_answered
from questree.metrics.scores import Coverage, Score, Scored
from questree.models.stored import covered, said
from questree.scoring.as_read import as_read, unread
from questree.scoring.compared import OnePolicy, lacking, of_run, silent
from questree.scoring.dag_scores import PART, shared_dags, stored_or_bots
from questree.scoring.dag_shards import AloneScores, RunDags
from questree.scoring.run_answers import answers_to
from questree.scoring.run_questions import scored_questions
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
        """Shard by shard, if that is the same."""
        dags: type[RunDags] = benchmark.part(PART)
        if not dags.adds_up(alone=True):
            return _at_once(run, benchmark, how, names)
        stored_or_bots(run, benchmark, names)
        errors = dags.tells_errors
        with shared_dags(run, benchmark, names, how.split, how, workers, errors=errors, alone=True) as shared:
            found = shared.together()
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


def _at_once(run: Run, benchmark: Benchmark, how: How, names: Sequence[str]) -> RunScores:
    corpus = of_run(run, how.split, benchmark.name, how, errors=benchmark.part(PART).tells_errors)
    questions, dags = scored_questions(run, benchmark, how.split), corpus.asked
    assert dags is not None
    found = list[ModelScores]()
    for model in names:
        stored = as_read(dags, answers_to(run, benchmark, model), corpus.reader, how.policy)
        given, sample = said(dags, stored), model in corpus.reader.samples
        missing: Missing = "skip" if sample else how.missing
        beside = answered(dags.hierarchies, given, missing)
        scored = score_answered(beside, corpus.more)
        alone, of_alone = questions.score(questions.said(stored), model, missing, how.resampling)
        lost, count = unread(dags, given, corpus.reader)
        about = covered(dags, given), lost / count if count else None, sample
        rows = scored.rows(model, how.resampling)
        found.append(ModelScores(model, scored, rows, alone, of_alone, dag_counts(beside), *about))
    return RunScores(found, questions.baseline(how.resampling))


def gaps(found: Sequence[ModelScores], missing: Missing) -> list[Fault]:
    """All models that lack predictions, unless a missing one is wrong or left out, or they were asked a sample."""
    whole = [one for one in found if missing == "error" and not one.sample]
    short = [(one.model, one.coverage) for one in whole if one.coverage.missing]
    return [Fault(f"model {model}", lacking(coverage)) for model, coverage in short]
