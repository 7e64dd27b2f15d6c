"""Splits of questions about videos: by video, novel compositions, more steps, indirect references, your own."""

from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa import held_out
from questree.faults import BadInput
from questree.progress import watch
from questree.stages.balance.levelling import SPLITS
from questree.stages.balance.rounds import has_selection, selected
from questree.stages.direct_equivalents import DIRECT_COLUMNS, direct_equivalents, direct_questions
from questree.stages.questions import Bank, Shard
from questree.stages.split.compositions import LISTS as LIST_OF
from questree.stages.split.compositions import Says
from questree.stages.split.declared import INDIRECT, NOVEL, File, Split, added, agqa, file_of, left_out, read_file
from questree.stages.split.drawn_lists import drawn_for, with_lists
from questree.stages.split.engine import Proof, SplitCounts, SplitOptions, parts_of, prove, see, write_notes
from questree.stages.split.language import of_videos
from questree.stages.split.rows import QuestionRows, video_rows
from questree.stages.split.steps import corpus, thresholds
from questree.tables.growing import TableWriter
from questree.tables.questions import BALANCED, QUESTIONS
from questree.tables.run import Run
from questree.tables.store import for_others, new_folder, scratch
from questree.tables.table import Table
from questree.vocabulary.words import HeldOutWords
from questree.workers import over

# the direct twin of an indirect question: the same arguments and key, with nothing referred to
PARTS, REPORT = "parts", "report.json"
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
        seen = proof.counts
        train, test = (len(seen.places[side]) for side in SPLITS)
        told = (f"{proof.split.name}: {text}" for text in proof.split.warnings)
        return cls(proof.split.name, seen.train, seen.test, train, test, [*proof.warnings(), *told], drawn)


@dataclass(frozen=True)
class SplitTask:
    """What every shard is split with; small enough to send anywhere that sees the run."""

    run: Path
    scratch: Path  # for the parts of shards
    most: tuple[int, ...]  # [template] steps in train
    chosen: bool  # the balanced selection, or all questions
    as_released: bool
    file: Path | None  # the user's splits ...
    text: bytes  # ... as written
    drawn: HeldOutWords | None  # what is held out, where a hash chose it


@lru_cache(maxsize=1)
def declared(task: SplitTask) -> tuple[list[Split], list[set[int]]]:
    """The splits, and what this process has met in train of the parts of each: nobody has to look for it again."""
    bank, _ = corpus(task.run)
    words = with_lists(bank.vocabulary, task.drawn)
    splits = agqa(words, task.most, bank.edition, task.as_released)
    file = file_of(task.file, task.text, bank.edition.codes) if task.file else File()
    language = of_videos(words, task.most, bank.edition)
    splits += added("video", file, task.file, language, {each.name for each in splits})
    return splits, [set() for _ in splits]


def split(run: Run, options: SplitOptions, workers: int = 2) -> list[MadeOfVideos]:
    """Write RUN/splits/<name>/train.parquet and test.parquet, shard by shard: nothing has to fit into memory."""
    bank, chosen = Bank(run), not options.all and has_selection(run)
    given = {**read_file(options.file, bank.edition.codes).more_steps, **(options.more_steps or {})}
    names = [folder.name for folder in bank.folders()]
    drawn = drawn_for(run, options.as_released)
    with new_folder(run.folder / "splits") as folder, scratch(run.folder / "splits") as place:
        with bank.pool(workers) as pool:
            most = thresholds(bank, pool, given, chosen)
            task = SplitTask(run.folder, place, most, chosen, options.as_released, options.file, options.written, drawn)
            proofs = [Proof(each) for each in declared(task)[0]]
            done = over(pool, "splitting", "shard", names, split_shard, task)
        for shard in done:
            for proof, counts in zip(proofs, shard.counts, strict=True):
                proof.counts.add(counts)
        prove(proofs, bank.ids)
        put_together(task, [shard.pieces for shard in done], folder)
        made = [MadeOfVideos.of(proof, drawn if proof.split.name == NOVEL else None) for proof in proofs]
        write_notes(folder, {REPORT: report(task, bank, made, options)})
    return made


def report(task: SplitTask, bank: Bank, made: list[MadeOfVideos], options: SplitOptions) -> dict[str, Any]:
    asked = {t.name for t in bank.edition.templates}
    steps = {t.name: m for t, m in zip(bank.edition.by_code, task.most, strict=True) if t.name in asked}
    used = {"all": options.all, "as released": options.as_released, "more steps": steps, "file": options.given}
    predicates = {s.name: {"train": str(s.train or "all"), "test": str(s.test or "all")} for s in declared(task)[0]}
    absent = left_out(with_lists(bank.vocabulary, task.drawn))
    said = {"options": used, "splits": made, "predicates": predicates} | ({"left out": absent} if absent else {})
    return said | bank.run.made_of(task.chosen)


@dataclass(frozen=True)
class SplitShard:
    pieces: list[str]  # names of the files of its parts
    counts: list[SplitCounts]  # [split]


def split_shard(task: SplitTask, shard: str) -> SplitShard:
    """Per split, what was seen of it; the questions go to files, with a column for each part."""
    (bank, train), (splits, met) = corpus(task.run), declared(task)
    folder = bank.run.questions / shard
    first, last = QUESTIONS.ends(folder, "video")
    direct = None if train[first : last + 1].all() else direct_questions(DIRECT_COLUMNS.pieces(folder), bank.edition)
    proofs = [Proof(each, SplitCounts(met=set(own))) for each, own in zip(splits, met, strict=True)]
    names = []
    for at, whole in enumerate(bank.pieces(folder)):
        asked = whole.where(selected(bank.run, whole.questions) if task.chosen else whole.questions)
        names.append(f"{shard}.{at}")
        tables = {PARTS: parts_in(proofs, met, asked, train), TWINS.name: twins_of(asked, train, direct)}
        for name, table in tables.items():
            with for_others(task.scratch / f"{names[-1]}.{name}") as file:
                table.write_ipc(file)
    return SplitShard(names, [proof.counts for proof in proofs])


def parts_in(proofs: list[Proof], met: list[set[int]], asked: Shard, train: NDArray[np.bool_]) -> pl.DataFrame:
    """video, number and a column for each part of each split, all of which proofs have seen."""
    rows, of_train = video_rows(asked), train[asked.questions["video"].to_numpy()]
    side, found = {"train": of_train, "test": ~of_train}, asked.questions.select("video", "number")
    for proof, own in zip(proofs, met, strict=True):
        parts = parts_of(proof.split, rows, side)
        see(proof, rows, parts)
        own |= proof.counts.met
        found = found.with_columns(pl.Series(part_of(proof.split, side), parts[side]) for side in SPLITS)
        if proof.split.name == NOVEL:
            found = found.with_columns(lists=lists_of(proof.split, rows))
    return found


def lists_of(split: Split, rows: QuestionRows) -> pl.Series:
    """[question] the lists by which it is held out, as bits."""
    if split.lenient:  # as released, by its flags
        return rows.questions["flags"] & held_out.NOVEL
    found = np.zeros(len(rows), np.uint8)
    for each in split.compositions:
        assert isinstance(each.held_out, Says)
        found |= each.held_out.holds(rows) * np.uint8(1 << held_out.FLAGS.index(FLAG_OF[each.held_out.list]))
    return pl.Series(found)


def part_of(split: Split, side: str) -> str:
    """A column of the parts of a shard."""
    return f"{split.name} {side}"


def twins_of(asked: Shard, train: NDArray[np.bool_], direct: pl.DataFrame | None) -> pl.DataFrame:
    """The twins of indirect test questions."""
    if direct is None:
        return TWINS.empty()
    test = asked.questions.filter(~train[asked.questions["video"].to_numpy()])
    twins = test.with_columns(twin=direct_equivalents(test, direct, asked.edition))
    indirect = (pl.col("flags") & held_out.INDIRECT > 0) & pl.col("twin").is_not_null()
    return TWINS.frame(twins.filter(indirect))


def put_together(task: SplitTask, shards: list[list[str]], folder: Path) -> None:
    """What shards have of each part, one after the other, and of each piece by piece."""
    with ExitStack() as files:
        writers = {
            part_of(each, side): files.enter_context(TableWriter(folder / each.name / f"{side}.parquet", BALANCED))
            for each in declared(task)[0]
            for side in SPLITS
        }
        twins = files.enter_context(TableWriter(folder / INDIRECT / "twins.parquet", TWINS))
        listed = [
            (each, files.enter_context(TableWriter(folder / each.name / f"{LISTS.name}.parquet", LISTS)))
            for each in declared(task)[0]
            if each.name == NOVEL
        ]
        for shard in watch(shards, "writing", len(shards)):
            found, own = (
                [pl.scan_ipc(task.scratch / f"{piece}.{name}", glob=False) for piece in shard]
                for name in (PARTS, TWINS.name)
            )
            twins.write(pl.concat(own).sort("video", "number").collect())
            for name, writer in writers.items():
                writer.write_all(piece.filter(name).select(*BALANCED.columns).collect() for piece in found)
            for each, writer in listed:
                chosen = [piece.filter(part_of(each, "test")) for piece in found]
                writer.write_all(piece.select(*LISTS.columns).collect() for piece in chosen)


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
