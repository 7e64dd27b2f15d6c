"""Predictions scored on folders of hierarchies by groups of files, anywhere: counts come together, not DAGs."""

from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import polars as pl

from questree.faults import BadInput, Fault
from questree.formats import decomp_groups
from questree.formats.decomp_cache import cached_hierarchies
from questree.formats.decomp_files import SCANNED, hierarchy_files, read_hierarchies, video_of
from questree.formats.decomp_groups import FileGroup, GroupedFiles
from questree.metrics.commonest import MODEL, answers_learnt, commonest
from questree.metrics.scores import Score
from questree.models.predictions import FieldNames
from questree.scoring import shared_files
from questree.scoring.compared import Given, Scoring, Tell
from questree.scoring.dag_scores import DAGS, looked_at, together, unscored_types
from questree.scoring.file_dags import FileDags, SharedIds
from questree.scoring.run_shards import ShardsTogether, by_video, given_files
from questree.scoring.shard_counts import DagTask
from questree.scoring.shard_tasks import ShardAnswers
from questree.scoring.shared_files import seen_beside
from questree.workers import each, in_parallel, shared_out


def in_groups(folder: Path) -> GroupedFiles | None:
    """A folder that is read by groups of files: always if others can, and if it is large; each file is of one video."""
    files = hierarchy_files(folder)
    size, videos = sum(path.stat().st_size for path in files), {video_of(path) for path in files}
    wanted = in_parallel(1) or size > shared_files.LARGE
    if not wanted or len(files) <= decomp_groups.FILES or len(videos) < len(files):
        return None
    return GroupedFiles(folder, size > SCANNED, decomp_groups.FILES)


def files_together(
    folder: Path,
    how: Scoring,
    workers: int,
    files: Sequence[Given],
    errors: bool = False,
    train: Path | None = None,
    say: Tell | None = None,
) -> ShardsTogether | None:
    """The counts of all groups of a folder, of Most-Likely too if it learns from `train`; nothing if they cannot be
    added up, or are not worth it. `say`: as in `learnt`."""
    grouped = in_groups(folder) if by_video() else None
    if grouped is None:
        return None
    groups = grouped.groups()

    def told(task: DagTask, seen: Sequence[ShardAnswers]) -> DagTask:
        own = looked_at(task, seen)
        return replace(own, guess=learnt(train, workers, say, pool)) if train else own

    with (
        seen_beside(folder) as scratch,
        given_files(folder, files, FieldNames(how.id_column, how.answer_column)) as given,
        shared_out(workers, len(groups)) as pool,
    ):
        dags = FileDags(grouped, scratch)
        task = DagTask(folder, None, how, (), given, frozenset(), unscored_types(), dags=dags, errors=errors)
        try:
            return together(DAGS._replace(told=told), task, groups, pool, BadInput.at(folder, "no questions"))
        except SharedIds:
            return None


def most_likely_rows(found: ShardsTogether, how: Scoring) -> list[Score]:
    """Of Most-Likely, if it was scored."""
    counts = [shard.listing.guessed for shard in found.shards if shard.listing.guessed is not None]
    return found.scores(counts).rows(MODEL, how.resampling) if counts else []


def learnt(train: Path, workers: int, say: Tell | None, given: Executor | None = None) -> dict[str, str]:
    """Type -> its commonest answer in a folder of hierarchies. `say`: who hears that it was read from the user's cache,
    which is not used without."""
    grouped = in_groups(train)
    if grouped is None:
        return commonest(answers_learnt(cached_hierarchies(train, say) if say else read_hierarchies(train)))
    groups = grouped.groups()
    with nullcontext(given) if given else shared_out(workers, len(groups)) as pool:
        found = each(pool, "training answers", "group", groups, learn_group, grouped)
    grouped.refuse(fault for own in found if isinstance(own, list) for fault in own)
    return commonest(pl.concat(own for own in found if isinstance(own, pl.DataFrame)))


def learn_group(files: GroupedFiles, group: FileGroup) -> pl.DataFrame | list[Fault]:
    """In a worker: answers by type in some files, or what is wrong with these."""
    found = files.checked(group)
    return found if isinstance(found, list) else answers_learnt(found)
