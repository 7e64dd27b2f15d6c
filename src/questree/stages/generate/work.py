"""Generation as a map over shards of videos: any executor will do, finished shards are kept, no row depends on them."""

import shutil
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import lru_cache
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.progress import watch
from questree.stages.generate.chunk import chunk
from questree.stages.generate.filters import Tally
from questree.stages.generate.hashing import seed_of
from questree.stages.generate.shard import Counts, questions, side_tables
from questree.stages.generate.text import Lexicon, lexicon, texts
from questree.stages.generate.words import Words, pair_counts, words
from questree.tables.facts import VIDEOS, Facts
from questree.tables.questions import QUESTIONS, SIDES, TEXT
from questree.tables.run import Run
from questree.tables.store import new_folder

CHUNK = 64  # videos whose columns are in memory together


@dataclass(frozen=True)
class Options:
    seed: int = 1
    references: int = 3  # kept per (object, kind)
    rare_below: int = 10  # frames of the corpus a pair must be seen on
    shard: int = 128  # videos per file
    text: bool = False  # also write every question's text


@dataclass(frozen=True)
class Task:
    """One shard's work, small enough to send anywhere that sees the run folder."""

    run: Path
    out: Path
    begin: int
    options: Options


def generate(run: Run, options: Options, workers: int = 2, pool: Executor | None = None) -> Counts:
    """All questions of a run's facts; an interrupted run goes on where it stopped."""
    run.vocabulary()
    videos = len(run.table("facts", VIDEOS))
    work = run.folder / ".questions.part"
    start(work, plan(run, options))
    tasks = [
        Task(run.folder, work / f"{at // options.shard:05d}", at, options) for at in range(0, videos, options.shard)
    ]
    left = [task for task in tasks if not task.out.is_dir()]
    with pool or processes(workers) as executor:
        done = as_completed([executor.submit(shard, task) for task in left])
        for future in watch(done, "generate", len(left)):
            future.result()
    counts = total([task.out for task in tasks])
    shutil.rmtree(run.questions, ignore_errors=True)
    work.rename(run.questions)
    return counts


def processes(workers: int) -> Executor:
    """Worker processes; each computes with one thread, since shards are dealt out to all of them."""
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def plan(run: Run, options: Options) -> bytes:
    """What the questions depend on."""
    digest = blake2b(run.vocabulary_file.read_bytes(), digest_size=16)
    for path in sorted(run.facts.glob("*.parquet")):
        digest.update(path.read_bytes())
    return msgspec.json.encode({"options": asdict(options), "facts": digest.hexdigest()})


def start(work: Path, plan: bytes) -> None:
    """A folder for finished shards; those of another plan are thrown away."""
    note = work / "plan.json"
    if not note.is_file() or note.read_bytes() != plan:
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        note.write_bytes(plan)


@lru_cache(maxsize=1)
def corpus(run: Path, rare_below: int) -> tuple[Facts, Words, Lexicon]:
    """Facts, words and their phrases, read once per process."""
    vocabulary, facts = Run(run).vocabulary(), Run(run).load("facts")
    return facts, words(vocabulary, pair_counts(facts, vocabulary), rare_below), lexicon(vocabulary)


def shard(task: Task) -> None:
    """Write the questions of one shard, whole or not at all."""
    facts, known, phrases = corpus(task.run, task.options.rare_below)
    end = min(task.begin + task.options.shard, len(facts.videos))
    counts: Counts = {}
    written = (QUESTIONS, *SIDES, *([TEXT] if task.options.text else []))
    tables: dict[str, list[pl.DataFrame]] = {table.name: [] for table in written}
    for begin in range(task.begin, end, CHUNK):
        few = facts.between(begin, min(begin + CHUNK, end))
        seeds = np.array([seed_of(task.options.seed, video) for video in few.videos["id"]], np.uint64)
        part = chunk(few, known, seeds, task.options.references)
        found, sides = questions(part, counts, begin), side_tables(part, begin)
        for name, side in (sides | {QUESTIONS.name: found}).items():
            tables[name].append(side)
        if task.options.text:
            tables[TEXT.name].append(texts(found, sides, phrases, seeds, begin).to_frame())
    with new_folder(task.out) as folder:
        for table in written:
            table.write(pl.concat(tables[table.name]), folder)
        (folder / "counts.json").write_bytes(msgspec.json.encode(counts))


def total(folders: list[Path]) -> Counts:
    """Kept and rejected candidates of all shards."""
    counts: Counts = {}
    for folder in folders:
        found = msgspec.json.decode((folder / "counts.json").read_bytes(), type=dict[str, Tally])
        for template, tally in found.items():
            own = counts.setdefault(template, Tally())
            own.kept += tally.kept
            for rule, count in tally.rejected.items():
                own.reject(rule, count)
    return counts
