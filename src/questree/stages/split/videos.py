"""Splits of questions about videos: by video, novel compositions, more steps, indirect references, your own."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa import held_out
from questree.faults import BadInput
from questree.stages.balance.levelling import SPLITS
from questree.stages.balance.rounds import has_selection, selected
from questree.stages.direct_equivalents import DIRECT_COLUMNS, direct_equivalents, direct_questions
from questree.stages.questions import Bank, Shard
from questree.stages.shard_tables import ShardTables
from questree.stages.split.compositions import LISTS as LIST_OF
from questree.stages.split.compositions import Says
from questree.stages.split.declared import INDIRECT, NOVEL, File, Split, added, agqa, file_of, left_out, read_file
from questree.stages.split.drawn_lists import drawn_for, with_lists
from questree.stages.split.engine import (
    PARTS,
    Proof,
    SplitOptions,
    column,
    proofs_of,
    prove,
    write_notes,
    write_parts,
)
from questree.stages.split.language import of_videos
from questree.stages.split.rows import QuestionRows, video_rows
from questree.stages.split.steps import corpus, thresholds
from questree.tables.questions import BALANCED, QUESTIONS
from questree.tables.run import Run
from questree.tables.store import new_folder, scratch
from questree.tables.table import Table
from questree.vocabulary.words import HeldOutWords
from questree.workers import over

# the direct twin of an indirect question: the same arguments and key, with nothing referred to
REPORT = "report.json"
FLAG_OF = {name: flag for flag, name in LIST_OF.items()}  # of a list
TWINS = Table("twins", {"video": pl.UInt32, "number": pl.UInt32, "twin": pl.UInt32})  # twin: number in the same video
# what a question of the test of novel compositions is held out by: bits as those of its flags
LISTS = Table("lists", {"video": pl.UInt32, "number": pl.UInt32, "lists": pl.UInt8})


@dataclass(frozen=True)
class MadeOfVideos:
    name: str
    train: int
    test: int
    train_videos: int
    test_videos: int
    warnings: list[str]
    drawn: HeldOutWords | None = None  # what is held out, where a hash chose it

    @classmethod
    def of(cls, proof: Proof, drawn: HeldOutWords | None) -> "MadeOfVideos":
        warnings = [*proof.warnings(), *(f"{proof.split.name}: {text}" for text in proof.split.warnings)]
        (train, train_videos), (test, test_videos) = ((proof.counts[side], proof.places[side]) for side in SPLITS)
        drawn = drawn if proof.split.name == NOVEL else None
        return cls(proof.split.name, train, test, train_videos, test_videos, warnings, drawn)


@dataclass(frozen=True)
class SplitTask:
    """What every shard is split with; small enough to send anywhere that sees the run."""

    run: Path
    tables: ShardTables
    most: tuple[int, ...]  # [template] steps in train
    chosen: bool  # the balanced selection, or all questions
    as_released: bool
    file: Path | None  # the user's splits ...
    text: bytes  # ... as written
    drawn: HeldOutWords | None  # what is held out, where a hash chose it


@lru_cache(maxsize=1)
def declared(task: SplitTask) -> list[Split]:
    bank, _ = corpus(task.run)
    words = with_lists(bank.vocabulary, task.drawn)
    splits = agqa(words, task.most, bank.edition, task.as_released)
    file = file_of(task.file, task.text, bank.edition.codes) if task.file else File()
    language = of_videos(words, task.most, bank.edition)
    return splits + added("video", file, task.file, language, {each.name for each in splits})


def split(run: Run, options: SplitOptions, workers: int = 2) -> list[MadeOfVideos]:
    """Write RUN/splits/<name>/train.parquet and test.parquet."""
    bank, chosen = Bank(run), not options.all and has_selection(run)
    given = {**read_file(options.file, bank.edition.codes).more_steps, **(options.more_steps or {})}
    names, target = [folder.name for folder in bank.folders()], run.folder / "splits"
    drawn = drawn_for(run, options.as_released)
    with new_folder(target) as folder, scratch(target) as place:
        most, tables = thresholds(bank, given, chosen), ShardTables(place)
        task = SplitTask(run.folder, tables, most, chosen, options.as_released, options.file, options.written, drawn)
        splits = declared(task)
        with bank.pool(workers) as pool:
            over(pool, "splitting", "shard", names, split_shard, task)
        proofs = proofs_of(splits, tables)
        prove(proofs, "videos", bank.ids)
        write_splits(tables, splits, folder)
        made = [MadeOfVideos.of(proof, drawn) for proof in proofs]
        write_notes(folder, {REPORT: report(task, bank, made, options)})
    return made


def report(task: SplitTask, bank: Bank, made: list[MadeOfVideos], options: SplitOptions) -> dict[str, Any]:
    templates = {t.name for t in bank.edition.templates}
    steps = {t.name: m for t, m in zip(bank.edition.by_code, task.most, strict=True) if t.name in templates}
    used = {"all": options.all, "as released": options.as_released, "more steps": steps, "file": options.given}
    predicates = {s.name: {"train": str(s.train or "all"), "test": str(s.test or "all")} for s in declared(task)}
    absent = left_out(with_lists(bank.vocabulary, task.drawn))
    notes = {"options": used, "splits": made, "predicates": predicates} | ({"left out": absent} if absent else {})
    return notes | bank.run.made_of(task.chosen)


def split_shard(task: SplitTask, shard: str) -> None:
    """Write the tables of a shard, a piece at a time."""
    (bank, train), splits = corpus(task.run), declared(task)
    folder = bank.run.questions / shard
    first, last = QUESTIONS.ends(folder, "video")
    direct = None if train[first : last + 1].all() else direct_questions(DIRECT_COLUMNS.pieces(folder), bank.edition)
    for at, piece in enumerate(bank.pieces(folder)):
        questions = piece.where(selected(bank.run, piece.questions) if task.chosen else piece.questions)
        rows, of_train, name = video_rows(questions), train[questions.questions["video"].to_numpy()], f"{shard}.{at:06}"
        twins = twins_of(questions, of_train, direct)
        columns = questions.questions.select("video", "number", lists=novel_lists(splits, rows), twin=twins)
        write_parts(task.tables, name, splits, rows, {"train": of_train, "test": ~of_train}, columns)


def novel_lists(splits: list[Split], rows: QuestionRows) -> pl.Series:
    """[question] the lists by which the split of novel compositions holds it out, as bits."""
    novel = next((split for split in splits if split.name == NOVEL), None)
    if novel and novel.lenient:  # as released, by its flags
        return rows.questions["flags"] & held_out.NOVEL
    bits = np.zeros(len(rows), np.uint8)
    for each in novel.compositions if novel else ():
        assert isinstance(each.held_out, Says)
        bits |= each.held_out.holds(rows) * np.uint8(1 << held_out.FLAGS.index(FLAG_OF[each.held_out.list]))
    return pl.Series(bits)


def twins_of(shard: Shard, of_train: NDArray[np.bool_], direct: pl.DataFrame | None) -> pl.Series:
    """[question] the twin of an indirect test question, null of others."""
    indirect = ~of_train & (shard.column("flags") & held_out.INDIRECT > 0)
    if direct is None or not indirect.any():
        return pl.Series([None] * len(indirect), dtype=pl.UInt32)
    twins = direct_equivalents(shard.questions, direct, shard.edition)
    return pl.select(pl.when(pl.Series(indirect)).then(twins)).to_series()


def write_splits(tables: ShardTables, splits: list[Split], folder: Path) -> None:
    """What shards have of each part, one after the other."""
    parts = tables.scan(PARTS)
    for at, each in enumerate(splits):
        (folder / each.name).mkdir()
        for side in SPLITS:
            Table(side, BALANCED.columns).sink(parts.filter(column(at, side)), folder / each.name)
        if each.name == NOVEL:
            LISTS.sink(parts.filter(column(at, "test")), folder / each.name)
    twins = parts.filter(pl.col("twin").is_not_null()).sort("video", "number")
    TWINS.sink(twins, folder / INDIRECT)


def with_drawn_flags(run: Run, questions: pl.DataFrame) -> pl.DataFrame:
    """Questions of a run whose vocabulary has no lists, with the flags of those that its split drew."""
    folder, words = run.folder / "splits" / NOVEL, run.vocabulary()
    written = words.held_out is not None or held_out.is_agqas(words)
    if written or not (folder / f"{LISTS.name}.parquet").is_file() or questions.is_empty():
        return questions
    run.refuse_stale(folder.parent / REPORT, "split")
    near = pl.col("video").is_between(pl.lit(questions["video"].min()), pl.lit(questions["video"].max()))
    drawn = questions.join(LISTS.read(folder, near), on=["video", "number"], how="left", maintain_order="left")
    others = pl.col("flags") & ~pl.lit(held_out.NOVEL, LISTS.columns["lists"])
    return drawn.with_columns(flags=others | pl.col("lists").fill_null(0)).drop("lists")


def read_split(run: Run, name: str) -> dict[str, pl.DataFrame]:
    """train and test of a split: video, number."""
    folder = run.folder / "splits" / name
    if not folder.is_dir():
        there = sorted(path.name for path in folder.parent.glob("*") if path.is_dir())
        known = f"choose from {', '.join(there)}" if there else "there are none: run `questree split`"
        raise BadInput.at(folder, f"no such split; {known}")
    run.refuse_stale(folder.parent / REPORT, "split")
    return {side: Table(side, BALANCED.columns).read(folder) for side in SPLITS}
