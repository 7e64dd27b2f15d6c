"""A run in the layout of AGQA's release: question files, CSVs for the published baselines, id tables, scene graphs."""

import json
import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa import held_out
from questree.benchmarks.agqa.records import FIELDS, lines
from questree.columns.hashing import Hashes, mix, seed_of
from questree.faults import BadInput
from questree.formats.agqa_graphs import write_graphs
from questree.formats.agqa_import import SETS, files, read, split_of
from questree.formats.agqa_records import BATCH, Records, corpus, refuse_unwritable
from questree.notation.agqa import write
from questree.places import path_of
from questree.progress import watch
from questree.stages.balance.rounds import selection
from questree.stages.questions import Bank, numbered
from questree.stages.split import steps
from questree.stages.split.videos import with_drawn_flags
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.lock import options as stage_options
from questree.tables.questions import BALANCED, QUESTIONS, TABLES
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier
from questree.tables.table import Table
from questree.vocabulary import default
from questree.vocabulary.words import Vocabulary
from questree.workers import processes

HEADER = ",key,question,answer,vid_id,gif_name,description\n"
VALID_FROM = 0.9  # of the training questions; a video is never in both parts
KINDS = {"": "", "compo": "novel_comp", "steps_templ": "more_steps"}  # "" = every question of the set
PARTS = {"train": ("Train", "Valid"), "test": ("Test",)}
EVERY = 1 << 64  # no hash is as large


def file_name(part: str, kind: str, name: str) -> str:
    """name: "balanced" or "unbalanced"."""
    return f"{part}_frameqa_question-{kind or name}.csv"


def file_names(name: str) -> list[str]:
    return [file_name(part, kind, name) for kind in KINDS for parts in PARTS.values() for part in parts]


def wanted(kind: str, split: str) -> pl.Expr:
    """Is a record in this CSV? Held-out compositions and longer questions are tested, not trained on."""
    here = pl.col("split") == split
    return here & (pl.col(KINDS[kind]) == int(split == "test")) if KINDS[kind] else here


@dataclass(frozen=True)
class Numbering:
    """Where the rows of a piece are in the files of a kind and split."""

    first: int  # number of its first row
    valid: int  # rows from this number on are in the validation file


def runs(records: pl.DataFrame) -> pl.DataFrame:
    """split, video, novel_comp, more_steps of questions in order -> split, video and the rows per kind of CSV, for
    every run of questions of one video."""
    counts = (pl.any_horizontal(wanted(kind, split) for split in PARTS).sum().alias(kind) for kind in KINDS)
    grouped = records.group_by(records["video"].rle_id().alias("run"), maintain_order=True)
    return grouped.agg(pl.col("split").first(), pl.col("video").first(), *counts)


def numberings(pieces: list[pl.DataFrame]) -> list[dict[tuple[str, str], Numbering]]:
    """Per piece (given as `runs`) and (kind, split)."""
    found: list[dict[tuple[str, str], Numbering]] = [{} for _ in pieces]
    for split, parts in PARTS.items():
        own = [piece.filter(split=split) for piece in pieces]
        for kind in KINDS:
            sizes = np.array([piece[kind].sum() for piece in own], np.int64)
            whole = pl.concat([piece.select("video", kind) for piece in own])
            valid = boundary(whole["video"], whole[kind].to_numpy()) if len(parts) > 1 else int(sizes.sum())
            for places, first in zip(found, np.cumsum(sizes) - sizes, strict=True):
                places[kind, split] = Numbering(int(first), valid)
    return found


def boundary(video: pl.Series, count: NDArray[Any]) -> int:
    """The first row at or after VALID_FROM of all rows at which another video begins; [run] each."""
    there = count > 0
    begin = np.cumsum(count[there]) - count[there]
    video = video.filter(pl.Series(there))
    new = (video != video.shift(1)).fill_null(False).to_numpy()
    later = begin[new & (begin >= int(VALID_FROM * count.sum()))]
    return int(later[0] if len(later) else count.sum())


def append_csv(records: pl.DataFrame, folder: Path, name: str, places: dict[tuple[str, str], Numbering]) -> None:
    """Add the records to the files of a folder (without headers); `places` are moved on."""
    for (kind, split), place in list(places.items()):
        rows = records.filter(wanted(kind, split) & pl.col("question").is_not_null())
        number = np.arange(place.first, place.first + len(rows))
        table = rows.select(
            pl.Series("number", number),
            key="id",
            question="question",
            answer="answer",
            vid_id="video_id",
            gif_name="video_id",
            description=pl.lit("none"),
        )
        for part, few in zip(PARTS[split], (number < place.valid, number >= place.valid), strict=False):
            if few.any():
                with (folder / file_name(part, kind, name)).open("ab") as file:
                    table.filter(few).write_csv(file, include_header=False)
        places[kind, split] = Numbering(place.first + len(rows), place.valid)


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
class Generated:
    """The questions of a run, small enough to send to another process; sets: "balanced", "unbalanced" or both."""

    run: Path
    sets: tuple[str, ...]
    most_steps: tuple[int, ...]  # per template: a question with more steps has "more"
    below: int = EVERY  # of the unbalanced ones: those whose hash is smaller

    @classmethod
    def of(cls, run: Run, sets: tuple[str, ...]) -> "Generated":
        bank, *_ = corpus(run.folder)
        refuse_unwritable(bank.edition, lambda node: write(node, default(), bank.edition.name))
        return cls(run.folder, sets, steps.of_run(bank))

    @property
    def pieces(self) -> list[str]:
        return [folder.name for folder in corpus(self.run)[0].folders()]

    def count(self, piece: str) -> pl.DataFrame:
        """Rows of CSV files, of the first set."""
        split, most = corpus(self.run)[1].videos["split"], pl.Series(self.most_steps)
        found = []
        for table in self.asked(piece, some("video", "number", "template", "steps", "flags"), self.sets[0]):
            rows = table.select(
                split=split.gather(table["video"]),
                video="video",
                novel_comp=((table["flags"] & held_out.NOVEL) > 0).cast(pl.UInt8),
                more_steps=(table["steps"] > most.gather(table["template"])).cast(pl.UInt8),
            )
            found.append(runs(rows))
        return pl.concat(found)

    def folder(self, piece: str) -> Path:
        return Run(self.run).questions / piece

    def asked(self, piece: str, table: Table, name: str) -> Iterator[pl.DataFrame]:
        """The questions of a set in order, each with whether it is selected."""
        for marked in self.marked(piece, table):
            wanted = self.in_set(marked, name)
            yield marked if wanted is None else marked.filter(wanted)

    def marked(self, piece: str, table: Table) -> Iterator[pl.DataFrame]:
        """The questions of a shard in order, and whether each is in the balanced selection."""
        bank, *_, chosen = corpus(self.run)
        first, end = self.videos(piece)
        own = BALANCED.empty() if chosen is None else chosen.filter(pl.col("video").is_between(first, end, "left"))
        own, found = own.with_columns(balanced=pl.lit(True)), 0
        for questions in in_order(table, self.folder(piece), range(first, end)):
            questions = with_drawn_flags(bank.run, questions) if "flags" in questions.columns else questions
            marked = questions.join(own, on=["video", "number"], how="left", maintain_order="left")
            marked = marked.with_columns(pl.col("balanced").fill_null(False))
            found += int(marked["balanced"].sum())
            yield marked
        if found != len(own):
            raise BadInput.at(bank.run.balanced, f"selects questions that {self.folder(piece)} does not have")

    def in_set(self, marked: pl.DataFrame, name: str) -> pl.Series | None:
        """[question] is it in the set: in the selection, or in the sample? None: all are."""
        if name == "balanced" or self.below == EVERY:
            return marked["balanced"] if name == "balanced" else None
        return marked["balanced"] | pl.Series(self.drawn(marked) < np.uint64(self.below))

    def drawn(self, questions: pl.DataFrame) -> Hashes:
        seeds = np.array([seed_of(0, f"sample {name}") for name in corpus(self.run)[0].ids], np.uint64)
        return mix(seeds[questions["video"].to_numpy()], questions["number"].to_numpy())

    def sampled(self, size: int) -> "Generated":
        """With so many unbalanced questions, the selection always among them."""
        drawn, chosen = [np.zeros(0, np.uint64)], 0
        for piece in self.pieces:
            for table in self.marked(piece, some("video", "number")):
                drawn.append(self.drawn(table.filter(~pl.col("balanced"))))
                chosen += int(table["balanced"].sum())
        return replace(self, below=threshold(np.concatenate(drawn), size, chosen))

    def videos(self, piece: str) -> tuple[int, int]:
        bank = corpus(self.run)[0]
        first, end = np.append(bank.begins, len(bank.ids))[int(piece) : int(piece) + 2].tolist()
        return first, end

    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]:
        """(set, records with their split), in order."""
        bank, facts, words, _ = corpus(self.run)
        folder = self.folder(piece)
        made = Records(folder, bank.without_questions(folder), words, facts, self.most_steps)
        for asked in self.asked(piece, TABLES[bank.edition.name][QUESTIONS.name], self.sets[-1]):
            for questions in asked.iter_slices(BATCH) if len(asked) else ():
                split = facts.videos["split"].gather(questions["video"]).alias("split")
                marked = made.records(questions).with_columns(split, questions["balanced"])
                for name in self.sets:
                    yield name, marked.filter("balanced") if name == "balanced" else marked


def in_order(table: Table, folder: Path, videos: Iterable[int]) -> Iterator[pl.DataFrame]:
    """The questions of a shard by video and number; of more than are read at once a piece of a video at a time.

    Those of one video stand in the order of their numbers, whatever stands between them.
    """
    ranges = table.ranges(folder)
    if len(ranges) == 1:
        yield table.read(folder).sort("video", "number")
        return
    for video in videos:
        for rows in ranges:
            yield table.read(folder, pl.col("video") == video, rows)


def threshold(drawn: Hashes, size: int, chosen: int) -> int:
    """The hash below which a question that is not selected is in a sample of this size."""
    if size < max(chosen, 1):
        wanted = f"at least {chosen:,}, as many as there are balanced ones" if chosen else "at least 1"
        raise BadInput.at("--sample", f"expected {wanted}, got {size:,}")
    return int(np.partition(drawn, size - chosen)[size - chosen]) if size - chosen < len(drawn) else EVERY


def some(*columns: str) -> Table:
    """The table of questions, only these columns of it."""
    return QUESTIONS.only(*columns)


@dataclass(frozen=True)
class Imported:
    """Records as they came; those of a selection or sample that was made here are drawn from all of them."""

    run: Path
    sets: tuple[str, ...]
    chosen: pl.Series | None = None  # ids of another selection than theirs
    below: int = EVERY

    @classmethod
    def of(cls, run: Run, sets: tuple[str, ...]) -> "Imported":
        anew = run.balanced.is_dir() and bool(stage_options(run, "balanced"))
        found, names = selection(run) if anew else None, run.table("facts", VIDEOS)["id"]
        chosen = None if found is None else numbered(names.gather(found["video"]), found["number"])
        there = tuple(name for name in sets if (anew and chosen is not None) or files(run.imported, name))
        if not run.imported.is_dir() or not there:
            raise BadInput.at(run.imported, "no records to give back: `questree import agqa` reads them")
        return cls(run.folder, there, chosen)

    @property
    def pieces(self) -> list[str]:
        return [f"{name}:{file}" for name in self.sets for file in self.files(name)]

    def files(self, name: str) -> list[str]:
        """The files the records of a set are in."""
        anew = name == SETS[0] and self.chosen is not None
        return [file for own in (reversed(SETS) if anew else [name]) for file in files(self.folder, own)]

    @property
    def folder(self) -> Path:
        return Run(self.run).imported

    def read(self, piece: str) -> tuple[str, pl.DataFrame]:
        """(set, its records in a file)"""
        name, _, file = piece.partition(":")
        table = read(self.folder, file).with_columns(split=pl.lit(split_of(file)))
        if name == SETS[0] and self.chosen is not None:
            table = table.filter(pl.col("id").is_in(self.chosen.implode()))
            if file in files(self.folder, name):  # as far as the other set does not have it
                table = table.filter(~pl.col("id").is_in(self.ids(SETS[1]).implode()))
        if name == SETS[1] and self.below != EVERY:
            table = table.filter(self.balanced(table) | pl.Series(drawn_ids(table["id"]) < np.uint64(self.below)))
        return name, table

    def ids(self, name: str) -> pl.Series:
        return pl.concat(
            [pl.Series("id", [], pl.String), *(read(self.folder, f)["id"] for f in files(self.folder, name))]
        )

    def balanced(self, records: pl.DataFrame) -> pl.Series:
        """[record] is it selected?"""
        return records["id"].is_in((self.ids(SETS[0]) if self.chosen is None else self.chosen).implode())

    def sampled(self, size: int) -> "Imported":
        every = self.ids(SETS[1]).to_frame()
        chosen = self.balanced(every)
        drawn = drawn_ids(every.filter(~chosen)["id"])
        return replace(self, below=threshold(drawn, size, int(chosen.sum())))

    def records(self) -> Iterator[pl.DataFrame]:
        """Those of the first set, with their split."""
        return (self.read(piece)[1] for piece in self.pieces if piece.startswith(f"{self.sets[0]}:"))

    def count(self, piece: str) -> pl.DataFrame:
        """Rows of CSV files, of the first set; records that could not be read are not in them."""
        name, table = self.read(piece)
        table = table.filter(pl.col("question").is_not_null() & (name == self.sets[0]))
        return runs(table.select("split", pl.col("video_id").alias("video"), "novel_comp", "more_steps"))

    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]:
        yield self.read(piece)


def drawn_ids(ids: pl.Series) -> Hashes:
    """[question] the number it is drawn by, from its video and number."""
    video, number = ids.str.extract(r"^(.*)-\d+$"), ids.str.extract(r"-(\d+)$").cast(pl.UInt64, strict=False)
    names = video.fill_null(ids).unique(maintain_order=True)
    seeds = np.array([seed_of(0, f"sample {name}") for name in names.to_list()], np.uint64)
    row = video.fill_null(ids).replace_strict(names, pl.int_range(len(names), eager=True), return_dtype=pl.Int64)
    return mix(seeds[row.to_numpy()], number.fill_null(0).to_numpy())


GRAPHS, CSVS = "AGQA_scene_graphs", "csvs"
FOLDERS = (*(f"AGQA_{name}" for name in SETS), CSVS, GRAPHS)
GLUE = b", "
BLOCK = 1 << 22  # bytes copied at once


@dataclass(frozen=True)
class ExportOptions:
    unbalanced: bool = False
    csv: bool = True
    graphs: bool = True
    sample: int | None = None  # unbalanced questions, the selection among them


class RecordSource(Protocol):
    """Questions as records; a piece is what one process works on."""

    @property
    def sets(self) -> tuple[str, ...]: ...
    @property
    def pieces(self) -> list[str]: ...
    def sampled(self, size: int) -> "RecordSource": ...
    def count(self, piece: str) -> pl.DataFrame: ...
    def batches(self, piece: str) -> Iterator[tuple[str, pl.DataFrame]]: ...


@dataclass(frozen=True)
class ExportTask:
    source: RecordSource
    piece: str
    out: Path  # folder for its part of every file
    places: dict[tuple[str, str], Numbering]  # empty: no CSVs


def export(
    run: Run, out: Path, options: ExportOptions, workers: int = 2, pool: Executor | None = None
) -> dict[str, int]:
    """Write everything to `out`, whole or not at all; returns the number of questions per file."""
    check_target(out)
    source = questions(run, options)
    with new_folder(out) as folder, TemporaryDirectory(prefix=".parts-", dir=folder) as parts:
        tasks = [ExportTask(source, piece, path_of(parts) / f"{at:05d}", {}) for at, piece in enumerate(source.pieces)]
        if options.csv:
            rows = [source.count(piece) for piece in watch(source.pieces, "counting", len(tasks))]
            tasks = [replace(task, places=own) for task, own in zip(tasks, numberings(rows), strict=True)]
        with processes(workers, pool, tasks=len(tasks)) as executor:
            futures = [executor.submit(write_part, task) for task in tasks]
            try:
                found = join(folder, source.sets, tasks, futures)
            except BaseException:
                executor.shutdown(wait=False, cancel_futures=True)  # do not begin the rest
                raise
        graphs = folder / GRAPHS
        graphs.mkdir()
        for name, table in id_tables(run.vocabulary()).items():
            (graphs / f"{name}.txt").write_text(json.dumps(table), "utf-8")
        facts = run.newest() if options.graphs else None
        if facts and facts.told:
            splits = facts.videos["split"].replace("", SPLIT_UNSAID).to_list()
            write_graphs(facts, run.vocabulary(), graphs, splits)
    return found


def check_target(out: Path) -> None:
    """An earlier export may be replaced, nothing else."""
    only_earlier(out, FOLDERS.__contains__)


def questions(run: Run, options: ExportOptions) -> RecordSource:
    """The generated questions of a run, or its imported records."""
    run.vocabulary()
    if options.sample is not None and not options.unbalanced:
        raise BadInput.at("--sample", "expected --unbalanced with it: balanced questions are written whole")
    if not run.questions.is_dir():
        raise BadInput.at(run.folder, "no questions here: `questree generate` makes them, `questree import` reads them")
    balanced = run.balanced.is_dir()
    if not balanced and not options.unbalanced:
        raise BadInput.at(run.balanced, "no balanced questions: `questree balance` selects them; or use --unbalanced")
    sets = (*SETS[:balanced], *(SETS[1:] if options.unbalanced else ()))
    source: RecordSource = Imported.of(run, sets) if Bank(run).given else Generated.of(run, sets)
    return source if options.sample is None else source.sampled(options.sample)


def write_part(task: ExportTask) -> dict[str, int]:
    """The records of one piece, as parts of the final files; returns how many there are."""
    found: dict[str, int] = {}
    places = dict(task.places)
    with new_folder(task.out) as out:
        for name, batch in task.source.batches(task.piece):
            for split in FIELDS:
                few = batch.filter(pl.col("split") == split)
                if len(few):
                    file = f"{split}_{name}.txt"
                    append(out / file, few, split)
                    found[file] = found.get(file, 0) + len(few)
            if places and name == task.source.sets[0]:
                append_csv(batch, out, name, places)
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
    tables = {name: folder / CSVS / name for name in file_names(sets[0])} if any(t.places for t in tasks) else {}
    for path in (files | tables).values():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"{" if path.name in files else HEADER.encode())
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
