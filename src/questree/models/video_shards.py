"""The nodes of a shard of videos for whoever answers them: answers of every kind become words."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from questree.columns.hashing import mix, seed_of
from questree.domains.video.atoms import exists
from questree.models.asked import NOT_SEEN, YES_NO, AskedNodes, NodeGroup, Option, parts_of
from questree.models.lessons import Lesson
from questree.readings.answer import answer
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.columns import executed
from questree.stages.decompose.hierarchies import shards
from questree.stages.decompose.spoken import Texts, Values, by_form, english_of
from questree.stages.questions import edition_at
from questree.tables.facts import VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import (
    EDGES,
    EXECUTED,
    FORMS,
    NODES,
    NOT_SAID,
    SLOTS,
    TOPS,
    UNDEFINED,
)
from questree.tables.run import Run
from questree.terms import ACTION, OBJECT, UNKNOWN, Array, Node, Slot, Term

CHOICES = ("Choose", "Longer Choose", "Shorter Choose")


class VideoShards:
    """The decomposed questions of a run about videos."""

    reading_first: Sequence[Lesson[Any]] = ()  # the vocabulary has all words, and the table of videos their splits

    def __init__(self, run: Run):
        self.run, self.words, self.videos = run, AnswerWords(run.vocabulary()), run.table("facts", VIDEOS)
        self.names: Sequence[str] = [folder.name for folder in shards(run)]
        self.number = self.words.number | {NOT_SEEN: len(self.words.number)}

    def asked(self, name: str) -> AskedNodes:
        return VideoShard(self.run, self.run.decomposed / name, self.words, self.videos).asked(self.number)


class VideoShard:
    """One folder of decomposed questions."""

    def __init__(self, run: Run, folder: Path, words: AnswerWords, videos: pl.DataFrame):
        self.run, self.folder, self.words, self.videos = run, folder, words, videos  # all of them
        self.forms, self.nodes, self.edges = FORMS.read(folder), NODES.read(folder), EDGES.read(folder)
        self.video = self.nodes["video"].to_numpy().astype(np.int64)
        self.by_form = list(by_form(self.forms, self.nodes))
        kinds = {node.kind for *_, node, _ in self.by_form} | {OBJECT, ACTION}
        self.of_kind = {kind: words.of(kind).astype(np.int64) for kind in kinds}

    def packed(self, begin: int, end: int) -> Array:
        """[node] its words begin <= at < end as one number."""
        found = np.zeros(len(self.nodes), np.uint64)
        for words in (self.nodes[f"s{at}"] for at in range(begin, end)):
            found = (found << np.uint64(16 if words.dtype == pl.UInt16 else 8)) | words.to_numpy().astype(np.uint64)
        return found

    def asked(self, number: dict[str, int]) -> AskedNodes:
        form, wide = self.nodes["form"], self.nodes["s0"].dtype == pl.UInt16
        packed = (
            {"words": self.packed(0, 4), "more": self.packed(4, SLOTS)} if wide else {"words": self.packed(0, SLOTS)}
        )
        stored = self.nodes["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy().astype(np.int64)
        known = self.nodes["known"].to_numpy()
        executed = np.isin(known, (EXECUTED, NOT_SAID, UNDEFINED)).all()  # rules alone leave some answers open
        told = executed or not len(stored) or not self.run.has_facts()  # all that can be known
        types = self.forms["type"].gather(form)
        return AskedNodes(
            scheme=VIDEO_DAGS,
            number=number,
            groups=[self.group(*each) for each in reversed(list(zip(self.by_form, self.parts, strict=True)))],
            types=types,
            said=lambda: pl.DataFrame({"program": self.forms["program"].gather(form)} | packed),
            scope=self.video,
            about=self.about(),
            published=self.spelled(np.where(known == NOT_SAID, UNKNOWN, stored)),
            spoken=self.spoken,
            known=lambda: self.spelled(stored if told else self.execute()),
            drawn=self.drawn,
        )

    @cached_property
    def parts(self) -> list[tuple[tuple[str, ...], Array]]:
        """Per form that has nodes: the compositions [part] and the sub-questions [node, part]."""
        return parts_of([rows for rows, *_ in self.by_form], self.edges, VIDEO_DAGS)

    def spoken(self) -> pl.DataFrame:
        names = [YES_NO if node.kind.yes else node.kind.name for _, _, node, _ in self.by_form]
        sizes = [rows.stop - rows.start for rows, *_ in self.by_form]
        return pl.DataFrame(
            {
                "text": english_of(self.forms, self.nodes, Texts(self.words.vocabulary)),
                "sort": pl.Series(names, dtype=pl.String).gather(np.repeat(np.arange(len(names)), sizes)),
                "train": (self.videos["split"] == "train").to_numpy()[self.video],
                "top": np.isin(np.arange(len(self.nodes)), TOPS.read(self.folder)["node"]),
            }
        )

    def group(self, form: tuple[slice, str, Node, Values], parts: tuple[tuple[str, ...], Array]) -> NodeGroup:
        rows, type, node, values = form
        labels, children = parts
        enough = node.kind.name == "order" or children.shape[1] > 1  # released DAGs may have others
        options = self.options(node, values, children) if type in CHOICES and enough else None
        yes_no = bool(node.kind.yes)
        many = None if options or yes_no else self.answers(node)
        thing = self.thing(node)
        existing = None if thing is None else self.of_kind[OBJECT][values[thing.name]]
        return NodeGroup(rows, labels, children, yes_no, many, options, existing)

    def answers(self, node: Node) -> Array:
        """Words that answers name: those that no other word stands for."""
        vocabulary = self.words.vocabulary
        table = vocabulary.merged_object if node.kind == OBJECT else vocabulary.merged_action
        return np.asarray(self.of_kind[node.kind][np.flatnonzero(table == np.arange(len(table)))])

    def thing(self, node: Node) -> Slot | None:
        """The object a question asks the existence of."""
        found = node.args[0] if node.op is exists else None
        return found if isinstance(found, Slot) else None

    def named(self, word: Slot, values: Values) -> Array:
        """[node] a plain word as answers name it."""
        vocabulary = self.words.vocabulary
        table = vocabulary.merged_object if word.kind == OBJECT else vocabulary.merged_action
        return np.asarray(self.of_kind[word.kind][table[values[word.name]]])

    def options(self, node: Node, values: Values, children: Array) -> tuple[Option, Option]:
        """Before and after, or what is named."""
        if node.kind.name == "order":
            before, after = self.of_kind[node.kind]
            return Option(np.full(len(children), before)), Option(np.full(len(children), after))
        first, second = node.args[-2:]
        return self.option(first, values, children[:, 0]), self.option(second, values, children[:, 1])

    def option(self, term: Term, values: Values, part: Array) -> Option:
        """A plain word, or what an open sub-question gives."""
        if isinstance(term, Slot):
            return Option(self.named(term, values))
        return Option(node=part if term.kind == ACTION else self.first_part[part])

    @cached_property
    def first_part(self) -> Array:
        """[node] its first sub-question, -1 for a leaf."""
        found = np.full(len(self.nodes), -1, np.int64)
        for (rows, *_), (_, children) in zip(self.by_form, self.parts, strict=True):
            if children.shape[1]:
                found[rows] = children[:, 0]
        return found

    def about(self) -> Array:
        """[node] the object that may exist; of a question that is compared with a plain word, that word."""
        found = np.full(len(self.nodes), NOTHING, np.int64)
        for (rows, _, node, values), (labels, children) in zip(self.by_form, self.parts, strict=True):
            thing = self.thing(node)
            if thing is not None:
                found[rows] = self.named(thing, values)
            elif labels[:1] == ("Equals",) and isinstance(node.args[0], Slot):
                found[children[:, 0]] = self.named(node.args[0], values)
        return found

    def execute(self) -> Array:
        """[node] the answers on the facts of the shard's videos."""
        first, last = int(self.video.min()), int(self.video.max())
        world = edition_at(self.run).read(self.run.stored("facts").between(first, last + 1), self.words.vocabulary)
        forms = ((rows, node, values) for rows, _, node, values in self.by_form)
        return executed(forms, self.video - first, lambda form, own, words: answer(form, world.ask(own), words))

    def spelled(self, answers: Array) -> Array:
        """[node] words of answers."""
        found = np.empty(len(self.nodes), np.int64)
        for rows, _, node, _ in self.by_form:
            own = answers[rows]
            found[rows] = np.where(own < 0, NOTHING, self.of_kind[node.kind][np.maximum(own, 0)])
        return found

    def drawn(self, seed: int, purpose: str) -> Array:
        """[node] a random number that depends on the seed, the video's id and the node's program and words alone."""
        asked, place = np.unique(self.video, return_inverse=True)
        names = self.videos["id"].gather(asked).to_list()
        seeds = np.array([seed_of(seed, f"{purpose} {name}") for name in names], np.uint64)
        programs = np.array([seed_of(0, program) for program in self.forms["program"]], np.uint64)
        words = [self.nodes[f"s{at}"].to_numpy() for at in range(SLOTS)]
        return mix(seeds[place], programs[self.nodes["form"].to_numpy()], *words)
