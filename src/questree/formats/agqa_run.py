"""Released question files as a run: facts, questions, the balanced selection and the splits its records tell of."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa import held_out
from questree.columns.joins import Ints
from questree.domains.video import Videos, videos
from questree.faults import BadInput
from questree.formats.agqa_import import SETS, AgqaImported, import_questions, question_files
from questree.formats.agqa_packed import NONE, Packer, Values, tables
from questree.progress import watch
from questree.readings.answer import answer
from questree.sources.agqa import FILES as GRAPHS
from questree.sources.agqa import read_agqa
from questree.sources.runs import check_target
from questree.stages.balance.levelling import SPLITS
from questree.stages.generate.layout import cut
from questree.stages.generate.shards import GenerateOptions
from questree.stages.split.declared import INDIRECT, MORE, NOVEL, VIDEOS
from questree.stages.split.videos import TWINS, MadeOfVideos
from questree.tables.digests import digest
from questree.tables.facts import Facts
from questree.tables.owners import remove, take_place
from questree.tables.questions import BALANCED, TABLES, TEXT
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.terms import Node, Term
from questree.vocabulary.load import default_text, parse
from questree.vocabulary.words import Vocabulary

LISTED = ("video", "number", "template", "steps", "flags", "novel_comp", "more_steps", "twin")
MADE = ("facts", "imported", "questions", "balanced", "splits")  # folders of a run that an import writes
MADE_FROM = ("decomposed", "audit")  # and those made from earlier ones
PART, PIECES = ".import.part", ".pieces"
HELD_OUT = {NOVEL: "novel_comp", MORE: "more_steps"}  # a split -> the field of a record that says what is held out


def import_agqa(folder: Path, out: Path, facts: Path | None = None, vocabulary: Path | None = None) -> AgqaImported:
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
    known = read_facts(facts, text) if facts else known or Facts.none()
    with new_folder(out / PART if there else out) as place:
        work = Run(place)
        work.vocabulary_file.write_text(text, "utf-8")
        ledger = Run(facts).ledger if facts else run.ledger
        if ledger.is_file():
            shutil.copy(ledger, work.ledger)
        made = Importing(work, work.vocabulary(), known)
        told = import_questions(folder, work.imported, made.vocabulary, made.take)
        balanced = any(name == SETS[0] for name, _ in sources)
        made.write({path.name: digest(path) for path in sources.values()}, balanced)
        told.left_out, told.videos, told.facts = made.left_out, len(made.packer.videos), known.told
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
    run = Run(place)
    if run.vocabulary_file.is_file():
        found = run.newest()
        if found is None:
            raise BadInput.at(place, "this run has no facts; `questree ingest` reads them")
        if run.vocabulary_file.read_text("utf-8") != text:
            raise BadInput.at(place, "its vocabulary is not the one of the run the questions go to")
        return found
    for folder in (place, place / "AGQA_scene_graphs"):
        if any((folder / name).is_file() for name in GRAPHS.values()):
            return read_agqa(folder, parse(text, "vocabulary")).facts
    raise BadInput.at(place, f"neither a run folder nor a folder with {' or '.join(GRAPHS.values())}")


@dataclass
class Importing:
    """Questions on their way into a run, piece by piece: nothing but a few columns is in memory for all of them."""

    run: Run
    vocabulary: Vocabulary
    facts: Facts  # known before
    packer: Packer = field(init=False)
    listed: list[pl.DataFrame] = field(default_factory=list)
    split: dict[str, str] = field(default_factory=dict)  # video -> that of its file
    left_out: list[pl.DataFrame] = field(default_factory=list)  # id, why

    def __post_init__(self) -> None:
        self.packer = Packer(self.vocabulary, resolve=self.resolve, more_videos=not self.facts.told)
        for name in self.facts.videos["id"].to_list() if self.facts.told else ():
            self.packer.videos[name]
        (self.run.folder / PIECES).mkdir()

    def resolve(self, term: Term, words: Values, video: Ints) -> Ints:
        """What a reference stands for on the facts."""
        if not self.facts.told or not isinstance(term, Node):
            return np.full(len(video), NONE)
        return np.maximum(answer(term, self.world.ask(video), words), NONE)

    @cached_property
    def world(self) -> Videos:
        return videos(self.facts, self.vocabulary)

    def take(self, name: str, split: str, records: pl.DataFrame) -> None:
        """Records of a set and split."""
        found, left = self.packer.pack(records)
        found.write_parquet(self.run.folder / PIECES / f"{len(self.listed):05d}.parquet", compression="lz4")
        self.listed.append(found.select(LISTED).with_columns(balanced=pl.lit(name == SETS[0])))
        self.left_out.append(left)
        names = list(self.packer.videos)
        for video in found["video"].unique().to_list():
            self.split.setdefault(names[video], split)

    def write(self, sources: dict[str, str], balanced: bool) -> None:
        """Facts, questions, selection and splits, as far as records tell of them; `sources`: digests of the files."""
        run = self.run
        if not run.facts.is_dir():
            run.facts.mkdir()
            self.all_videos().save(run.facts)
        every = (
            pl.concat(self.listed)
            .group_by("video", "number")
            .agg(pl.col("balanced").any(), pl.exclude("video", "number", "balanced").first())
        )
        asked = every.sort("video", "number")
        shards = cut(np.bincount(asked["video"], minlength=len(self.packer.videos)), GenerateOptions().shard)
        run.questions.mkdir()
        for number, cuts in watch(list(enumerate(shards)), "questions", len(shards)):
            self.write_shard(run.questions / f"{number:05d}", cuts[0], cuts[-1])
        remove(run.folder / PIECES)
        begins = [cuts[0] for cuts in shards]
        plan = {"options": {}, "facts": run.facts_digest(), "begins": begins, "imported": sources}
        (run.questions / "plan.json").write_bytes(msgspec.json.encode(plan))
        chosen = asked.filter("balanced")
        if balanced:
            self.write_selection(chosen)
        if not asked["more_steps"].null_count():
            self.write_splits(chosen if balanced else asked)

    def write_shard(self, folder: Path, first: int, end: int) -> None:
        folder.mkdir()
        pieces = pl.scan_parquet(self.run.folder / PIECES / "*.parquet")
        found = pieces.filter(pl.col("video").is_between(first, end, closed="left")).collect()
        once = found.unique(["video", "number"], keep="first", maintain_order=True)
        for name, table in tables(once, self.vocabulary).items():
            known = TEXT if name == TEXT.name else TABLES[self.packer.edition.name][name]
            known.write(table, folder)

    def all_videos(self) -> Facts:
        """The facts with all videos, in the splits of their questions' files."""
        every = self.facts.videos
        if not self.facts.told:
            names = list(self.packer.videos)
            every = pl.concat([every[:0], pl.DataFrame({"id": names, "split": [""] * len(names)})], how="diagonal")
        split = [self.split.get(name, own) for name, own in every.select("id", "split").iter_rows()]
        return replace(self.facts, videos=every.with_columns(pl.Series("split", split, pl.String)))

    def sides(self, asked: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
        """Questions of training and of test videos."""
        names = list(self.packer.videos)
        split = pl.Series([self.split.get(name, "") for name in names], dtype=pl.String).gather(asked["video"])
        yield from ((side, asked.filter(split == side)) for side in SPLITS)

    def write_selection(self, chosen: pl.DataFrame) -> None:
        self.run.balanced.mkdir()
        for side, own in self.sides(chosen):
            Table(side, BALANCED.columns).write(own, self.run.balanced)
        note = {"questions": self.run.questions_digest()}
        (self.run.balanced / "report.json").write_bytes(msgspec.json.encode(note))

    def write_splits(self, asked: pl.DataFrame) -> None:
        """The splits of the release: what a record says is held out is tested and not trained on."""
        folder, made = self.run.folder / "splits", list[MadeOfVideos]()
        for name in (VIDEOS, NOVEL, MORE, INDIRECT):
            (folder / name).mkdir(parents=True)
            parts = dict(self.sides(asked))
            if name in HELD_OUT:
                parts = {side: own.filter(pl.col(HELD_OUT[name]) == (side == "test")) for side, own in parts.items()}
            for side, own in parts.items():
                Table(side, BALANCED.columns).write(own, folder / name)
            count = {side: (len(own), own["video"].n_unique()) for side, own in parts.items()}
            (train, train_videos), (test, test_videos) = count["train"], count["test"]
            made.append(MadeOfVideos(name, train, test, train_videos, test_videos, []))
        twins = dict(self.sides(asked))["test"].filter(pl.col("twin").is_not_null())
        TWINS.write(twins.filter(pl.col("flags") & held_out.INDIRECT > 0), folder / INDIRECT)
        told = {side: {name: f"{field} {int(side == 'test')}" for name, field in HELD_OUT.items()} for side in SPLITS}
        predicates = {made.name: {side: told[side].get(made.name, "all") for side in SPLITS} for made in made}
        notes: dict[str, Any] = {"more steps": self.most_steps(asked), "splits": made, "predicates": predicates}
        (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(notes)))

    def most_steps(self, asked: pl.DataFrame) -> dict[str, int]:
        """Template -> the most steps of a question whose record does not call them more."""
        few = asked.filter(pl.col("more_steps") == 0).group_by("template").agg(pl.col("steps").max()).sort("template")
        templates = self.packer.edition.by_code
        known = {templates[code].name: steps for code, steps in few.iter_rows()}
        least = asked.group_by("template").agg(pl.col("steps").min()).sort("template")
        return {templates[code].name: known.get(templates[code].name, steps - 1) for code, steps in least.iter_rows()}
