"""A run in the layout of AGQA's release: question files, CSVs for the baselines, id tables, scene graphs."""

import json
import shutil
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

import polars as pl

from questree.benchmarks.agqa.records import FIELDS, lines
from questree.faults import BadInput
from questree.formats import agqa_csvs as csvs
from questree.formats.agqa_csvs import runs
from questree.formats.agqa_graphs import write_graphs
from questree.formats.agqa_import import files, read, split_of
from questree.formats.agqa_records import Generated
from questree.progress import watch
from questree.tables.facts import SPLIT_UNSAID
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier
from questree.vocabulary.words import Vocabulary
from questree.workers import processes


def id_tables(vocabulary: Vocabulary) -> dict[str, dict[str, str]]:
    """ENG: id -> English; IDX: English -> id, of the word that is counted where two are said alike."""
    words = [(word.id, word.name, not word.merged) for word in vocabulary.objects]
    words += [(word.id, word.name, not word.folds) for word in vocabulary.relations if word.group != "derived"]
    words += [(word.id, word.phrase, not word.merged) for word in vocabulary.actions]
    ids: dict[str, str] = {}
    for counted in (True, False):
        for id, english, own in words:
            if own == counted:
                ids.setdefault(english, id)
    return {"ENG": {id: english for id, english, _ in words}, "IDX": ids}


@dataclass(frozen=True)
class Imported:
    run: Path
    sets: tuple[str, ...]

    @classmethod
    def of(cls, run: Run, sets: tuple[str, ...]) -> "Imported":
        return cls(run.folder, tuple(name for name in sets if files(run.imported, name)))

    @property
    def pieces(self) -> list[str]:
        return [file for name in self.sets for file in files(self.folder, name)]

    @property
    def folder(self) -> Path:
        return Run(self.run).imported

    def count(self, piece: str) -> pl.DataFrame:
        """Rows of CSV files, of the first set; records that could not be read are not in them."""
        first = piece.startswith(f"{self.sets[0]}/")
        table = read(self.folder, piece).filter(pl.col("question").is_not_null() & first)
        split = pl.lit(split_of(piece)).alias("split")
        return runs(table.select(split, pl.col("video_id").alias("video"), "novel_comp", "more_steps"))

    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]:
        name = piece.partition("/")[0]
        yield name, read(self.folder, piece).with_columns(split=pl.lit(split_of(piece)))


SETS = ("balanced", "unbalanced")
GRAPHS, CSVS = "AGQA_scene_graphs", "csvs"
FOLDERS = (*(f"AGQA_{name}" for name in SETS), CSVS, GRAPHS)
GLUE = b", "
BLOCK = 1 << 22  # bytes copied at once


@dataclass(frozen=True)
class ExportOptions:
    unbalanced: bool = False
    csv: bool = True
    graphs: bool = True


class RecordSource(Protocol):
    """Questions as records; a piece is what one process works on."""

    @property
    def sets(self) -> tuple[str, ...]: ...
    @property
    def pieces(self) -> list[str]: ...
    def count(self, piece: str) -> pl.DataFrame: ...
    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]: ...


@dataclass(frozen=True)
class ExportTask:
    source: RecordSource
    piece: str
    out: Path  # folder for its part of every file
    places: dict[tuple[str, str], csvs.Numbering]  # empty: no CSVs


def export(
    run: Run, out: Path, options: ExportOptions, workers: int = 2, pool: Executor | None = None
) -> dict[str, int]:
    """Write everything to `out`, whole or not at all; returns the number of questions per file."""
    check_target(out)
    source = questions(run, options)
    with new_folder(out) as folder, TemporaryDirectory(prefix=".parts-", dir=folder) as parts:
        tasks = [ExportTask(source, piece, Path(parts) / f"{at:05d}", {}) for at, piece in enumerate(source.pieces)]
        if options.csv:
            rows = [source.count(piece) for piece in watch(source.pieces, "counting", len(tasks))]
            tasks = [replace(task, places=own) for task, own in zip(tasks, csvs.numberings(rows), strict=True)]
        with processes(workers, pool) as executor:
            futures = [executor.submit(write_part, task) for task in tasks]
            try:
                found = join(folder, source.sets, tasks, futures)
            finally:
                executor.shutdown(wait=False, cancel_futures=True)  # after a fault, do not begin the rest
        graphs = folder / GRAPHS
        graphs.mkdir()
        for name, table in id_tables(run.vocabulary()).items():
            (graphs / f"{name}.txt").write_text(json.dumps(table), "utf-8")
        facts = run.newest() if options.graphs else None
        if facts:
            splits = facts.videos["split"].replace("", SPLIT_UNSAID).to_list()
            write_graphs(facts, run.vocabulary(), graphs, splits)
    return found


def check_target(out: Path) -> None:
    """An earlier export may be replaced, nothing else."""
    only_earlier(out, FOLDERS.__contains__)


def questions(run: Run, options: ExportOptions) -> RecordSource:
    """The generated questions of a run, or else its imported ones."""
    run.vocabulary()
    generated = run.questions.is_dir()
    if not generated and not run.imported.is_dir():
        raise BadInput.at(run.folder, "no questions here: `questree generate` makes them, `questree import` reads them")
    balanced = run.balanced.is_dir() if generated else (run.imported / SETS[0]).is_dir()
    if not balanced and not options.unbalanced:
        raise BadInput.at(run.balanced, "no balanced questions: `questree balance` selects them; or use --unbalanced")
    sets = (*SETS[:balanced], *(SETS[1:] if options.unbalanced else ()))
    return Generated.of(run, sets) if generated else Imported.of(run, sets)


def write_part(task: ExportTask) -> dict[str, int]:
    """The records of one piece, as parts of the final files; returns how many there are."""
    task.out.mkdir()
    found: dict[str, int] = {}
    places = dict(task.places)
    for name, batch in task.source.batches(task.piece):
        for split in FIELDS:
            few = batch.filter(pl.col("split") == split)
            if len(few):
                file = f"{split}_{name}.txt"
                append(task.out / file, few, split)
                found[file] = found.get(file, 0) + len(few)
        if places and name == task.source.sets[0]:
            csvs.append(batch, task.out, name, places)
    return found


def append(path: Path, records: pl.DataFrame, split: str) -> None:
    with path.open("ab") as file:
        if file.tell():
            file.write(GLUE)
        file.write(", ".join(lines(records, split).to_list()).encode())


def join(
    folder: Path, sets: tuple[str, ...], tasks: list[ExportTask], futures: list[Future[dict[str, int]]]
) -> dict[str, int]:
    """Put the parts together in order, as they come."""
    found = {f"{split}_{name}.txt": 0 for name in sets for split in FIELDS}
    files = {name: folder / f"AGQA_{name[:-4].partition('_')[2]}" / name for name in found}
    tables = {name: folder / CSVS / name for name in csvs.file_names(sets[0])} if any(t.places for t in tasks) else {}
    for path in (files | tables).values():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{" if path.name in files else csvs.HEADER.encode())
    for task, future in watch(zip(tasks, futures, strict=True), "export", len(tasks)):
        counts = future.result()
        for name, path in (files | tables).items():
            move(task.out / name, path, GLUE if found.get(name) else b"")
        found = {name: count + counts.get(name, 0) for name, count in found.items()}
        task.out.rmdir()
    for path in files.values():
        with path.open("ab") as file:
            file.write(b"}")
    return found


def move(part: Path, target: Path, glue: bytes) -> None:
    """Append a part to its file, if there is one, and remove it."""
    if part.is_file():
        with part.open("rb") as source, target.open("ab") as file:
            file.write(glue)
            shutil.copyfileobj(source, file, BLOCK)
        part.unlink()
