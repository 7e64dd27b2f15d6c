"""The nodes of image sets for whoever answers them, all of a run or by chunks of images: answers become words."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl

from questree.columns.hashing import mix, seed_of
from questree.models.asked import NOT_SEEN, YES_NO, AskedNodes, NodeGroup, Option, parts_of
from questree.models.lessons import FILE, Lesson, read_table
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.dealt_dags import DealtDags, node_pieces
from questree.stages.decompose.image_sets import of_this_version, questions_of, read_sets, said_of, set_node_table
from questree.stages.decompose.set_hierarchies import decomposed
from questree.stages.decompose.spoken import SetTexts
from questree.tables.hierarchies import NOTHING
from questree.tables.image_questions import QuestionChunk, chunks
from questree.tables.nodes import ASKED_TOPS, EDGES, FORMS, NOT_SAID, SETS, WORDS
from questree.tables.predictions import IMAGE_SETS
from questree.tables.row_pieces import RowPiece
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.terms import Array

ALWAYS = {"yes", "no", "0", "1"}  # words somebody may need although nobody said them
WORDED = ("type", "answer", "word")
ABOUT = ""  # stands for a type where a word is not an answer, but what a question is about
TEXTS = Table("texts", {"question": pl.String})


def all_nodes(shards: "ImageShards") -> list[RowPiece]:
    return node_pieces(shards.run)


def look_at_words(shards: "ImageShards", rows: RowPiece) -> pl.DataFrame:
    """type, word: the answers there are to questions of a type, and the words that questions are about."""
    folder = decomposed(shards.run)
    nodes = set_node_table(folder).read(folder, rows=(rows.begin, rows.end))
    tables = {table.name: table.read(folder) for table in (WORDS, FORMS)}
    said = said_of(tables | {"nodes": nodes.drop("set", "known").unique().sort("form")}, WORDED, executed=True)
    about = said.select(type=pl.lit(ABOUT), word="word")
    return pl.concat([said.select("type", word="answer"), about]).drop_nulls().unique()


def learn_words(files: list[str], folder: Path) -> None:
    every = pl.scan_ipc(files, glob=False).unique().collect(engine="streaming")
    every.sort("type", "word").write_ipc(folder / FILE)


def all_chunks(shards: "ImageShards") -> list[QuestionChunk]:
    return chunks(shards.run)


def look_at_training(shards: "ImageShards", chunk: QuestionChunk) -> pl.DataFrame:
    """The images that questions of train are about."""
    return chunk.read("split", "images").filter(split="train").select(pl.col("images").explode()).unique()


def learn_training(files: list[str], folder: Path) -> None:
    pl.scan_ipc(files, glob=False).unique().collect(engine="streaming").write_ipc(folder / FILE)


SET_WORDS = Lesson("words", look_at_words, learn_words, read_table, all_nodes)
TRAINING = Lesson("training", look_at_training, learn_training, read_table, all_chunks)


class ImageShards:
    """The decomposed questions of a run about image sets: one shard, or chunks where they were dealt. What is known of
    all of them lies in `place`."""

    words_first: Sequence[Lesson[Any]] = (SET_WORDS,)
    reading_first: Sequence[Lesson[Any]] = (TRAINING,)

    def __init__(self, run: Run, place: Path, dealt: DealtDags | None):
        of_this_version(decomposed(run))
        self.run, self.place, self.dealt = run, place, dealt
        self.names: Sequence[str] = [IMAGE_SETS] if dealt is None else [str(chunk) for chunk in dealt.chunks]
        self._last: tuple[SetShard, AskedNodes | None] | None = None

    @cached_property
    def words(self) -> pl.DataFrame:
        return SET_WORDS.read(self.place / SET_WORDS.name)

    @cached_property
    def texts(self) -> SetTexts:
        """Remembers what it has said: chunks ask the same of other images."""
        return SetTexts(WORDS.read(decomposed(self.run))["word"])

    @cached_property
    def training(self) -> pl.Series:
        return TRAINING.read(self.place / TRAINING.name)["images"]

    @cached_property
    def number(self) -> dict[str, int]:
        words = {*self.words["word"]} | ALWAYS
        return {word: at for at, word in enumerate([*sorted(words - {NOT_SEEN}), NOT_SEEN])}

    @cached_property
    def answers(self) -> dict[str, Array]:
        """Type -> all answers to its questions, as words in the order of their numbers."""
        told = self.words.with_columns(pl.col("word").replace_strict(self.number, return_dtype=pl.Int64))
        return {type: own["word"].sort().to_numpy() for (type,), own in told.group_by("type")}

    def asked(self, name: str) -> AskedNodes:
        shard = self.shard(name)
        last, asked = self._last or (None, None)  # at once: threads may share this
        if last is not shard or asked is None:
            asked = shard.asked()
            self._last = shard, asked  # not in the shard itself, which would then outlive its use
        return asked

    def shard(self, name: str) -> "SetShard":
        """The last one is kept: it is looked at and then answered."""
        last = self._last
        if last is None or last[0].name != name:
            self._last = None  # not two at a time
            self._last = last = SetShard(self, name), None
        return last[0]


class SetShard:
    """The nodes of all sets, or of those of a chunk."""

    def __init__(self, shards: ImageShards, name: str):
        self.shards, self.name = shards, name
        if shards.dealt is None:
            self.tables = read_sets(decomposed(shards.run))
            self.sets = pl.int_range(len(self.tables[SETS.name]), dtype=pl.UInt32, eager=True)
            self.numbers = pl.int_range(len(self.tables["nodes"]), dtype=pl.UInt32, eager=True)
        else:
            self.numbers, self.tables = shards.dealt.tables(int(name))
            self.sets = shards.dealt.set_numbers(int(name))  # [set] its number in the run

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """type, answer (also one that is not told), word that it is about"""
        return said_of(self.tables, WORDED, executed=True)

    @cached_property
    def questions(self) -> pl.Series:
        """[node] in English. To say a chunk takes longer than all else: that is done once, by whoever comes first."""
        if self.shards.dealt is None:
            return questions_of(self.tables)
        kept = self.shards.place / f"said-{self.name}"
        if not kept.is_dir():
            with new_folder(kept) as folder:
                TEXTS.write_piece(questions_of(self.tables, self.shards.texts).to_frame("question"), folder)
        return TEXTS.read_piece(kept)["question"]

    def asked(self) -> AskedNodes:
        types, scope = self.nodes["type"], self.sets.gather(self.tables["nodes"]["set"]).to_numpy()
        truth, about = (self.numbered(name) for name in ("answer", "word"))
        untold = (self.tables["nodes"]["known"] == NOT_SAID).to_numpy()
        return AskedNodes(
            scheme=IMAGE_DAGS,
            number=self.shards.number,
            groups=list(reversed(self.groups(about))),
            types=types,
            said=lambda: self.questions.to_frame("question"),
            scope=scope.astype(np.int64),
            about=about,
            published=np.where(untold, NOTHING, truth),
            spoken=self.spoken,
            known=lambda: truth,
            drawn=lambda seed, purpose: mix(seed_of(seed, purpose), scope, self.programs),
        )

    @cached_property
    def programs(self) -> Array:
        """[node] a number of its program with its words."""
        words = self.tables["nodes"].drop("set", "answer", "known")
        different = words.unique().sort("form")
        texts = said_of({**self.tables, "nodes": different}, ("program",))["program"]
        numbers = different.with_columns(number=pl.Series([crc32(text.encode()) for text in texts], dtype=pl.UInt64))
        return words.join(numbers, on=words.columns, how="left", maintain_order="left")["number"].to_numpy()

    def spoken(self) -> pl.DataFrame:
        """A set is for training if questions of train are about its images."""
        yes_no = pl.col("type").is_in(sorted(IMAGE_DAGS.yes_no))
        shown = self.tables[SETS.name].with_row_index("set").explode("images")
        train = shown.filter(pl.col("images").is_in(self.shards.training.implode()))["set"].unique()
        return self.nodes.select(
            text=self.questions,
            sort=pl.when(yes_no).then(pl.lit(YES_NO)).otherwise("type"),
            train=self.tables["nodes"]["set"].is_in(train.implode()),
            top=pl.int_range(pl.len()).is_in(self.tables[ASKED_TOPS.name]["node"].implode()),
        )

    def numbered(self, name: str) -> Array:
        words = self.nodes[name].replace_strict(self.shards.number, default=None, return_dtype=pl.Int64)
        return words.fill_null(NOTHING).to_numpy()

    def groups(self, about: Array) -> list[NodeGroup]:
        """By form; words to guess from are all answers to questions of the type."""
        forms, none = self.tables[FORMS.name]["type"].to_list(), np.zeros(0, np.int64)
        size = np.bincount(self.tables["nodes"]["form"].to_numpy(), minlength=len(forms))
        there, ends = np.flatnonzero(size).tolist(), np.cumsum(size)  # a chunk has few of the forms
        rows = [slice(int(ends[form] - size[form]), int(ends[form])) for form in there]
        parts = parts_of(rows, self.tables[EDGES.name], IMAGE_DAGS)
        found = []
        for form, own, (labels, children) in zip(there, rows, parts, strict=True):
            options = [Option(about[children[:, at]]) for at, name in enumerate(labels) if is_option(name)]
            many = None if forms[form] in IMAGE_DAGS.yes_no else self.shards.answers.get(forms[form], none)
            pair = (options[0], options[1]) if options else None
            found.append(NodeGroup(own, labels, children, many is None, many, pair))
        return found


def is_option(label: str) -> bool:
    """Does a sub-question of this composition stand for an option of its question?"""
    return label in IMAGE_DAGS.rules and IMAGE_DAGS.rules[label].worded == 0
