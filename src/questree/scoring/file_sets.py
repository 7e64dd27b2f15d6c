"""Predictions scored on files of COVR's questions, each alone, part by part, anywhere: counts come together."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from questree.faults import BadInput
from questree.formats import covr_parts
from questree.formats.covr_parts import CovrPart, parts_of
from questree.metrics.catalogue import METRICS
from questree.metrics.sets import answers_in
from questree.scoring.compared import Given, Scoring
from questree.scoring.image_sets import of_records
from questree.scoring.run_shards import ShardsTogether, ShardWork, counted, given_files, knowing
from questree.scoring.set_counts import SetTask, counts_in
from questree.scoring.set_scores import of_chunks, with_commonest
from questree.scoring.shard_tasks import ShardAnswers, ShardScores
from questree.scoring.shared_files import look_over, seen_beside, worth_parting
from questree.sources.covr import QUESTIONS, read_records
from questree.tables.store import new_folder
from questree.workers import MANY, shared_out, whole

LARGE = 1 << 27  # bytes of a file; read at once, it takes six times as many
SCORED, LEARNT = "test", "train"


@dataclass(frozen=True, kw_only=True)
class SetFileTask(SetTask):
    scratch: Path  # where questions are kept as they were read

    def place(self, part: CovrPart) -> Path:
        return self.scratch / str(part)


def set_files_together(
    questions: Path, train: Path | None, how: Scoring, workers: int, files: Sequence[Given]
) -> ShardsTogether | None:
    """The counts of all parts of a file; nothing if there are none, they cannot be added up, or are not worth it."""
    both = {SCORED: questions, **({LEARNT: train} if train else {})}
    there = not METRICS and all(path.is_file() for path in both.values())
    if not there or not any(worth_parting(path, covr_parts.BYTES, LARGE) for path in both.values()):
        return None
    parts = [part for split, path in both.items() for part in parts_of(path, split)]
    with seen_beside(questions) as scratch, ExitStack() as left, shared_out(workers, MANY) as pool:
        task = SetFileTask(questions, None, how, (), (), frozenset(), scratch=scratch)
        try:
            task, asked = knowing(PARTS, task, parts, pool)
        except BadInput as bad:
            look_over(both.values(), read_records, bad)
            raise
        if whole(ids_shared, [task.place(part) for part in asked]):
            return None
        given = left.enter_context(given_files(files, how, questions))
        task, found = counted(PARTS, replace(task, files=given), asked, pool, unknown=False)
    return of_chunks(task, found) if found else None


def read_part(task: SetFileTask, part: CovrPart) -> ShardAnswers:
    """In a worker: the answers there are in a part, or what there is to learn from it."""
    asked = of_records(part.records())
    if part.split == LEARNT:
        return ShardAnswers.of(asked["answer"].clear())._replace(learnt=answers_in(asked))
    with new_folder(task.place(part)) as folder:
        QUESTIONS.write_piece(asked, folder)
    return ShardAnswers.of(asked["answer"])._replace(learnt=answers_in(asked.clear()))


def ids_shared(places: Sequence[Path]) -> bool:
    """In a worker: do two parts have an id?"""
    ids = [QUESTIONS.read_piece(place)["id"].unique().hash() for place in places]
    return bool(ids and pl.concat(ids).is_duplicated().any())


def score_part(task: SetFileTask, part: CovrPart) -> ShardScores:
    """In a worker: the counts of one part."""
    begin = part.span[0] if part.span else 0  # in bytes, of which a record has several
    return counts_in(task, QUESTIONS.read_piece(task.place(part)).with_columns(number=pl.int_range(pl.len()) + begin))


PARTS = ShardWork(read_part, score_part, with_commonest)
