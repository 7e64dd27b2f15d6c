"""The generated questions of a run as a source of records, shard by shard."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import polars as pl

from questree.benchmarks.agqa.held_out import NOVEL
from questree.faults import BadInput
from questree.formats.csvs import runs
from questree.formats.shard import ExportShard
from questree.formats.steps import thresholds
from questree.progress import watch
from questree.stages.generate.text import Lexicon, lexicon
from questree.stages.questions import Bank
from questree.tables.balanced import read_balanced
from questree.tables.facts import SPLIT_UNSAID, Facts
from questree.tables.questions import QUESTIONS, SIDES
from questree.tables.run import Run
from questree.tables.table import Table


@lru_cache(maxsize=1)
def corpus(run: Path) -> tuple[Bank, Facts, Lexicon, pl.DataFrame | None]:
    """What all shards share, read once per process; the selection is None if there is none."""
    bank, place = Bank(Run(run)), Run(run)
    facts = place.load("facts")
    facts_split = facts.videos["split"].replace("", SPLIT_UNSAID)
    facts = Facts(**{**vars(facts), "videos": facts.videos.with_columns(facts_split)})
    chosen = read_balanced(place.balanced) if place.balanced.is_dir() else None
    return bank, facts, lexicon(bank.vocabulary), chosen


@dataclass(frozen=True)
class Generated:
    """Small enough to send to another process; sets: "balanced", "unbalanced" or both."""

    run: Path
    sets: tuple[str, ...]
    most_steps: dict[int, int]

    @classmethod
    def of(cls, run: Run, sets: tuple[str, ...]) -> "Generated":
        corpus.cache_clear()  # the run may have changed since
        return cls(run.folder, sets, thresholds(step_counts(corpus(run.folder)[0])))

    @property
    def pieces(self) -> list[str]:
        return [folder.name for folder in corpus(self.run)[0].folders()]

    def count(self, piece: str) -> pl.DataFrame:
        """Rows of CSV files, of the first set."""
        table = self.questions(piece, ("video", "number", "template", "steps", "flags"))
        table = (table.filter("balanced") if self.sets[0] == "balanced" else table).sort("video", "number")
        most = table["template"].replace_strict(self.most_steps, return_dtype=pl.UInt8)
        rows = table.select(
            split=corpus(self.run)[1].videos["split"].gather(table["video"]),
            video="video",
            novel_comp=((table["flags"] & NOVEL) > 0).cast(pl.UInt8),
            more_steps=(table["steps"] > most).cast(pl.UInt8),
        )
        return runs(rows)

    def questions(self, piece: str, columns: tuple[str, ...] = tuple(QUESTIONS.columns)) -> pl.DataFrame:
        """The questions of a shard, and whether each is in the balanced selection."""
        bank, *_, chosen = corpus(self.run)
        table = some(*columns).read(bank.run.questions / piece)
        if chosen is None:
            return table.with_columns(balanced=pl.lit(False))
        first, end = self.videos(piece)
        own = chosen.filter(pl.col("video").is_between(first, end, closed="left")).with_columns(balanced=pl.lit(True))
        marked = table.join(own, on=["video", "number"], how="left", maintain_order="left")
        marked = marked.with_columns(pl.col("balanced").fill_null(False))
        if marked["balanced"].sum() != len(own):
            raise BadInput.at(bank.run.balanced, f"selects questions that {bank.run.questions / piece} does not have")
        return marked

    def videos(self, piece: str) -> tuple[int, int]:
        bank, size = corpus(self.run)[0], corpus(self.run)[0].options["shard"]
        return int(piece) * size, min(int(piece) * size + size, len(bank.ids))

    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]:
        """(set, records with their split), in order."""
        bank, facts, words, _ = corpus(self.run)
        first, end = self.videos(piece)
        table = self.questions(piece)
        shard = ExportShard(
            bank.vocabulary,
            words,
            facts.between(first, end),
            first,
            bank.options["seed"],
            table.drop("balanced"),
            {side.name: side.read(bank.run.questions / piece) for side in SIDES},
            self.most_steps,
        )
        marks = table.select("video", "number", "balanced")
        for batch in shard.batches(None if "unbalanced" in self.sets else table["balanced"]):
            split = facts.videos["split"].gather(batch["video"]).alias("split")
            marked = batch.with_columns(split).join(marks, on=["video", "number"], how="left", maintain_order="left")
            for name in self.sets:
                yield name, marked.filter("balanced") if name == "balanced" else marked


def some(*columns: str) -> Table:
    """The table of questions, only these columns of it."""
    return Table(QUESTIONS.name, {name: QUESTIONS.columns[name] for name in columns})


def step_counts(bank: Bank) -> pl.DataFrame:
    """template, steps, train, n of all questions."""
    split = corpus(bank.run.folder)[1].videos["split"]
    tables = []
    for folder in watch(bank.folders(), "counting steps", len(bank.folders())):
        table = some("video", "template", "steps").read(folder)
        train = split.gather(table["video"]) == "train"
        tables.append(table.group_by("template", "steps", train=train).agg(n=pl.len()))
    return pl.concat(tables)
