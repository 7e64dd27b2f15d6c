"""Predictions scored on a file of AGQA's questions, each alone, anywhere: parts of the file are dealt to shards of
videos, as a question is counted beside its direct equivalent; counts come together."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.columns.hashing import seeds_of
from questree.faults import BadInput
from questree.formats import agqa_parts
from questree.formats.agqa_import import read_questions, records_of
from questree.formats.agqa_parts import AgqaPart, parts_of, shards_of
from questree.metrics.answers import agqa_cells
from questree.metrics.cells import Ints
from questree.readings.forms import met
from questree.scoring import shared_files
from questree.scoring.compared import Given, Scoring
from questree.scoring.question_scores import answers_in, counts_in
from questree.scoring.run_shards import ShardsTogether, given_files, with_answers
from questree.scoring.shard_tasks import NOTHING_ASKED, ScoringTask, ShardAnswers, ShardScores
from questree.scoring.shared_files import look_over, seen_beside, worth_parting
from questree.tables.scored import ASKED
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.workers import MANY, each, shared_out

SHARD = 1 << 28  # bytes of the file, or so, whose questions are in one shard
NAMED = "(?s)^(.*)-[^-]*$"  # the video in an id
DEALT = Table(
    "asked",
    {"row": pl.UInt64, **ASKED.columns, "question": pl.String},  # row: ascends with the records of the file
    ASKED.optional | {"question"},
)


@dataclass(frozen=True, kw_only=True)
class FileTask(ScoringTask):
    scratch: Path  # where parts are dealt
    shards: int

    def place(self, part: int) -> Path:
        return self.scratch / f"{part:06d}"


class VideoShard(NamedTuple):
    """The questions about some videos; small enough to send anywhere."""

    number: int
    rows: list[tuple[int, int]]  # [part] the first one, and how many

    def __str__(self) -> str:
        return str(self.number)


def file_together(path: Path, how: Scoring, workers: int, files: Sequence[Given]) -> ShardsTogether | None:
    """The counts of all shards of a file; nothing if there are none, they cannot be added up, or are not worth it."""
    if not path.is_file() or not worth_parting(path, agqa_parts.BYTES, shared_files.LARGE):
        return None
    parts, shards = parts_of(path), shards_of(path, SHARD)
    with seen_beside(path) as scratch, ExitStack() as left, shared_out(workers, MANY) as pool:
        task = FileTask(path, None, how, (), (), frozenset(), scratch=scratch, shards=shards)
        try:
            seen = each(pool, "reading questions", "part", parts, deal_part, task)
        except BadInput as bad:
            look_over([path], read_questions, bad)
            raise
        dealt = [own.more for own in seen]
        if any(own is None for own in dealt):
            return None
        given = left.enter_context(given_files(files, how, path))
        task = with_answers(replace(task, files=given), seen)
        found = each(pool, "scoring", "shard", _shards(dealt), score_shard, task)
    there = [own for own in found if own is not None and own.listing is not None]
    if not there or any(own is None for own in found):
        return None
    return ShardsTogether(task, there, agqa_cells, _places(there))


def deal_part(task: FileTask, part: AgqaPart) -> ShardAnswers:
    """In a worker: the questions of a part in the order of shards; `more`: how many each has, nothing if they cannot be
    counted by themselves."""
    asked = part.asked()
    texts: pl.Series | pl.Expr = pl.lit(None, pl.String)
    if "lenient" in task.how.policies:
        try:
            texts = part.texts()
        except BadInput:  # which matter only if a prediction takes its question
            return answers_in(asked)
    videos, video = met(asked["video"])
    shard = (seeds_of(0, videos) % np.uint64(task.shards)).astype(np.int64)[video]
    row = pl.int_range(pl.len(), dtype=pl.UInt64) + (part.number << 32)
    with new_folder(task.place(part.number)) as folder:
        rows = asked.with_columns(row=row, question=texts)
        DEALT.write_piece(rows[np.argsort(shard, kind="stable")], folder)
    counted = np.bincount(shard, minlength=task.shards).tolist()
    return answers_in(asked)._replace(more=counted if ids_apart(asked) else None)


def ids_apart(asked: pl.DataFrame) -> bool:
    """Does every id name its video, so that no other shard has it, and that of a direct equivalent the same one?"""
    of_id, of_direct = (asked[name].str.extract(NAMED) for name in ("id", "direct"))
    # null: there is no direct equivalent, or its id names no video and so is no question's here
    return bool(of_id.eq_missing(asked["video"]).all() and (of_direct == of_id).all())


def _shards(dealt: Sequence[Sequence[int]]) -> list[VideoShard]:
    """dealt: [part, shard] rows"""
    ends = np.cumsum(dealt, axis=1)
    return [
        VideoShard(number, [*zip((ends[:, number] - counts).tolist(), counts.tolist(), strict=True)])
        for number, counts in enumerate(np.array(dealt, np.int64).T)
    ]


def score_shard(task: FileTask, shard: VideoShard) -> ShardScores | None:
    """In a worker: the counts of one shard; videos are known by the rows of their first questions. Nothing if an id is
    there twice, as answers that do not count were looked at."""
    rows = [DEALT.read_piece(task.place(part), *own) for part, own in enumerate(shard.rows) if own[1]]
    if not rows:
        return NOTHING_ASKED
    every = pl.concat(rows, rechunk=True)
    if every["id"].is_duplicated().any():
        return None
    asked = replace(records_of(every.select(*ASKED.columns)), texts=lambda: every.select("id", "question"))
    found, row = counts_in(task, asked), dict(every.select("id", "row").iter_rows())
    first = every["row"].gather(np.unique(asked.video, return_index=True)[1]).to_list()
    models = [own._replace(late=[(id, row[id]) for id in own.lacking]) for own in found.models]
    return found._replace(videos=first, models=models)


def _places(found: Sequence[ShardScores]) -> list[Ints]:
    """[shard] [video] where it stands among all, in the order of the file."""
    rows = np.sort(np.concatenate([np.array(shard.videos, np.int64) for shard in found]))
    return [np.searchsorted(rows, np.array(shard.videos, np.int64)) for shard in found]
