"""The nodes of a shard as whoever answers them sees them: programs, words, sub-questions, the truth."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from questree.columns.hashing import mix, seed_of
from questree.domains.video import Videos
from questree.program import UNKNOWN, Array, Node
from questree.readings.answer import answer
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.answers import EXECUTED, NOT_SAID, ROWS, UNDEFINED
from questree.stages.decompose.spoken import by_form
from questree.stages.decompose.texts import Values
from questree.stages.decompose.words import AnswerWords
from questree.tables.nodes import EDGES, FORMS, NODES, SLOTS


@dataclass(frozen=True)
class Group:
    """The nodes of one form."""

    rows: slice
    type: str
    node: Node
    values: Values  # slot -> [node] positions in the vocabulary
    children: Array  # [node, part] numbers of its sub-questions


@dataclass(frozen=True)
class AskedShard:
    words: AnswerWords
    ids: list[str]  # of all videos
    forms: pl.DataFrame
    nodes: pl.DataFrame
    edges: pl.DataFrame

    @classmethod
    def read(cls, folder: Path, words: AnswerWords, ids: list[str]) -> "AskedShard":
        return cls(words, ids, FORMS.read(folder), NODES.read(folder), EDGES.read(folder))

    def __len__(self) -> int:
        return len(self.nodes)

    @cached_property
    def groups(self) -> list[Group]:
        """By form; sub-questions come after the questions they are parts of."""
        child, parent = (self.edges[name].to_numpy().astype(np.int64) for name in ("child", "parent"))
        found = list[Group]()
        for rows, type, node, values in by_form(self.forms, self.nodes):
            begin, end = np.searchsorted(parent, [rows.start, rows.stop])
            found.append(Group(rows, type, node, values, child[begin:end].reshape(rows.stop - rows.start, -1)))
        return found

    @cached_property
    def answers(self) -> Array:
        """[node] as they are stored, published or not; UNKNOWN where there is none."""
        return self.nodes["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy().astype(np.int64)

    @cached_property
    def published(self) -> Array:
        """[node] the answers that others may know."""
        return np.where(self.nodes["known"].to_numpy() == NOT_SAID, UNKNOWN, self.answers)

    @cached_property
    def yes_no(self) -> Array:
        """[node] is it of a type answered yes or no?"""
        of_form = np.array([type in VIDEO_DAGS.yes_no for type in self.forms["type"]], bool)
        return np.asarray(of_form[self.nodes["form"].to_numpy()])

    @cached_property
    def first_part(self) -> Array:
        """[node] its first sub-question, -1 for a leaf."""
        found = np.full(len(self), -1, np.int64)
        for group in self.groups:
            if group.children.shape[1]:
                found[group.rows] = group.children[:, 0]
        return found

    @property
    def executed(self) -> bool:
        """Are the answers those of execution? Rules leave some open."""
        return bool(np.isin(self.nodes["known"].to_numpy(), (EXECUTED, NOT_SAID, UNDEFINED)).all())

    def execute(self, world: Videos, first: int) -> Array:
        """[node] the answers on the facts of videos, of which the first has this number."""
        found = np.full(len(self), UNKNOWN, np.int64)
        video = self.nodes["video"].to_numpy().astype(np.int64) - first
        for group in self.groups:
            for begin in range(group.rows.start, group.rows.stop, ROWS):
                rows = slice(begin, min(begin + ROWS, group.rows.stop))
                own = slice(begin - group.rows.start, rows.stop - group.rows.start)
                values = {name: column[own] for name, column in group.values.items()}
                found[rows] = answer(group.node, world.ask(video[rows]), values)
        return found

    def spelled(self, answers: Array) -> Array:
        """[node] words of answers; a negative number stays as it is."""
        found = np.empty(len(self), np.int32)
        for group in self.groups:
            own = answers[group.rows]
            found[group.rows] = np.where(own < 0, own, self.words.of(group.node.kind)[np.maximum(own, 0)])
        return found

    def drawn(self, seed: int, purpose: str) -> Array:
        """[node] a random number that depends on the seed, the video's id and the node's program and words alone."""
        video = self.nodes["video"].to_numpy().astype(np.int64)
        asked, place = np.unique(video, return_inverse=True)
        seeds = np.array([seed_of(seed, f"{purpose} {self.ids[at]}") for at in asked.tolist()], np.uint64)
        programs = np.array([seed_of(0, program) for program in self.forms["program"]], np.uint64)
        words = [self.nodes[f"s{at}"].to_numpy() for at in range(SLOTS)]
        return mix(seeds[place], programs[self.nodes["form"].to_numpy()], *words)


def chance(drawn: Array) -> Array:
    """Random numbers as numbers 0 <= x < 1."""
    return (drawn >> np.uint64(11)) * 2.0**-53
