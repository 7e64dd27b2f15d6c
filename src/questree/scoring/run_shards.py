"""Stored models scored shard by shard, anywhere: what comes together is counts per video, never questions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.metrics.answered import Listing, Missing, answered, needed
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Tallies, stacked
from questree.metrics.dags import dag_cells, score_answered
from questree.metrics.scores import SHOWN, Coverage, Scored
from questree.models.stored import covered, said
from questree.progress import watch
from questree.rules.schemes import VIDEO_DAGS, unscored
from questree.scoring.compared import OneModel, PredictionReader, Scoring, Tell, for_run, used_words
from questree.stages.decompose.hierarchies import RunHierarchies, file_order, many, part, shards
from questree.stages.questions import Bank
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored, samples
from questree.tables.run import Run
from questree.workers import in_parallel, processes, results


@dataclass(frozen=True)
class ScoringTask:
    """What all shards of a run are scored with; small enough to send anywhere."""

    run: Path
    split: str | None
    models: tuple[str, ...]
    missing: tuple[Missing, ...]  # per model
    unscored: tuple[str, ...]  # types


class ModelCounts(NamedTuple):
    found: int  # needed keys with a prediction
    lacking: tuple[str, ...]  # some without
    said: NDArray[np.int64]  # [word of the model] how often
    tallies: Tallies


class ShardScores(NamedTuple):
    videos: list[str]
    with_dags: NDArray[np.bool_]  # [video]
    needed: int  # keys that some metric looks at
    words: list[str]  # of the run
    used: NDArray[np.bool_]  # [word] is it an answer, or an object asked about?
    listing: Listing
    models: list[ModelCounts]


NO_FLAGS = np.zeros(0, bool)
NOTHING_ASKED = ShardScores([], NO_FLAGS, 0, [], NO_FLAGS, Listing((), (), frozenset(), frozenset()), [])


def in_shards(how: Scoring) -> bool:
    """Can the counts of shards be added up? Other policies and metrics of plugins look at all questions at once."""
    return how.policy == "exact" and not METRICS


def scored_in_shards(
    run: Run, models: Sequence[str], split: str | None, how: Scoring, say: Tell, workers: int = 2
) -> Iterator[OneModel]:
    """Every stored model on the DAGs of a run about videos, as if all of them had been read at once."""
    stored, asked_some = [Stored.of(run, name) for name in models], samples(run)
    missing: tuple[Missing, ...] = tuple("skip" if name in asked_some else how.missing for name in models)
    task = ScoringTask(run.folder, split, tuple(models), missing, tuple(sorted(VIDEO_DAGS.unscored)))
    Bank(run)  # says so if the questions are of other facts
    names = [folder.name for folder in shards(run)]
    found = [shard for shard in _shards(task, names, workers if many(shards(run)) else 1) if shard.videos]
    if not found:
        raise BadInput.at(run.decomposed, f"no questions of the split {split}" if split else "no questions")
    order = file_order([name for shard in found for name in shard.videos], np.concatenate([s.with_dags for s in found]))
    used, listing = np.any([shard.used for shard in found], axis=0), Listing.together([s.listing for s in found])
    answers = pl.Series(found[0].words, dtype=pl.String).filter(pl.Series(used)).to_list()
    reader = PredictionReader(pl.Series(), pl.Series(), answers, for_run(run, how), say, samples=asked_some)
    for at, own in enumerate(stored):
        parts = [shard.models[at] for shard in found]
        reader.tell(own.folder, models[at], coverage := _coverage(found, parts), "")
        times = np.sum([counts.said for counts in parts], axis=0)
        meant = pl.Series(own.words, dtype=pl.String).is_in([*answers, *reader.reader.words]).to_numpy()
        lost = int(times[~meant].sum())
        model, rows = reader.about(models[at], how.policies[0], coverage, lost, int(times.sum()))
        tallies = stacked([counts.tallies for counts in parts])
        tallies = Tallies(tallies.columns, tallies.passed[order], tallies.total[order])
        yield model, Scored(tallies, dag_cells(tallies, listing)), rows


def _shards(task: ScoringTask, names: Sequence[str], workers: int) -> list[ShardScores]:
    if not in_parallel(workers) or len(names) == 1:
        return [score_shard(task, name) for name in watch(names, "scoring", len(names))]
    with processes(workers) as pool:
        return results({f"shard {name}": pool.submit(score_shard, task, name) for name in names}, "scoring")


def _coverage(shards: Sequence[ShardScores], parts: Sequence[ModelCounts]) -> Coverage:
    lacking = [key for counts in parts for key in counts.lacking]
    wanted, there = sum(shard.needed for shard in shards), sum(counts.found for counts in parts)
    return Coverage(wanted, there, 0, tuple(lacking[:SHOWN]))


def score_shard(task: ScoringTask, name: str) -> ShardScores:
    """In a worker: the counts of one shard."""
    with unscored(task.unscored):
        run = Run(task.run)
        dags, named = part(task.run, name, task.split)
        if dags.dags.is_empty() and dags.isolated.is_empty():
            return NOTHING_ASKED
        asked, wanted = RunHierarchies(run, dags, [named]), needed(dags)
        every, counted = needed(dags, scored=False), list[ModelCounts]()
        for model, missing in zip(task.models, task.missing, strict=True):
            given = said(asked, Stored.of(run, model))
            cover, answers = covered(asked, given), answered(dags, given, missing)
            times = np.bincount(given.by_key[every] - NOTHING, minlength=len(given.words) + 1)[1:]
            counted.append(ModelCounts(cover.found, cover.examples, times, score_answered(answers).tallies))
        with_dags = np.zeros(len(dags.videos), bool)
        with_dags[dags.dags["video"].to_numpy()] = True
        return ShardScores(dags.videos, with_dags, len(wanted), dags.words, used_words(dags), answers.listing, counted)
