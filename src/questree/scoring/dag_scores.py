"""Models scored on the DAGs of a run about videos, shard by shard."""

from collections.abc import Iterator, Sequence

import numpy as np

from questree.faults import BadInput
from questree.metrics import catalogue
from questree.metrics.answered import Listing
from questree.metrics.catalogue import METRICS
from questree.metrics.cells import Cell, Ints, Tallies
from questree.metrics.dags import dag_cells
from questree.metrics.errors import error_cells
from questree.models.predictions import FieldNames
from questree.rules.schemes import VIDEO_DAGS
from questree.scoring.compared import Given, OneModel, Scoring, Tell, for_run
from questree.scoring.run_shards import (
    ShardsTogether,
    ShardWork,
    by_video,
    counted,
    each_shard,
    given_files,
    stored_in,
    with_answers,
)
from questree.scoring.shard_counts import DagTask, keys_apart, score_shard, shard_answers
from questree.scoring.shard_tasks import ShardScores
from questree.stages.decompose.hierarchies import dags_given, file_order, many, shards
from questree.stages.questions import Bank
from questree.tables.predictions import samples
from questree.tables.run import Run

DAGS = ShardWork(shard_answers, score_shard, with_answers)


def in_shards(run: Run, given: Sequence[Given], workers: int = 1) -> bool:
    """Can the counts of shards be added up? In imported DAGs the id of a sub-question may be in several of them."""
    if not by_video() or not (given and dags_given(run)):
        return by_video()
    names = [folder.name for folder in shards(run)]
    return all(each_shard(keys_apart, run.folder, "looking at ids", names, workers if many(shards(run)) else 1))


def scored_in_shards(
    run: Run,
    models: Sequence[str],
    split: str | None,
    how: Scoring,
    say: Tell,
    workers: int = 2,
    files: Sequence[Given] = (),
    errors: bool = False,
) -> Iterator[OneModel]:
    """Stored models and files on the DAGs of a run about videos, as if all of these had been read at once."""
    stored_in(run, models)
    found = dags_together(run, models, split, how, workers, files, errors)
    yield from found.scored(files, say)


def dags_together(
    run: Run,
    models: Sequence[str],
    split: str | None,
    how: Scoring,
    workers: int,
    files: Sequence[Given] = (),
    errors: bool = False,
    alone: tuple[int, ...] | None = None,
) -> ShardsTogether:
    """The counts of all shards; `alone`: those of every question alone, too."""
    folders = shards(run)
    Bank(run)  # says so if the questions are of other facts
    own, types = for_run(run, how), tuple(sorted(VIDEO_DAGS.unscored))
    with given_files(run, files, FieldNames(how.id_column, how.answer_column)) as given:
        task = DagTask(run.folder, split, own, tuple(models), given, samples(run), types, errors=errors, alone=alone)
        unknown, workers = bool(files or own.policies != ("exact",)), workers if many(folders) else 1
        task, found = counted(DAGS, task, [folder.name for folder in folders], workers, unknown)
    if not found:
        raise BadInput.at(run.decomposed, f"no questions of the split {split}" if split else "no questions")
    listing = Listing.together([shard.listing.dags for shard in found])

    def cells(tallies: Tallies) -> list[Cell]:
        more = error_cells(tallies) if errors else []
        return [*dag_cells(tallies, listing), *more, *catalogue.cells(tallies.columns, METRICS.values())]

    return ShardsTogether(task, found, cells, _places(found))


def _places(found: Sequence[ShardScores]) -> list[Ints]:
    """[shard] [video] where it stands when files are read in their order."""
    videos = [name for shard in found for name in shard.videos]
    order = file_order(videos, np.concatenate([shard.with_dags for shard in found]))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return np.split(place, np.cumsum([len(shard.videos) for shard in found])[:-1])
