"""The DAGs of a shard as JSON: pieces are made once per node, by columns, and put together per question."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import quoted
from questree.columns.joins import Ints
from questree.formats.agqa_records import programs
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.keys import asked, node_keys, parts_of_others, question_keys
from questree.stages.decompose.spoken import Texts, spoken
from questree.stages.generate.text import lexicon
from questree.stages.questions import Shard
from questree.tables.facts import Facts
from questree.tables.nodes import EDGES, NEGATIVES, TOPS


def dags_of(shard: Shard, facts: Facts, said: Texts, folder: Path) -> "Dags":
    """The decomposed questions of a shard of a run."""
    table = asked(shard, TOPS.read(folder), lexicon(shard.vocabulary, shard.edition))
    questions = table.select("video", "node", "id", "text").with_columns(
        old=programs(shard.where(table)),
        template=pl.Series([template.name for template in shard.edition.by_code]).gather(table["template"]),
    )
    negatives = NEGATIVES.read(folder)["node"].to_numpy()
    return Dags(questions, spoken(folder, said), EDGES.read(folder), facts.videos["id"], negatives)


@dataclass(frozen=True)
class Dags:
    """Questions and all below them."""

    questions: pl.DataFrame  # by video: video, node, id, text, old (program), template
    said: pl.DataFrame  # [node] columns of SPOKEN
    edges: pl.DataFrame
    names: pl.Series  # [video]
    negatives: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # nodes asked because their answer is no

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """[node] text, type, program and answer as JSON."""
        table = self.said
        json = [quoted(table[name]).fill_null("null").alias(name) for name in ("text", "type", "program", "answer")]
        return table.select(json)

    @cached_property
    def children(self) -> tuple[list[int], list[int], list[str]]:
        """([node + 1] where its edges begin, child of each edge, label of each edge)."""
        edges = self.edges
        start = np.searchsorted(edges["parent"].to_numpy(), np.arange(len(self.nodes) + 1))
        labels = pl.Series(VIDEO_DAGS.compositions).gather(edges["label"]).to_list()
        return start.tolist(), edges["child"].to_list(), labels

    def videos(self) -> Iterator[tuple[int, list[str], list[str]]]:
        """(video, its DAGs, its isolated questions), each as JSON."""
        write = DagWriter(*self.children, self.nodes["text"].to_list(), self.entries())
        tops = self.tops()
        bounds = np.flatnonzero(np.diff(self.questions["video"].to_numpy().astype(np.int64), prepend=-1, append=-1))
        for lo, hi in pairwise(bounds.tolist()):
            own = tops[lo:hi]
            dags = [write.dag(top) for top in own if write.hierarchy[top.node]]
            isolated = [top.isolated() for top in own if not write.hierarchy[top.node]]
            yield self.questions["video"][lo], dags, isolated

    def tops(self) -> list["Top"]:
        asked = self.questions
        of_node = [self.nodes[name].gather(asked["node"]) for name in ("type", "program", "answer")]
        texts = [quoted(asked[name]) for name in ("id", "text", "template", "old")]
        columns = [asked["node"], self.root_keys(), *texts, *of_node]
        return [Top(*row) for row in zip(*(column.to_list() for column in columns), strict=True)]

    @cached_property
    def keys(self) -> pl.Series:
        """[node] its key as JSON."""
        return quoted(node_keys(self.questions, self.said, self.names))

    def root_keys(self) -> pl.Series:
        """[question] its key as JSON."""
        return quoted(question_keys(self.questions))

    def rows(self, parts: Ints | None = None) -> pl.DataFrame:
        """Every text of a video once, questions first: video, key, question, answer (null if not published).

        Below the questions all there is, or some nodes."""
        asked = self.questions.select(
            "video", question="text", answer=self.said["answer"].gather(self.questions["node"])
        )
        said = self.said.select("video", question="text", answer="answer").with_columns(key=self.keys)
        said = said[np.append(self.below, self.loose) if parts is None else parts]
        table = pl.concat([asked.with_columns(key=self.root_keys()), said.select("video", "question", "answer", "key")])
        once = table.unique("key", keep="first", maintain_order=True).sort("video", maintain_order=True)
        return once.with_columns(pl.col("key").str.strip_chars('"'))

    @cached_property
    def below(self) -> Ints:
        """Nodes that are a sub-question of some question."""
        return parts_of_others(len(self.said), self.edges, self.questions["node"].to_numpy())

    @cached_property
    def loose(self) -> Ints:
        """Negatives that are part of no question."""
        return np.setdiff1d(self.negatives, self.below)

    def isolated_negatives(self) -> Iterator[tuple[int, str]]:
        """(video, the question as JSON)"""
        said, keys = self.nodes[self.loose], self.keys.gather(self.loose).to_list()
        columns = [said[name].to_list() for name in ("text", "type", "program", "answer")]
        videos = self.said["video"].gather(self.loose).to_list()
        for video, key, text, type, program, answer in zip(videos, keys, *columns, strict=True):
            yield video, isolated(key, type, answer, text, program)

    def entries(self) -> list[str]:
        """[node] its entry among the sub-questions."""
        n = self.nodes
        pieces = [n["text"], ': {"key": ', self.keys, ', "type": ', n["type"], ', "program": ', n["program"]]
        pieces += [', "answer": ', n["answer"], "}"]
        parts = [pl.lit(piece) if isinstance(piece, str) else piece for piece in pieces]
        return pl.select(pl.concat_str(parts)).to_series().to_list()


def isolated(key: str, type: str, answer: str, text: str, program: str) -> str:
    """A question without a DAG; everything is JSON."""
    return f'{{"key": {key}, "type": {type}, "answer": {answer}, "question": {text}, "program": {program}}}'


class Top(NamedTuple):
    """A question; all but the node as JSON."""

    node: int
    key: str
    id: str
    text: str
    template: str
    old: str
    type: str
    program: str
    answer: str

    def entry(self) -> str:
        own = f'"key": {self.key}, "type": {self.type}, "program": {self.program}, "answer": {self.answer}'
        return f"{self.text}: {{{own}}}"

    def isolated(self) -> str:
        return isolated(self.key, self.type, self.answer, self.text, self.program)

    def head(self) -> str:
        asked = f'"question": {self.text}, "type": {self.template}'
        return f'{asked}, "old_program": {self.old}, "new_program": {self.program}, "answer": {self.answer}'


class DagWriter:
    """Puts DAGs together."""

    def __init__(self, start: list[int], child: list[int], labels: list[str], text: list[str], entry: list[str]):
        self.text, self.entry = text, entry
        self.below, self.hierarchy = Below(start, child), Hierarchy(start, child, labels, text)

    def dag(self, top: Top) -> str:
        parts = self.below[top.node]
        entries = ", ".join([*(self.entry[at] for at in parts), top.entry()])
        inner = [f"{self.text[at]}: {said}" for at in parts if (said := self.hierarchy[at])]
        hierarchy = ", ".join([*inner, f"{top.text}: {self.hierarchy[top.node]}"])
        return f'{top.id}: {{{top.head()}, "subquestion": {{{entries}}}, "hierarchy": {{{hierarchy}}}}}'


class Below(dict[int, tuple[int, ...]]):
    """Node -> all nodes below it, the deepest first."""

    def __init__(self, start: list[int], child: list[int]):
        super().__init__()
        self.start, self.child = start, child

    def __missing__(self, node: int) -> tuple[int, ...]:
        found: set[int] = set()
        for child in self.child[self.start[node] : self.start[node + 1]]:
            found.add(child)
            found.update(self[child])
        self[node] = below = tuple(sorted(found, reverse=True))  # parents have smaller numbers than their parts
        return below


class Hierarchy(dict[int, str]):
    """Node -> its compositions as JSON; "" for a leaf."""

    def __init__(self, start: list[int], child: list[int], labels: list[str], text: list[str]):
        super().__init__()
        self.start, self.child, self.labels, self.text = start, child, labels, text

    def __missing__(self, node: int) -> str:
        found: dict[str, list[str]] = {}
        for edge in range(self.start[node], self.start[node + 1]):
            found.setdefault(self.labels[edge], []).append(self.text[self.child[edge]])
        said = ", ".join(f'"{label}": [{", ".join(texts)}]' for label, texts in found.items())
        self[node] = whole = f"{{{said}}}" if found else ""
        return whole
