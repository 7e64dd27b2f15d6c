"""Released question files as a run: facts, questions, the balanced selection and the splits its records tell of."""

import os
import shutil
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa import held_out
from questree.columns.joins import Ints
from questree.faults import BadInput
from questree.formats.agqa_import import SETS, AgqaImported, file_parts, question_files
from questree.formats.agqa_packed import Packer
from questree.formats.agqa_tasks import (
    FACTS,
    IDS,
    LEFT,
    LISTED,
    LISTING,
    PIECES,
    PackedPiece,
    QuestionsTask,
    ReadTask,
    take_in,
    write_questions,
)
from questree.formats.json_records import refuse_repeated
from questree.sources.agqa import FILES as GRAPHS
from questree.sources.agqa import read_agqa
from questree.sources.runs import check_target
from questree.stages.balance.levelling import SPLITS
from questree.stages.generate.layout import Cuts, cut
from questree.stages.generate.shards import GenerateOptions
from questree.stages.split.declared import INDIRECT, MORE, NOVEL, VIDEOS
from questree.stages.split.videos import LISTS, TWINS, MadeOfVideos
from questree.tables.digests import digest
from questree.tables.facts import Facts
from questree.tables.owners import remove, take_place
from questree.tables.questions import BALANCED
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.packed import packed_words
from questree.vocabulary.words import Vocabulary
from questree.workers import processes, results, whole

MADE = ("facts", "imported", "questions", "balanced", "splits")  # folders of a run that an import writes
MADE_FROM = ("decomposed", "audit")  # and those made from earlier ones
PART = ".import.part"
HELD_OUT = {NOVEL: "novel_comp", MORE: "more_steps"}  # a split -> the field of a record that says what is held out


def import_agqa(
    folder: Path, out: Path, facts: Path | None = None, vocabulary: Path | None = None, workers: int = 1
) -> AgqaImported:
    """Questions of a folder into a run, new or not, with the facts of another run or of scene graphs."""
    sources = question_files(folder)
    check_target(out)
    run = Run(out)
    there = run.vocabulary_file.is_file()
    if run.questions.is_dir() and not run.imported.is_dir():
        raise BadInput.at(out, "this run has questions already; choose a new folder")
    text = chosen_words(run if there else None, facts, vocabulary)
    known = run.newest() if there else None
    if facts and known and known.told:
        raise BadInput.at(out, "this run has facts already; leave out --facts, or choose a new folder")
    with new_folder(out / PART if there else out) as place:
        work = Run(place)
        work.vocabulary_file.write_text(text, "utf-8")
        ledger = Run(facts).ledger if facts else run.ledger
        if ledger.is_file():
            shutil.copy(ledger, work.ledger)
        place_of = facts_folder(facts, text, work) if facts else _newest(run) if known else None
        made = Importing(work, work.vocabulary(), place_of, workers)
        told = made.read(folder)
        balanced = any(name == SETS[0] for name, _ in sources)
        made.write({path.name: digest(path) for path in sources.values()}, balanced)
        told.left_out, told.videos, told.facts = made.left_out, len(made.packer.videos), made.facts.told
    if there:
        into(run)
    return told


def chosen_words(run: Run | None, facts: Path | None, vocabulary: Path | None) -> str:
    """The text of the vocabulary: the run's own, that of the facts, the one that is given, or AGQA's."""
    others = (run.vocabulary_file if run else None, Run(facts).vocabulary_file if facts else None)
    source = next((path for path in others if path and path.is_file()), None)
    if not source:
        return vocabulary.read_text("utf-8") if vocabulary else default_text()
    text = source.read_text("utf-8")
    if vocabulary and vocabulary.read_text("utf-8") != text:
        raise BadInput.at("--vocabulary", f"expected the words of {source}, got others; leave it out")
    return text


def into(run: Run) -> None:
    """What was made beside a run takes its place there; what was made from earlier questions goes.

    Stored answers are somebody's work: they stay, and are refused where the DAGs are others now.
    """
    for name in (*MADE, *MADE_FROM):
        if (run.folder / PART / name).is_dir():
            take_place(run.folder / PART / name, run.folder / name)
        else:
            remove(run.folder / name)
    remove(run.folder / PART)


def read_facts(place: Path, text: str) -> Facts:
    """The facts of a run, or of the scene graphs in a folder."""
    folder, graphs = facts_at(place, text)
    return read_agqa(folder, parse(text, "vocabulary")).facts if graphs else Facts.load(folder)


def facts_at(place: Path, text: str) -> tuple[Path, bool]:
    """A folder of facts, or one of scene graphs: then True."""
    run = Run(place)
    if run.vocabulary_file.is_file():
        found = _newest(run)
        if found is None:
            raise BadInput.at(place, "this run has no facts; `questree ingest` reads them")
        if run.vocabulary_file.read_text("utf-8") != text:
            raise BadInput.at(place, "its vocabulary is not the one of the run the questions go to")
        return found, False
    for folder in (place, place / "AGQA_scene_graphs"):
        if any((folder / name).is_file() for name in GRAPHS.values()):
            return folder, True
    raise BadInput.at(place, f"neither a run folder nor a folder with {' or '.join(GRAPHS.values())}")


def facts_folder(place: Path, text: str, work: Run) -> Path:
    """A folder of facts that workers see, too: one of them reads scene graphs into `work`."""
    folder, graphs = facts_at(place, text)
    return whole(write_graphs, folder, text, work.folder / PIECES / FACTS) if graphs else folder


def write_graphs(folder: Path, text: str, out: Path) -> Path:
    with new_folder(out) as place:
        read_agqa(folder, parse(text, "vocabulary")).facts.save(place)
    return out


def _newest(run: Run) -> Path | None:
    return next((folder for folder in (run.facts, run.raw) if folder.is_dir()), None)


@dataclass
class Importing:
    """Questions on their way into a run: workers read parts of files, and make shards of whole videos of them."""

    run: Run
    vocabulary: Vocabulary
    known: Path | None = None  # folder of facts
    workers: int = 1
    facts: Facts = field(init=False)
    packer: Packer = field(init=False)
    pieces: list[PackedPiece] = field(default_factory=list)
    split: dict[str, str] = field(default_factory=dict)  # video -> that of its file

    def __post_init__(self) -> None:
        self.words = packed_words(self.vocabulary)
        self.facts = Facts.load(self.known) if self.known else Facts.none()
        self.packer = Packer(self.vocabulary, more_videos=not self.facts.told)
        for name in self.facts.videos["id"].to_list() if self.facts.told else ():
            self.packer.videos[name]

    @property
    def place(self) -> Path:
        return self.run.folder / PIECES

    def read(self, folder: Path) -> AgqaImported:
        """All question files of a folder, into the run as they came and as packed pieces."""
        told, known = AgqaImported(), self.known if self.facts.told else None
        self.place.mkdir(exist_ok=True)
        tasks = {
            f"{part.path.name}, part {part.number}": ReadTask(self.words, known, part, self.place / f"{at:05d}")
            for at, part in enumerate(file_parts(folder, self.run.imported))
        }
        with processes(self.workers, tasks=min(self.workers, len(tasks))) as pool:
            read = results({name: pool.submit(take_in, task) for name, task in tasks.items()}, "reading questions")
        for own, piece in read:
            told.add(own)
            self.add(piece)
        for path in question_files(folder).values():
            few = [task for task in tasks.values() if task.part.path == path]
            hashes = [pl.scan_ipc(task.folder / IDS, glob=False).collect().to_series() for task in few]
            refuse_repeated(path, hashes, [task.part.out / f"{task.part.name}.parquet" for task in few])
        return told

    def add(self, piece: PackedPiece) -> None:
        """A packed piece with videos that may be new: they are numbered as they come."""
        if piece.names is not None:
            new = np.array([self.packer.videos[name] for name in piece.names], np.int64)
            piece = replace(piece, names=None, video=new[piece.own])
        self.pieces.append(piece)
        names = list(self.packer.videos)
        for video in piece.video.tolist():
            self.split.setdefault(names[video], piece.split)

    @cached_property
    def left_out(self) -> list[pl.DataFrame]:
        """id, why: of every piece."""
        return [pl.read_parquet(piece.folder / LEFT, glob=False) for piece in self.pieces]

    def write(self, sources: dict[str, str], balanced: bool) -> None:
        """Facts, questions, selection and splits, as far as records tell of them; `sources`: digests of the files."""
        run = self.run
        if not run.facts.is_dir():
            run.facts.mkdir()
            self.all_videos().save(run.facts)
        shards = cut(self.expected(), GenerateOptions().shard)
        run.questions.mkdir()
        asked = self.write_shards(shards)
        begins = [cuts[0] for cuts in shards]
        plan = {"options": {}, "facts": run.facts_digest(), "begins": begins, "imported": sources}
        (run.questions / "plan.json").write_bytes(msgspec.json.encode(plan))
        chosen = asked.filter("balanced")
        if balanced:
            self.write_selection(chosen)
        if not asked.select(pl.col("more_steps").null_count()).collect().item():
            self.write_splits(chosen if balanced else asked)
        self.left_out  # noqa: B018 - read before it goes
        remove(self.place)

    def expected(self) -> Ints:
        """[video] its questions: most of those of one set are in the other, too."""
        found = np.zeros((len(SETS), len(self.packer.videos)), np.int64)
        for piece in self.pieces:
            np.add.at(found[SETS.index(piece.set)], piece.video, piece.questions)
        return np.asarray(found.max(axis=0))

    def write_shards(self, shards: list[Cuts]) -> pl.LazyFrame:
        """The questions, shard by shard; of all of them LISTED columns, their side and whether they are balanced."""
        sides = tuple(self.split.get(name, "") for name in self.packer.videos)
        tasks = list[QuestionsTask]()
        for number, cuts in enumerate(shards):
            first, end = cuts[0], cuts[-1]
            own = tuple(piece for piece in self.pieces if len(piece.among(first, end)))
            more = own, sides[first:end], self.packer.edition.name
            tasks.append(QuestionsTask(self.run.folder, self.words, f"{number:05d}", first, end, *more))
        with processes(self.workers, tasks=min(self.workers, len(tasks))) as pool:
            results({f"shard {task.name}": pool.submit(write_questions, task) for task in tasks}, "questions")
        listings = [pl.scan_ipc(os.fspath(task.listing / LISTING), glob=False) for task in tasks]
        return pl.concat(listings) if listings else pl.LazyFrame(schema=LISTED)

    def all_videos(self) -> Facts:
        """The facts with all videos, in the splits of their questions' files."""
        every = self.facts.videos
        if not self.facts.told:
            names = list(self.packer.videos)
            every = pl.concat([every[:0], pl.DataFrame({"id": names, "split": [""] * len(names)})], how="diagonal")
        split = [self.split.get(name, own) for name, own in every.select("id", "split").iter_rows()]
        return replace(self.facts, videos=every.with_columns(pl.Series("split", split, pl.String)))

    def sides(self, asked: pl.LazyFrame) -> dict[str, pl.LazyFrame]:
        """Questions of training and of test videos."""
        return {side: asked.filter(pl.col("side") == side) for side in SPLITS}

    def write_selection(self, chosen: pl.LazyFrame) -> None:
        self.run.balanced.mkdir()
        for side, own in self.sides(chosen).items():
            Table(side, BALANCED.columns).sink(own, self.run.balanced)
        note = {"questions": self.run.questions_digest()}
        (self.run.balanced / "report.json").write_bytes(msgspec.json.encode(note))

    def write_splits(self, asked: pl.LazyFrame) -> None:
        """The splits of the release: what a record says is held out is tested and not trained on."""
        folder, made = self.run.folder / "splits", list[MadeOfVideos]()
        for name in (VIDEOS, NOVEL, MORE, INDIRECT):
            (folder / name).mkdir(parents=True)
            parts = self.sides(asked)
            if name in HELD_OUT:
                parts = {side: own.filter(pl.col(HELD_OUT[name]) == (side == "test")) for side, own in parts.items()}
            for side, own in parts.items():
                Table(side, BALANCED.columns).sink(own, folder / name)
            told = pl.len(), pl.col("video").n_unique().alias("videos")
            count = {side: own.select(told).collect().row(0) for side, own in parts.items()}
            (train, train_videos), (test, test_videos) = count["train"], count["test"]
            made.append(MadeOfVideos(name, train, test, train_videos, test_videos, []))
        twins = self.sides(asked)["test"].filter(pl.col("twin").is_not_null())
        TWINS.sink(twins.filter(pl.col("flags") & held_out.INDIRECT > 0), folder / INDIRECT)
        novel = self.sides(asked)["test"].filter(pl.col(HELD_OUT[NOVEL]) == 1)
        LISTS.sink(novel.with_columns(lists=pl.col("flags") & held_out.NOVEL), folder / NOVEL)
        said = {side: {name: f"{field} {int(side == 'test')}" for name, field in HELD_OUT.items()} for side in SPLITS}
        predicates = {made.name: {side: said[side].get(made.name, "all") for side in SPLITS} for made in made}
        notes: dict[str, Any] = {"more steps": self.most_steps(asked), "splits": made, "predicates": predicates}
        (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(notes)))

    def most_steps(self, asked: pl.LazyFrame) -> dict[str, int]:
        """Template -> the most steps of a question whose record does not call them more."""
        few = asked.filter(pl.col("more_steps") == 0).group_by("template").agg(pl.col("steps").max())
        templates = self.packer.edition.by_code
        known = {templates[code].name: steps for code, steps in few.sort("template").collect().iter_rows()}
        least = asked.group_by("template").agg(pl.col("steps").min()).sort("template").collect()
        return {templates[code].name: known.get(templates[code].name, steps - 1) for code, steps in least.iter_rows()}
