"""A bot's answers to all nodes of a run, stored shard by shard by whoever works."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.benchmarks import AGQA, COVR
from questree.faults import refuse
from questree.models.asked_runs import AskedRun
from questree.models.bots import BotCorpus, BotOptions, taught
from questree.stages.questions import edition_at
from questree.tables.hierarchies import NOTHING, Numbers
from questree.tables.predictions import PREDICTIONS, write_plan, write_shard, write_words
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


def answer_run(
    run: Run, options: BotOptions, name: str = "", images: bool = False, workers: int = 1
) -> tuple[int, int]:
    """Store a bot's answers to all nodes, of videos or of image sets, in RUN/predictions/<name>/; how many, of how
    many nodes."""
    refuse(options.faults())
    with (
        new_folder(run.predictions / (name or options.model)) as out,
        where_workers_see(run.predictions) as place,
        shared_out(workers, len((COVR if images else AGQA).part("shards")(run))) as pool,
    ):
        task = AnswerTask(taught(AskedRun(run.folder, place, images), [options], pool), options, out)
        found = each(pool, options.model, "shard", task.asked.shards.names, answer_shard, task)
        write_words(out, renumbered(task, found))
        without_halves(out)
        plan = {"model": options.model, "seed": options.seed, "noise": options.noise}
        write_plan(out, run, plan if images or edition_at(run).decomposed else plan | {"sample": True})
    return sum(shard.answered for shard in found), sum(shard.nodes for shard in found)


def answer_shard(task: AnswerTask, name: str) -> StoredShard:
    """In a worker: answer one shard."""
    corpus = BotCorpus(task.asked, task.options)
    found = corpus.answer(name)
    own = list(corpus.number)[len(corpus.shards.number) :]
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
