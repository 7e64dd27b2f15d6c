"""Splits of questions about videos: by video, novel compositions, more steps, indirect references, your own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from questree.benchmarks.agqa import held_out
from questree.faults import BadInput
from questree.progress import watch
from questree.stages.balance.levelling import SPLITS
from questree.stages.balance.rounds import between, selection
from questree.stages.questions import Bank, Shard, direct_equivalents
from questree.stages.split.declared import INDIRECT, Split, added, agqa, left_out, read_file
from questree.stages.split.engine import Parts, Proof, SplitOptions, divide, parts_of, write_notes
from questree.stages.split.language import of_videos
from questree.stages.split.rows import QuestionRows, Truth, video_rows
from questree.stages.split.steps import thresholds
from questree.tables.facts import VIDEOS
from questree.tables.questions import BALANCED
from questree.tables.run import Run
from questree.tables.store import new_folder
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

    @classmethod
    def of(cls, proof: Proof) -> "MadeOfVideos":
        train, test = (len(proof.places[side]) for side in SPLITS)
        told = (f"{proof.split.name}: {text}" for text in proof.split.warnings)
        return cls(proof.split.name, proof.train, proof.test, train, test, [*proof.warnings(), *told])


def split(run: Run, options: SplitOptions, workers: int = 2) -> list[MadeOfVideos]:
    """Write RUN/splits/<name>/train.parquet and test.parquet, shard by shard: nothing has to fit into memory."""
    bank, train = Bank(run), (run.table("facts", VIDEOS)["split"] == "train").to_numpy()
    edition, chosen = bank.edition, None if options.all else selection(run)
    file = read_file(options.file, edition.codes)
    most = thresholds(bank, train, {**file.more_steps, **(options.more_steps or {})}, chosen, workers)
    splits = agqa(bank.vocabulary, most, edition, options.as_released)
    language = of_videos(bank.vocabulary, most, edition)
    splits += added("video", file, options.file, language, {each.name for each in splits})
    with new_folder(run.folder / "splits") as folder:
        with ThreadPoolExecutor(workers) as pool, ExitStack() as files:
            writers = {
                (each.name, side): files.enter_context(TableWriter(folder / each.name / f"{side}.parquet", BALANCED))
                for each in splits
                for side in SPLITS
            }
            twins = files.enter_context(TableWriter(folder / INDIRECT / "twins.parquet", TWINS))

            def pieces() -> Iterator[tuple[QuestionRows, list[Parts]]]:
                made = pool.map(lambda shard: piece(bank.shard(shard), chosen, train, splits), bank.folders())
                for found in watch(made, "splitting", len(bank.folders())):
                    if found is not None:
                        twins.write(found[2])
                        yield found[:2]

            def write(name: str, rows: QuestionRows, parts: Parts) -> None:
                for side in SPLITS:
                    writers[name, side].write(rows.questions.filter(parts[side]))

            proofs = divide(splits, pieces(), write, bank.ids)
        made = [MadeOfVideos.of(proof) for proof in proofs]
        asked = {t.name for t in edition.templates}
        steps = {t.name: m for t, m in zip(edition.by_code, most, strict=True) if t.name in asked}
        used = {"all": options.all, "as released": options.as_released, "more steps": steps, "file": options.given}
        predicates = {s.name: {"train": str(s.train or "all"), "test": str(s.test or "all")} for s in splits}
        notes = {"options": used, "splits": made, "predicates": predicates}
        absent = left_out(bank.vocabulary)
        write_notes(folder, {"report.json": notes | ({"left out": absent} if absent else {})})
    return made


def piece(
    shard: Shard, chosen: pl.DataFrame | None, train: Truth, splits: list[Split]
) -> tuple[QuestionRows, list[Parts], pl.DataFrame] | None:
    """The chosen questions of a shard, the parts of every split, and the twins of indirect test questions."""
    asked = shard.questions
    if chosen is not None:
        asked = asked.join(between(chosen, asked), on=["video", "number"], how="semi", maintain_order="left")
    if asked.is_empty():
        return None
    rows, of_train = video_rows(shard.where(asked)), train[asked["video"].to_numpy()]
    side = {"train": of_train, "test": ~of_train}
    test = asked.filter(~of_train)
    twins = test.with_columns(twin=direct_equivalents(test, shard.questions, shard.edition))
    indirect = (pl.col("flags") & held_out.INDIRECT > 0) & pl.col("twin").is_not_null()
    inside = [parts_of(each, rows, side) for each in splits]
    return rows, inside, TWINS.frame(twins.filter(indirect).sort("video", "number"))


class TableWriter:
    """A Parquet file written piece by piece, with the columns of a table."""

    def __init__(self, path: Path, table: Table):
        from pyarrow.parquet import ParquetWriter  # slow to import, and reading a split needs none

        path.parent.mkdir(parents=True, exist_ok=True)
        self.table = table
        self.file = ParquetWriter(path, table.empty().to_arrow().schema, compression="zstd")

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
