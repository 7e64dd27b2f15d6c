"""Splits of questions about videos: by video, novel compositions, more steps, indirect references, your own."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from questree.benchmarks.agqa import held_out
from questree.faults import BadInput
from questree.progress import watch
from questree.stages.balance.levelling import SPLITS
from questree.stages.balance.rounds import selection
from questree.stages.questions import Bank, direct_equivalents
from questree.stages.split.declared import INDIRECT, added, agqa, read_file
from questree.stages.split.engine import Declared, Parts, Proof, SplitOptions, Splittable, divide, parts_of
from questree.stages.split.language import of_videos
from questree.stages.split.rows import QuestionRows, video_rows
from questree.stages.split.steps import thresholds
from questree.tables.facts import VIDEOS
from questree.tables.questions import BALANCED
from questree.tables.run import Run
from questree.tables.table import Table

# the direct twin of an indirect question: the same arguments and key, with nothing referred to
TWINS = Table("twins", {"video": pl.UInt32, "number": pl.UInt32, "twin": pl.UInt32})  # twin: number in the same video


@dataclass(frozen=True)
class MadeOfVideos:
    name: str
    train: int
    test: int
    train_videos: int
    test_videos: int
    warnings: list[str]


def split(run: Run, options: SplitOptions, workers: int = 2) -> list[MadeOfVideos]:
    """Write RUN/splits/<name>/train.parquet and test.parquet."""
    with ThreadPoolExecutor(workers) as pool:
        return divide(VideoQuestions(run, options, workers, pool))


class VideoQuestions(Splittable[MadeOfVideos]):
    """Shard by shard, so that nothing has to fit into memory; twins of indirect test questions beside."""

    def __init__(self, run: Run, options: SplitOptions, workers: int, pool: ThreadPoolExecutor):
        self.bank, self.options, self.pool = Bank(run), options, pool
        self.folder, self.ids = run.folder / "splits", self.bank.ids
        self.train = (run.table("facts", VIDEOS)["split"] == "train").to_numpy()
        self.chosen = None if options.all else selection(run)
        edition = self.bank.edition
        file = read_file(options.file, edition.codes)
        self.most = thresholds(self.bank, self.train, {**file.more_steps, **(options.more_steps or {})}, workers)
        found = agqa(self.bank.vocabulary, self.most, edition)
        language = of_videos(self.bank.vocabulary, self.most, edition)
        found += added("video", file, options.file, language, {each.name for each in found})
        self.declared = [Declared(each) for each in found]

    def pieces(self) -> Iterator[tuple[QuestionRows, list[Parts]]]:
        folders = self.bank.folders()
        for rows, inside, twins in watch(self.pool.map(self._piece, folders), "splitting", len(folders)):
            if rows is not None:
                self.twins.write(twins)
                yield rows, inside

    def _piece(self, folder: Path) -> tuple[QuestionRows | None, list[Parts], pl.DataFrame]:
        shard = self.bank.shard(folder)
        asked = shard.questions
        if self.chosen is not None:
            own = between(self.chosen, asked)
            asked = asked.join(own, on=["video", "number"], how="semi", maintain_order="left")
        if asked.is_empty():
            return None, [], TWINS.empty()
        rows, of_train = video_rows(shard.where(asked)), self.train[asked["video"].to_numpy()]
        side = {"train": of_train, "test": ~of_train}
        test = asked.filter(~of_train)
        twins = test.with_columns(twin=direct_equivalents(test, shard.questions, self.bank.edition))
        indirect = (pl.col("flags") & held_out.INDIRECT > 0) & pl.col("twin").is_not_null()
        inside = [parts_of(each.split, rows, side) for each in self.declared]
        return rows, inside, TWINS.frame(twins.filter(indirect).sort("video", "number"))

    @contextmanager
    def writing(self, folder: Path) -> Iterator[Callable[[str, QuestionRows, Parts], None]]:
        with ExitStack() as stack:
            writers = {
                (each.split.name, side): stack.enter_context(
                    TableWriter(folder / each.split.name / f"{side}.parquet", BALANCED)
                )
                for each in self.declared
                for side in SPLITS
            }
            self.twins = stack.enter_context(TableWriter(folder / INDIRECT / "twins.parquet", TWINS))

            def write(name: str, rows: QuestionRows, parts: Parts) -> None:
                for side in SPLITS:
                    writers[name, side].write(rows.questions.filter(parts[side]))

            yield write

    def made(self, declared: Declared, proof: Proof) -> MadeOfVideos:
        videos = {side: len(found) for side, found in proof.places.items()}
        name = declared.split.name
        return MadeOfVideos(name, proof.train, proof.test, videos["train"], videos["test"], proof.warnings())

    def notes(self, made: Sequence[MadeOfVideos]) -> dict[str, Any]:
        edition = self.bank.edition
        asked = {t.name for t in edition.templates}
        steps = {t.name: m for t, m in zip(edition.by_code, self.most, strict=True) if t.name in asked}
        used = {"all": self.options.all, "more steps": steps, "file": self.options.given}
        splits = [each.split for each in self.declared]
        predicates = {s.name: {"train": str(s.train or "all"), "test": str(s.test or "all")} for s in splits}
        return {"report.json": {"options": used, "splits": made, "predicates": predicates}}


def between(chosen: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """The selected questions of the videos of a shard; `chosen` is sorted by video."""
    own = asked["video"].to_numpy()
    if not len(own):
        return chosen[:0]
    lo, hi = np.searchsorted(chosen["video"].to_numpy(), [own.min(), own.max() + 1])
    return chosen[int(lo) : int(hi)]


class TableWriter:
    """A Parquet file written piece by piece, with the columns of a table."""

    def __init__(self, path: Path, table: Table):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.table = table
        self.file = pq.ParquetWriter(path, table.empty().to_arrow().schema, compression="zstd")

    def __enter__(self) -> "TableWriter":
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
        known = f"choose from {', '.join(there)}" if there else "there are none: run `questree split`"
        raise BadInput.at(folder, f"no such split; {known}")
    return {side: Table(side, BALANCED.columns).read(folder) for side in SPLITS}
