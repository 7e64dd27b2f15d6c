"""Predictions scored on released DAGs: one shard that holds all of a folder."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from questree.formats.decomp_cache import cached_hierarchies
from questree.formats.decomp_choices import read_choices
from questree.formats.decomp_files import hierarchy_files, read_hierarchies, read_texts, video_files
from questree.metrics.answered import Listing, Missing, ModelAnswers, answered
from questree.metrics.cells import Tallies
from questree.metrics.commonest import MODEL, answering, answers_learnt, commonest
from questree.metrics.dags import count_answered
from questree.metrics.errors import error_kinds
from questree.metrics.scores import Score
from questree.models.policies import QuestionTexts
from questree.scoring.answer_kinds import kinds_of_keys
from questree.scoring.compared import Given, Scoring, Tell, choices, dag_reader, looked_up, silent
from questree.scoring.dag_scores import cells_of
from questree.scoring.dag_shards import answers_in
from questree.scoring.run_shards import ShardsTogether, given_files, with_answers
from questree.scoring.shard_counts import DagListing
from questree.scoring.shard_tasks import ScoringTask, ShardScores, counts_of_models
from questree.tables.hierarchies import Hierarchies


def released_dags(folder: Path, say: Tell = silent, cache: bool = False) -> Hierarchies:
    """A folder of hierarchies; `cache`: perhaps from the user's cache."""
    return cached_hierarchies(folder, say) if cache else read_hierarchies(folder)


def score_released(
    folder: Path,
    files: Sequence[Given],
    how: Scoring,
    say: Tell,
    cache: bool = False,
    errors: bool = False,
    train: Path | None = None,
) -> tuple[ShardsTogether, list[Score]]:
    """The counts of a folder, and rows of Most-Likely if there are hierarchies it learns from; `cache`: large folders
    may be read from the user's cache; `errors`: kinds of errors are told apart."""
    dags = released_dags(folder, say, cache)
    more = [partial(error_kinds, choices=choices(read_choices(video_files(folder)), how))] if errors else []

    def count(read: pl.DataFrame | ModelAnswers, missing: Missing) -> Tallies:
        return count_answered(answered(dags, read, missing), more)

    with given_files(files, how) as given:
        task = with_answers(ScoringTask(folder, None, how, (), given, frozenset()), [answers_in(dags)])
        known = task.known
        assert known is not None
        reader = dag_reader(dags, known.words, how, released_texts(folder), lambda _: kinds_of_keys(dags, known.kinds))
        models = counts_of_models(task, reader, count)
    listing = DagListing(Listing.of(dags), None)
    shard = ShardScores(dags.videos, np.zeros(0, bool), answers_in(dags), listing, models)
    found = ShardsTogether(task, [shard], cells_of([shard], errors))
    if train is None:
        return found, []
    usual = answering(commonest(answers_learnt(released_dags(train, say, cache))), dags)
    return found, found.scores([count(usual, how.missing)]).rows(MODEL, how.resampling)


def released_texts(folder: Path) -> QuestionTexts | None:
    return looked_up(lambda: read_texts(hierarchy_files(folder)))
