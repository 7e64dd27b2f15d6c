"""Predictions scored on a file of AGQA's questions, each alone, anywhere: parts of the file are dealt to shards of
videos, as a question is counted beside its direct equivalent; counts come together."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.hashing import seeds_of
from questree.faults import BadInput
from questree.formats import agqa_parts
from questree.formats.agqa_import import read_questions, records_of
from questree.formats.agqa_parts import AgqaPart, parts_of, shards_of
from questree.metrics.answers import agqa_cells
from questree.metrics.cells import Ints
from questree.models.predictions import FieldNames
from questree.readings.forms import met
from questree.scoring import shared_files
from questree.scoring.compared import Given, Scoring
from questree.scoring.question_counts import answers_in, counts_in
from questree.scoring.run_shards import ShardsTogether, by_video, given_files, with_answers
from questree.scoring.shard_tasks import NOTHING_ASKED, ScoringTask, ShardAnswers, ShardScores
from questree.scoring.shared_files import seen_beside, worth_parting
from questree.stages.decompose.dealt_dags import CHUNK, rows_of, write_dealt
from questree.tables.scored import ASKED
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.workers import MANY, each, shared_out, whole

SHARD = 1 << 28  # bytes of the file, or so, whose questions are in one shard
NAMED = "(?s)^(.*)-[^-]*$"  # the video in an id
DEALT = Table(
    "asked",
    {**CHUNK, "row": pl.UInt64, **ASKED.columns, "question": pl.String},  # row: ascends with the records of the file
    ASKED.optional | {"question"},
)


@dataclass(frozen=True, kw_only=True)
class FileTask(ScoringTask):
    scratch: Path  # where parts are dealt
    shards: int
    parts: int

    def place(self, part: int) -> Path:
        return self.scratch / f"{part:06d}"


def file_together(path: Path, how: Scoring, workers: int, files: Sequence[Given]) -> ShardsTogether | None:
    """The counts of all shards of a file; nothing if there are none, they cannot be added up, or are not worth it."""
    if not by_video() or not path.is_file() or not worth_parting(path, agqa_parts.BYTES, shared_files.LARGE):
        return None
    parts, shards = parts_of(path), shards_of(path, SHARD)
    with seen_beside(path) as scratch, ExitStack() as left, shared_out(workers, MANY) as pool:
        task = FileTask(path, None, how, (), (), frozenset(), scratch=scratch, shards=shards, parts=len(parts))
        try:
            seen = each(pool, "reading questions", "part", parts, deal_part, task)
        except BadInput:
            whole(look_over, path)
            raise
        if not all(own.more for own in seen):
            return None
        given = left.enter_context(given_files(path, files, FieldNames(how.id_column, how.answer_column)))
        task = with_answers(replace(task, files=given), seen)
        found = each(pool, "scoring", "shard", range(shards), score_shard, task)
    there = [own for own in found if own.listing is not None]
    return ShardsTogether(task, there, agqa_cells, _places(there)) if there else None


def look_over(path: Path) -> None:
    """Say what is wrong with a file."""
    read_questions(path)


def deal_part(task: FileTask, part: AgqaPart) -> ShardAnswers:
    """In a worker: the questions of a part in the order of shards; `more`: can these be counted by themselves?"""
    asked = part.asked("lenient" in task.how.policies)
    videos, video = met(asked["video"])
    shard = (seeds_of(0, videos) % np.uint64(task.shards))[video]
    with new_folder(task.place(part.number)) as folder:
        row = pl.int_range(pl.len(), dtype=pl.UInt64) + (part.number << 32)
        write_dealt(DEALT, asked.with_columns(row=row), shard, folder)
    return answers_in(asked)._replace(more=ids_apart(asked))


def ids_apart(asked: pl.DataFrame) -> bool:
    """Does every id name its video, so that no other shard has it, and that of a direct equivalent the same one?"""
    of_id, of_direct = (asked[name].str.extract(NAMED) for name in ("id", "direct"))
    return bool(of_id.eq_missing(asked["video"]).all() and (of_direct == of_id).all())  # null: there is none


def score_shard(task: FileTask, shard: int) -> ShardScores:
    """In a worker: the counts of one shard; videos are known by the rows of their first questions."""
    every = rows_of(DEALT, [task.place(part) for part in range(task.parts)], shard)
    if every.is_empty():
        return NOTHING_ASKED
    once = every.with_columns(pl.col("row").min().over("id")).unique("id", keep="last").sort("row")
    asked = replace(records_of(once.select(*ASKED.columns)), texts=lambda: once.select("id", "question"))
    found, row = counts_in(task, asked), dict(once.select("id", "row").iter_rows())
    first = once["row"].gather(np.unique(asked.video, return_index=True)[1]).to_list()
    models = [own._replace(late=[(id, row[id]) for id in own.lacking]) for own in found.models]
    return found._replace(videos=first, models=models)


def _places(found: Sequence[ShardScores]) -> list[Ints]:
    """[shard] [video] where it stands among all, in the order of the file."""
    rows = np.sort(np.concatenate([np.array(shard.videos, np.int64) for shard in found]))
    return [np.searchsorted(rows, np.array(shard.videos, np.int64)) for shard in found]
