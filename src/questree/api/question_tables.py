"""Questions of a run as a table in words, of either medium: text and program are made only if they are asked for."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.api.splits import questions_of
from questree.benchmarks import AGQA, COVR, Benchmark
from questree.faults import BadInput, Fault, at_least, refuse
from questree.scoring.run_questions import COLUMNS as NEEDED
from questree.scoring.run_questions import direct, records, twins_of
from questree.stages.balance.rounds import between, selection
from questree.stages.decompose.keys import rows_of
from questree.stages.decompose.set_hierarchies import image_ids
from questree.stages.generate.programs import programs
from questree.stages.generate.text import lexicon, texts
from questree.stages.questions import Bank, Shard, joined
from questree.stages.split import steps
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.image_questions import BALANCED, answered
from questree.tables.images import IMAGES
from questree.tables.questions import QUESTIONS, ascending, with_programs
from questree.tables.run import Run
from questree.tables.scored import FLAGS
from questree.tables.table import rows_in

SHARED = ("id", "scope", "split", "question", "answer", "program", "template")  # columns of either medium, the first
OF_VIDEOS = (*SHARED, "steps", "structural", "semantic", "reasoning", "binary", *FLAGS, "direct", "balanced")
OF_IMAGES = (*SHARED, "length", "depth", "attributes", "pair", "balanced")
THREADS = 2
TOGETHER = 8  # shards that are put into words at once: templates and frames are gone through once for all of them
MANY = 1_000_000  # questions that are put into words at once
BYTES, TEXTS = 250, 200  # of a question in memory while a table is made: without its text and program, of each of these


class QuestionTables(NamedTuple):
    """How the questions of a benchmark are read: of a split or all, of the balanced selection or all."""

    columns: tuple[str, ...]
    raw: Callable[[Run, str | None, bool], pl.DataFrame]
    whole: Callable[[Run, str | None, bool, frozenset[str]], pl.DataFrame]  # with these columns, and others
    pieces: Callable[[Run, str | None, bool, frozenset[str], int], Iterator[pl.DataFrame]]  # of at most so many rows

    def known(self, columns: Sequence[str] | None) -> Sequence[str]:
        chosen, choices = [columns] if isinstance(columns, str) else columns, ", ".join(self.columns)
        strange = [name for name in chosen or () if name not in self.columns]
        refuse([Fault("columns", f"expected a column, got {name!r}; choose from {choices}") for name in strange])
        return self.columns if chosen is None else chosen


def question_table(
    run: Run,
    own: Benchmark,
    split: str | None = None,
    balanced: bool = True,
    columns: Sequence[str] | None = None,
    raw: bool = False,
) -> pl.DataFrame:
    """Of one split or all; the balanced selection, if there is one, or every question."""
    tables: QuestionTables = own.part("question tables")
    if raw:
        return tables.raw(run, split, balanced)
    wanted = tables.known(columns)
    return tables.whole(run, split, balanced, frozenset(wanted)).select(wanted)


def question_batches(
    run: Run, own: Benchmark, split: str | None, balanced: bool, columns: Sequence[str] | None, size: int
) -> Iterator[pl.DataFrame]:
    """The same, at most so many at a time."""
    refuse(at_least(1, {"size": size}))
    tables: QuestionTables = own.part("question tables")
    wanted = tables.known(columns)
    return (table.select(wanted) for table in tables.pieces(run, split, balanced, frozenset(wanted), size))


def _wanted(run: Run, split: str | None, selected: pl.DataFrame | None) -> tuple[pl.Series, pl.DataFrame | None]:
    """[video] is it of the split? And the questions that are listed, by video and number, if not all of them."""
    side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
    everywhere = pl.Series(np.ones(len(side), bool))
    if split is None:
        return everywhere, selected
    made = questions_of(run, AGQA, split, side.unique().to_list())
    if made is None:
        return side == split, selected
    keys = ["video", "number"]
    made = made if selected is None else made.join(selected, on=keys, how="semi")
    return everywhere, made.select(keys).sort(keys)


def _chosen(asked: pl.DataFrame, inside: pl.Series, selected: pl.DataFrame | None) -> pl.DataFrame:
    """The questions of a shard that are listed, by video and number."""
    wanted = asked if selected is None else between(selected, asked)
    if not inside.all():
        wanted = wanted.filter(inside.gather(wanted["video"]))
    if selected is not None:
        return asked[rows_of(asked, wanted, "balanced", "balance")]
    return wanted if ascending(wanted) else wanted.sort("video", "number")


def _raw_videos(run: Run, split: str | None, balanced: bool) -> pl.DataFrame:
    """As they are stored: positions in vocabulary.toml, rows of side tables."""
    bank, (inside, selected) = Bank(run), _wanted(run, split, selection(run) if balanced else None)
    tables = [QUESTIONS.read(folder) for folder in bank.folders()]
    return pl.concat([QUESTIONS.empty(), *tables][bool(tables) :]).pipe(_chosen, inside, selected)


def _videos(run: Run, split: str | None, balanced: bool, columns: frozenset[str]) -> pl.DataFrame:
    asked = WantedQuestions(run, split, balanced, columns)
    asked.refuse_too_many()
    groups = [asked.folders[at : at + TOGETHER] for at in range(0, len(asked.folders), TOGETHER)]
    with ThreadPoolExecutor(THREADS) as pool:
        return pl.concat(
            table for tables in pool.map(lambda group: [*asked.tables(group, MANY)], groups) for table in tables
        )


def _pieces_of_videos(
    run: Run, split: str | None, balanced: bool, columns: frozenset[str], size: int
) -> Iterator[pl.DataFrame]:
    asked = WantedQuestions(run, split, balanced, columns)
    return (table for folder in asked.folders for table in asked.tables([folder], size))


class WantedQuestions:
    """Questions about videos that are put into words, some shards at a time."""

    def __init__(self, run: Run, split: str | None, balanced: bool, columns: frozenset[str]):
        self.run, self.columns, self.bank, selected = run, columns, Bank(run), selection(run)
        self.folders = self.bank.folders()
        self.inside, self.only = _wanted(run, split, selected if balanced else None)
        self.marks = selected if selected is not None and not balanced and "balanced" in columns else None
        self.words = lexicon(self.bank.vocabulary, self.bank.edition)
        self.side = run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)
        # all shards are looked at for it, so only if somebody asks
        codes = len(self.bank.edition.by_code)
        self.most_steps = list(steps.of_run(self.bank)) if "more_steps" in columns else [0] * codes

    def refuse_too_many(self) -> None:
        """What cannot fit into memory is said before the machine halts."""
        if self.only is not None:
            count = len(self.only)
        else:
            count = sum(rows_in(folder / f"{QUESTIONS.name}.parquet") for folder in self.folders)
            count = int(count * (self.inside.mean() or 0))  # type: ignore[operator, arg-type]
        needed, free = count * (BYTES + TEXTS * len(self.columns & {"question", "program"})), available()
        if needed > free:
            told = f"about {needed / 1e9:,.0f} GB of memory for {count:,} questions, {free / 1e9:,.0f} GB are free"
            less = "take them by `iter_questions`, or fewer of them or of their `columns`"
            raise BadInput.at(self.run.folder, f"{told}; {less}")

    def tables(self, folders: Sequence[Path], most: int) -> Iterator[pl.DataFrame]:
        """Of shards that follow one another, at most so many rows each."""
        whole = map(self.bank.shard, folders)
        shard = joined([each.where(_chosen(each.questions, self.inside, self.only)) for each in whole])
        for rows in [shard.questions] if len(shard.questions) <= most else shard.questions.iter_slices(most):
            yield self.in_words(shard.where(rows))

    def in_words(self, shard: Shard) -> pl.DataFrame:
        table = shard.questions.select(*NEEDED.columns)
        more = {"question": texts(shard, self.words)} if "question" in self.columns else {}
        more |= {"program": programs(shard)} if "program" in self.columns else {}
        names = pl.Series([template.name for template in self.bank.edition.by_code], dtype=pl.String)
        twin = direct(twins_of(self.run, table["video"]), table)
        found = records(self.bank, table, twin, self.most_steps).rename({"video": "scope"})
        return found.with_columns(
            **more,
            split=self.side.gather(table["video"]),
            template=names.gather(table["template"]),
            balanced=self.kept(table),
        )

    def kept(self, table: pl.DataFrame) -> pl.Expr | pl.Series:
        """[question] is it in the selection?"""
        if self.marks is None:
            return pl.lit(True)
        marked = between(self.marks, table).with_columns(balanced=pl.lit(True))
        found = table.join(marked, on=["video", "number"], how="left", maintain_order="left")
        return found["balanced"].fill_null(False)


def available() -> float:
    """Bytes of memory that are free; where that is not told, as many as one likes."""
    try:
        told = dict(line.split(":") for line in Path("/proc/meminfo").read_text("ascii").splitlines())
        return int(told["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return float("inf")


def _raw_images(run: Run, split: str | None, balanced: bool) -> pl.DataFrame:
    table = answered(run)
    made = None if split is None else questions_of(run, COVR, split, table["split"].unique().to_list())
    if made is not None:
        table = table.join(made, on="id", how="semi", maintain_order="left")
    elif split is not None:
        table = table.filter(split=split)
    if balanced and (run.covr / f"{BALANCED.name}.parquet").is_file():
        table = table.join(BALANCED.read(run.covr), on="id", how="semi", maintain_order="left")
    return table


def _images(run: Run, split: str | None, balanced: bool, wanted: frozenset[str]) -> pl.DataFrame:
    table = _raw_images(run, split, balanced)
    kept: pl.Expr | pl.Series = pl.lit(True)
    if (run.covr / f"{BALANCED.name}.parquet").is_file():
        kept = table["id"].is_in(BALANCED.read(run.covr)["id"].implode())
    scope = (
        image_ids(table["images"], IMAGES.read(run.images)["id"])
        if len(table)
        else pl.Series([], dtype=pl.List(pl.String))
    )
    return (with_programs(table) if "program" in wanted else table).with_columns(scope=scope, balanced=kept)


def _pieces_of_images(
    run: Run, split: str | None, balanced: bool, columns: frozenset[str], size: int
) -> Iterator[pl.DataFrame]:
    return _images(run, split, balanced, columns).iter_slices(size)


VIDEO_QUESTIONS = QuestionTables(OF_VIDEOS, _raw_videos, _videos, _pieces_of_videos)
IMAGE_QUESTIONS = QuestionTables(OF_IMAGES, _raw_images, _images, _pieces_of_images)
