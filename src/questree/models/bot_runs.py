"""A bot's answers to all nodes of a run, stored shard by shard by whoever works."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.faults import refuse
from questree.models.asked_runs import AskedRun
from questree.models.bots import BotCorpus, BotOptions, taught
from questree.models.image_shards import ImageShards
from questree.stages.decompose.dealt_dags import chunks_in, deal_dags, many_chunks, node_pieces
from questree.stages.decompose.hierarchies import shards
from questree.stages.questions import edition_at
from questree.tables.hierarchies import NOTHING, Numbers
from questree.tables.predictions import IMAGE_SETS, PREDICTIONS, write_plan, write_shard, write_words
from questree.tables.row_pieces import RowPiece
from questree.tables.run import Run
from questree.tables.shard_folders import where_workers_see, without_halves
from questree.tables.store import new_folder
from questree.workers import each, shared_out


class StoredShard(NamedTuple):
    """What is told about a shard that was answered."""

    name: str
    answered: int
    nodes: int
    words: list[str]  # of the bot's own, as it numbered them after those of the run


@dataclass(frozen=True)
class AnswerTask:
    asked: AskedRun
    options: BotOptions
    out: Path  # the folder of the model

    def chunk(self, name: str) -> Path:
        """Where the answers to a chunk of image sets lie until they are put together."""
        return self.asked.place / f"answers-{name}"

    def piece(self, rows: RowPiece) -> Path:
        return self.asked.place / f"answers-to-{rows}"


def answer_run(
    run: Run, options: BotOptions, name: str = "", images: bool = False, workers: int = 1
) -> tuple[int, int]:
    """Store a bot's answers to all nodes, of videos or of image sets, in RUN/predictions/<name>/; how many, of how
    many nodes."""
    refuse(options.faults())
    tasks, many = (chunks_in(run), many_chunks(run)) if images else (len(shards(run)), True)
    with (
        new_folder(run.predictions / (name or options.model)) as out,
        where_workers_see(run.predictions) as place,
        shared_out(workers if many else 1, tasks) as pool,
    ):
        dealt = deal_dags(run, place, (), pool) if images and (many or pool) else None
        task = AnswerTask(taught(AskedRun(run.folder, place, images, dealt), [options], pool), options, out)
        found = each(pool, options.model, "shard", task.asked.shards.names, answer_shard, task)
        write_words(out, joined_sets(task, found, pool) if images else renumbered(task, found))
        without_halves(out)
        plan = {"model": options.model, "seed": options.seed, "noise": options.noise}
        write_plan(out, run, plan if images or edition_at(run).decomposed else plan | {"sample": True})
    return sum(shard.answered for shard in found), sum(shard.nodes for shard in found)


def answer_shard(task: AnswerTask, name: str) -> StoredShard:
    """In a worker: answer one shard."""
    corpus = BotCorpus(task.asked, task.options)
    found = corpus.answer(name)
    own = list(corpus.number)[len(corpus.shards.number) :]
    if isinstance(corpus.shards, ImageShards):
        said = pl.DataFrame({"node": corpus.shards.shard(name).numbers, "word": found})
        with new_folder(task.chunk(name)) as folder:
            PREDICTIONS.write_piece(said.filter(pl.col("word") != NOTHING), folder)
    else:
        with new_folder(task.out / name) as folder:
            write_shard(folder, found)
    return StoredShard(name, int((found != NOTHING).sum()), len(found), own)


def renumbered(task: AnswerTask, found: Sequence[StoredShard]) -> list[str]:
    """All words of stored shards, those of the bot's own numbered in the order of the shards."""
    number, known = Numbers[str](), list(task.asked.shards.number)
    for word in known:
        number[word]
    for shard in found:
        meant = np.array([*range(len(known)), *(number[word] for word in shard.words)])
        if not np.array_equal(meant, np.arange(len(meant))):
            table = PREDICTIONS.read(task.out / shard.name)
            PREDICTIONS.write(table.with_columns(word=pl.Series(meant[table["word"]])), task.out / shard.name)
    return list(number)


def joined_sets(task: AnswerTask, found: Sequence[StoredShard], pool: Executor | None) -> list[str]:
    """Write the answers to all chunks in the order of the nodes; all words, the bot's own in their order."""
    words = [*task.asked.shards.number, *sorted({word for shard in found for word in shard.words})]
    chunks = JoinTask(task, tuple(found), tuple(words[len(task.asked.shards.number) :]))
    pieces = node_pieces(Run(task.asked.run))
    each(pool, "putting answers together", "nodes", pieces, join_piece, chunks)
    with new_folder(task.out / IMAGE_SETS) as folder:
        PREDICTIONS.join([task.piece(rows) for rows in pieces], folder)
    return words


@dataclass(frozen=True)
class JoinTask:
    task: AnswerTask
    chunks: tuple[StoredShard, ...]
    own: tuple[str, ...]  # words of the bot's own, in their order


def join_piece(given: JoinTask, rows: RowPiece) -> None:
    """In a worker: the answers of all chunks to nodes that follow each other."""
    found, known = [PREDICTIONS.empty()], len(given.task.asked.shards.number)
    for chunk in given.chunks:
        said = PREDICTIONS.read_piece(given.task.chunk(chunk.name))
        begin, end = np.searchsorted(said["node"].to_numpy(), [rows.begin, rows.end])
        meant = pl.Series([*range(known), *(known + given.own.index(word) for word in chunk.words)], dtype=pl.UInt32)
        own = said[int(begin) : int(end)]
        found.append(own.with_columns(word=meant.gather(own["word"])))
    with new_folder(given.task.piece(rows)) as folder:
        PREDICTIONS.write_piece(pl.concat(found).sort("node"), folder)
