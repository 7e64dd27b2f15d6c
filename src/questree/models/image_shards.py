"""The nodes of a shard of image sets for whoever answers them: answers become words."""

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
from questree.stages.decompose.image_sets import questions_of
from questree.stages.decompose.set_hierarchies import programs_in, read_sets, set_corpus, set_shards
from questree.stages.decompose.spoken import say
from questree.tables.hierarchies import NOTHING
from questree.tables.image_questions import QuestionChunk
from questree.tables.nodes import ASKED_TOPS, EDGES, FORMS, NOT_SAID, SETS
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.tables.table import Table
from questree.terms import Array

ALWAYS = {"yes", "no", "0", "1"}  # words somebody may need although nobody said them
TEXTS = Table("texts", {"question": pl.String})


def look_at_training(shards: "ImageShards", name: str) -> pl.DataFrame:
    """The images that questions of train are about."""
    asked = QuestionChunk(shards.run.folder, name).read("split", "images").filter(split="train")
    return asked.select(pl.col("images").explode()).unique()


def learn_training(files: list[str], folder: Path) -> None:
    pl.scan_ipc(files, glob=False).unique().collect(engine="streaming").write_ipc(folder / FILE)


TRAINING = Lesson("training", look_at_training, learn_training, read_table)


class ImageShards:
    """The decomposed questions of a run about image sets; what is known of all of them lies in `place`."""

    reading_first: Sequence[Lesson[Any]] = (TRAINING,)

    def __init__(self, run: Run, place: Path):
        self.run, self.place = run, place
        self.names: Sequence[str] = [folder.name for folder in set_shards(run)]
        self.corpus = set_corpus(run.folder)
        self._last: tuple[SetShard, AskedNodes | None] | None = None

    @cached_property
    def training(self) -> pl.Series:
        return TRAINING.read(self.place / TRAINING.name)["images"]

    @cached_property
    def number(self) -> dict[str, int]:
        words = {*self.corpus.listed["word"]} | ALWAYS
        return {word: at for at, word in enumerate([*sorted(words - {NOT_SEEN}), NOT_SEEN])}

    @cached_property
    def answers(self) -> dict[str, Array]:
        """Type -> all answers to its questions, as words in the order of their numbers."""
        told = self.corpus.listed.with_columns(pl.col("word").replace_strict(self.number, return_dtype=pl.Int64))
        return {type: own["word"].unique().sort().to_numpy() for (type,), own in told.group_by("type")}

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
    """The nodes of the sets of a shard."""

    def __init__(self, shards: ImageShards, name: str):
        self.shards, self.name = shards, name
        self.tables = read_sets(shards.run.covr / "decomposed" / name)
        self.forms, self.stored = self.tables[FORMS.name], self.tables["nodes"]

    def said(self, nodes: pl.DataFrame, *columns: str) -> pl.DataFrame:
        """Also answers that are not told."""
        return say(self.forms, nodes, self.shards.corpus.texts, executed=True, columns=columns)

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """type, answer, word that it is about"""
        return self.said(self.stored, "type", "answer", "word")

    @cached_property
    def questions(self) -> pl.Series:
        """[node] in English. To say a shard takes longer than all else: that is done once, by whoever comes first."""
        kept = self.shards.place / f"said-{self.name}"
        if not kept.is_dir():
            said = questions_of(self.forms, self.stored, self.shards.corpus.texts)
            with new_folder(kept) as folder:
                TEXTS.write_piece(said.to_frame("question"), folder)
        return TEXTS.read_piece(kept)["question"]

    def asked(self) -> AskedNodes:
        types, scope = self.nodes["type"], self.tables[SETS.name]["number"].gather(self.stored["set"]).to_numpy()
        truth, about = (self.numbered(name) for name in ("answer", "word"))
        untold = (self.stored["known"] == NOT_SAID).to_numpy()
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
        different, number = programs_in(self.stored)
        texts = say(self.forms, different, self.shards.corpus.texts, columns=("program",))["program"]
        found = np.array([crc32(text.encode()) for text in texts], np.uint64)
        return np.asarray(found[number.to_numpy()])

    def spoken(self) -> pl.DataFrame:
        """A set is for training if questions of train are about its images."""
        yes_no = pl.col("type").is_in(sorted(IMAGE_DAGS.yes_no))
        shown = self.tables[SETS.name].with_row_index("set").explode("images")
        train = shown.filter(pl.col("images").is_in(self.shards.training.implode()))["set"].unique()
        return self.nodes.select(
            text=self.questions,
            sort=pl.when(yes_no).then(pl.lit(YES_NO)).otherwise("type"),
            train=self.stored["set"].is_in(train.implode()),
            top=pl.int_range(pl.len()).is_in(self.tables[ASKED_TOPS.name]["node"].implode()),
        )

    def numbered(self, name: str) -> Array:
        words = self.nodes[name].replace_strict(self.shards.number, default=None, return_dtype=pl.Int64)
        return words.fill_null(NOTHING).to_numpy()

    def groups(self, about: Array) -> list[NodeGroup]:
        """By form; words to guess from are all answers to questions of the type."""
        forms, none = self.forms["type"].to_list(), np.zeros(0, np.int64)
        size = np.bincount(self.stored["form"].to_numpy(), minlength=len(forms))
        there, ends = np.flatnonzero(size).tolist(), np.cumsum(size)  # parents first
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
