"""Splitting of a run: every split is evaluated, proved and written, shard by shard."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from questree.benchmarks.agqa import held_out
from questree.faults import BadInput, refuse
from questree.progress import watch
from questree.stages.balance.options import SPLITS
from questree.stages.balance.rounds import selection
from questree.stages.questions import Bank, direct_equivalents
from questree.stages.split.declared import INDIRECT, PLUGGED, File, Split, agqa, own, read_file
from questree.stages.split.language import read
from questree.stages.split.proofs import Proof
from questree.stages.split.rows import Rows, Truth
from questree.stages.split.shapes import rows_of
from questree.stages.split.steps import thresholds
from questree.tables.balanced import BALANCED
from questree.tables.facts import VIDEOS
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table

# the direct twin of an indirect question: the same arguments and key, with nothing referred to
TWINS = Table("twins", {"video": pl.UInt32, "number": pl.UInt32, "twin": pl.UInt32})  # twin: number in the same video
Done = tuple[Rows | None, list[tuple[Truth, Truth]], pl.DataFrame]


@dataclass(frozen=True)
class SplitOptions:
    file: Path | None = None  # the user's splits
    all: bool = False  # split every question, not only the balanced selection
    more_steps: dict[str, int] | None = None  # template -> most steps in train


@dataclass(frozen=True)
class Made:
    name: str
    train: int
    test: int
    train_videos: int
    test_videos: int
    warnings: list[str]


def split(run: Run, options: SplitOptions, workers: int = 2) -> list[Made]:
    """Write RUN/splits/<name>/train.parquet and test.parquet; a violated proof writes nothing."""
    bank = Bank(run)
    train = (run.table("facts", VIDEOS)["split"] == "train").to_numpy()
    chosen = None if options.all else selection(run)
    file = read_file(options.file) if options.file else File()
    most = thresholds(bank, train, {**file.more_steps, **(options.more_steps or {})}, workers)
    declared = agqa(bank.vocabulary, most, bank.edition)
    taken = {each.name for each in declared}
    with ThreadPoolExecutor(workers) as pool:
        reader = partial(read, vocabulary=bank.vocabulary, most_steps=most, edition=bank.edition)
        added = PLUGGED["video"]
        declared += own(added, added.places.__getitem__, reader, taken)
        declared += own(file.splits, lambda name: f"{options.file}, {name}", reader, {*taken, *added})
        proofs = [Proof(each) for each in declared]
        with new_folder(run.folder / "splits") as folder:
            write(folder, bank, declared, proofs, train, chosen, pool)
            refuse([fault for proof in proofs for fault in proof.faults(bank.ids)])
            made = [report(proof) for proof in proofs]
            asked = {t.name for t in bank.edition.templates}
            steps = {t.name: m for t, m in zip(bank.edition.by_code, most, strict=True) if t.name in asked}
            given = options.file.read_text("utf-8") if options.file else ""
            used = {"all": options.all, "more steps": steps, "file": given}
            note = {"options": used, "splits": made, "predicates": said(declared)}
            (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(note)))
    return made


def said(declared: list[Split]) -> dict[str, dict[str, Any]]:
    return {each.name: {"train": str(each.train or "all"), "test": str(each.test or "all")} for each in declared}


def report(proof: Proof) -> Made:
    videos = {side: len(found) for side, found in proof.places.items()}
    return Made(proof.split.name, proof.train, proof.test, videos["train"], videos["test"], proof.warnings())


def write(
    folder: Path,
    bank: Bank,
    declared: list[Split],
    proofs: list[Proof],
    train: NDArray[np.bool_],
    chosen: pl.DataFrame | None,
    pool: ThreadPoolExecutor,
) -> None:
    """One row group per shard, so that nothing has to fit into memory."""
    folders = bank.folders()
    with ExitStack() as stack:
        writers = {
            (each.name, side): stack.enter_context(Writer(folder / each.name / f"{side}.parquet", BALANCED))
            for each in declared
            for side in SPLITS
        }
        twin_file = stack.enter_context(Writer(folder / INDIRECT / "twins.parquet", TWINS))
        done: Iterator[Done] = pool.map(lambda f: evaluate(bank, f, declared, train, chosen), folders)
        for rows, sides, found in watch(done, "splitting", len(folders)):
            if rows is None:
                continue
            for each, proof, masks in zip(declared, proofs, sides, strict=True):
                proof.see(rows, *masks)
                for side, mask in zip(SPLITS, masks, strict=True):
                    writers[each.name, side].write(rows.questions.filter(mask))
            twin_file.write(found)


def evaluate(
    bank: Bank, folder: Path, declared: list[Split], train: NDArray[np.bool_], chosen: pl.DataFrame | None
) -> Done:
    """Rows of a shard, per split which are in train and in test, and the twins of the indirect test questions."""
    shard = bank.shard(folder)
    asked = shard.questions
    if chosen is not None:
        asked = asked.join(between(chosen, asked), on=["video", "number"], how="semi", maintain_order="left")
    if asked.is_empty():
        return None, [], TWINS.empty()
    rows = rows_of(shard.where(asked))
    of_train = train[asked["video"].to_numpy()]
    sides = [
        (
            of_train & (each.train.holds(rows) if each.train else True),
            ~of_train & (each.test.holds(rows) if each.test else True),
        )
        for each in declared
    ]
    test = asked.filter(~of_train)
    twins = test.with_columns(twin=direct_equivalents(test, shard.questions, bank.edition))
    indirect = (pl.col("flags") & held_out.INDIRECT > 0) & pl.col("twin").is_not_null()
    return rows, sides, TWINS.frame(twins.filter(indirect).sort("video", "number"))


def between(chosen: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """The selected questions of the videos of a shard; `chosen` is sorted by video."""
    own = asked["video"].to_numpy()
    if not len(own):
        return chosen[:0]
    lo, hi = np.searchsorted(chosen["video"].to_numpy(), [own.min(), own.max() + 1])
    return chosen[int(lo) : int(hi)]


class Writer:
    """A Parquet file written piece by piece, with the columns of a table."""

    def __init__(self, path: Path, table: Table):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.table = table
        self.file = pq.ParquetWriter(path, table.empty().to_arrow().schema, compression="zstd")

    def __enter__(self) -> "Writer":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def write(self, rows: pl.DataFrame) -> None:
        if len(rows):
            self.file.write_table(self.table.frame(rows).to_arrow())


def read_split(run: Run, name: str) -> dict[str, pl.DataFrame]:
    """train and test of a split: video, number."""
    folder = run.folder / "splits" / name
    if not folder.is_dir():
        there = sorted(path.name for path in folder.parent.glob("*") if path.is_dir())
        raise BadInput.at(folder, f"no such split; there are {', '.join(there) or 'none: run `questree split`'}")
    return {side: Table(side, BALANCED.columns).read(folder) for side in SPLITS}
