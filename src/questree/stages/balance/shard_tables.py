"""What balancing needs of the questions of a shard, as Arrow files beside the run: binary and open ones apart."""

from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TIMES
from questree.columns.hashing import Hashes, mix, mixed, seed_of
from questree.columns.joins import Ints
from questree.stages.balance.levelling import SPLITS, BalanceOptions
from questree.stages.questions import Bank
from questree.stages.rules_alone import RulesAlone
from questree.stages.shard_tables import ShardTables
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import VIDEOS
from questree.tables.questions import QUESTIONS, time_without_kind
from questree.tables.run import Run, kept_while
from questree.workers import over

COLUMNS = QUESTIONS.only(
    *("video", "number", "template", "relation", "x", "y", "first", "second", "time", "answer", "effect")
)
KINDS, MOST_TEMPLATES = 8, 256
CELLS = len(SPLITS), MOST_TEMPLATES, KINDS  # a cell is a split, template and time kind
EFFECTS = 4
ACTION_ANSWER = 1 << 16  # of an open question: it is an action
BINARY, OPEN = "binary", "open"  # folders
Places = NDArray[np.uint64]  # [question] video * 2^32 + number
assert len(TIMES) <= KINDS


class BalanceCorpus(NamedTuple):
    """What the work on all shards shares."""

    known: TemplateColumns
    test: NDArray[np.bool_]  # [video]
    seeds: Hashes  # [video]
    alone: RulesAlone | None = None


@kept_while("vocabulary.toml", "raw", "facts", "ledger.json", "questions")
def corpus(run: Path, seed: int) -> BalanceCorpus:
    """Read once per process."""
    bank, videos = Bank(Run(run)), Run(run).table("facts", VIDEOS)
    test = (videos["split"] != "train").to_numpy()  # a video whose source says nothing is for testing
    seeds = np.array([seed_of(seed, f"balance {video}") for video in videos["id"]], np.uint64)
    assert len(bank.templates) <= MOST_TEMPLATES, "a content key has no room for more templates"
    return BalanceCorpus(bank.templates, test, seeds, RulesAlone.of(bank.run, bank.templates, bank.edition.name))


@dataclass(frozen=True)
class Balancing:
    """What every shard is read with; small enough to send anywhere that sees the run."""

    run: Path
    tables: ShardTables
    options: BalanceOptions

    @property
    def corpus(self) -> BalanceCorpus:
        return corpus(self.run, self.options.seed)


class ShardCounts(NamedTuple):
    """Questions of a shard, [split, template]."""

    before: Ints
    alone: Ints  # whose answers follow from rules alone


def write_shard(task: Balancing, shard: str, without: pl.DataFrame | None) -> ShardCounts:
    """Write the tables of a shard, a piece at a time; without: video, number of questions that are taken out before."""
    known, test, _, rules = task.corpus
    before, alone = (np.zeros((len(SPLITS), len(known)), np.int64) for _ in range(2))
    folder = task.run / "questions" / shard
    references = rules.references.read(folder) if rules and not task.options.as_released else None
    for at, questions in enumerate(COLUMNS.pieces(folder)):
        if without is not None:
            questions = questions.join(without, on=["video", "number"], how="anti", maintain_order="left")
        template = questions["template"].to_numpy()
        split = test[questions["video"].to_numpy()].astype(np.uint8)
        questions = questions.with_columns(split=split, open=known.open[template], two=known.asked_two[template])
        before += count_templates(questions, len(known))
        if rules and references is not None and (follow := rules.of_questions(questions, references)).any():
            alone += count_templates(questions.filter(follow), len(known))
            questions = questions.filter(~follow)
        for kind, table in {
            BINARY: binary_table(questions, task.options.untimed_keys),
            OPEN: open_table(questions.filter("open"), known),
        }.items():
            task.tables.write(kind, f"{shard}.{at:06}", table)
    return ShardCounts(before, alone)


def write_shards(
    task: Balancing, shards: list[str], pool: Executor, without: pl.DataFrame | None = None
) -> ShardCounts:
    """Write the tables of all shards; returns how many questions they have together."""
    counts = over(pool, "reading questions", "shard", shards, write_shard, task, without)
    return ShardCounts(*(np.sum(own, axis=0) for own in zip(*counts, strict=True)))


def count_templates(questions: pl.DataFrame, templates: int) -> Ints:
    """[split, template]"""
    counts = np.zeros((len(SPLITS), templates), np.int64)
    split, template, number = questions.group_by("split", "template").len().get_columns()
    counts[split.to_numpy(), template.to_numpy()] = number.to_numpy()
    return counts


def binary_table(questions: pl.DataFrame, untimed: bool) -> pl.LazyFrame:
    """Content key, cell, answer and effect, place; untimed: keys have no time."""
    wide = questions["x"].dtype == pl.UInt16
    template, split, relation, x, y, time, answer = (
        pl.col(name).cast(pl.UInt64) for name in ("template", "split", "relation", "x", "y", "time", "answer")
    )
    time = pl.lit(0, pl.UInt64) if untimed else time
    kind, actions = time % 256, time // 256
    # from the highest bit: template beyond 31, split, template 5, time kind 3
    content = ((template // 32 * 2 + split) * 32 + template % 32) * KINDS + kind
    if wide:  # a key has no room for many words: it is known by a hash
        words = ((content * (1 << 16) + relation) * (1 << 32)) + x * (1 << 16) + y
        key = mixed(mixed(pl.lit(0, pl.UInt64), words), actions)
    else:
        key = (((content * 256 + relation) * 256 + x) * 256 + y) * (1 << 16) + actions
    yes = pl.when("two").then(answer == y).otherwise(answer == 1)
    return (
        questions.lazy()
        .filter(~pl.col("open"))
        .select(
            key=key,
            cell=((split * MOST_TEMPLATES + template) * KINDS + kind).cast(pl.UInt16),
            group=(yes.cast(pl.UInt8) * EFFECTS + pl.col("effect")).cast(pl.UInt8),
            place=place(),
        )
    )


def open_table(questions: pl.DataFrame, known: TemplateColumns) -> pl.LazyFrame:
    """Place, split and template, content key inside the group of templates, answer, effect."""
    columns = {name: questions[name].to_numpy().astype(np.int64) for name in ("template", "split", "relation", "time")}
    template, split, time = columns["template"], columns["split"], columns["time"]
    relation = np.where(known.with_relation[template], columns["relation"], 0)
    actions = np.where(known.with_time[template], time_without_kind(time), 0)  # the key does not say before or after
    room = 32 if questions["relation"].dtype == pl.UInt16 else 16  # bits of the actions
    return questions.lazy().select(
        place(),
        template=split * len(known) + template,
        key=((split * len(known) + known.family[template]) << 16 | relation) << room | actions,
        answer=questions["answer"].to_numpy().astype(np.int64) + known.of_actions[template] * ACTION_ANSWER,
        effect=pl.col("effect"),
    )


def place() -> pl.Expr:
    return (pl.col("video").cast(pl.UInt64) * (1 << 32) + pl.col("number")).alias("place")


def hash_places(places: Places, seeds: Hashes) -> Hashes:
    """[question] the hash of (seed, video, number); seeds: [video]."""
    return mix(seeds[places >> np.uint64(32)], places & np.uint64(0xFFFFFFFF))
