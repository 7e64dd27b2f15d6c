"""Questions and sub-questions as whoever answers them sees them, of either medium: words, parts, options, the truth."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from questree.rules import Scheme
from questree.tables.hierarchies import NOTHING
from questree.terms import Array

YES_NO = "yes or no"  # what many questions are answered with
NOT_SEEN = "nothing"  # what is said where nothing is seen that the question could be about


@dataclass(frozen=True)
class Option:
    """One of the two answers to a choice: a word, or whatever an open sub-question gives."""

    word: Array | None = None  # [row]
    node: Array | None = None  # [row]


@dataclass(frozen=True)
class NodeGroup:
    """Nodes that are asked and composed alike."""

    rows: Array | slice  # nodes
    labels: tuple[str, ...]  # [part] compositions
    children: Array  # [row, part] nodes
    yes_no: bool  # answered yes or no
    answers: Array | None = None  # words to guess from; None: yes and no, or the options
    options: tuple[Option, Option] | None = None
    existing: Array | None = None  # [row] the word whose existence is asked


@dataclass(frozen=True)
class AskedNodes:
    """A shard; columns are [node], words are numbers in `number`, NOTHING where there is none."""

    scheme: Scheme
    number: dict[str, int]  # of all words of the run
    groups: list[NodeGroup]  # parts before what they are parts of
    types: pl.Series
    scope: Array  # the video or the set of images it is asked about
    about: Array  # the word it is about: an object that may exist, an option, a number to compare with
    published: Array  # the answer that others may know
    said: Callable[[], pl.DataFrame]  # columns that are alike where the question is, whatever it is asked about
    spoken: Callable[[], pl.DataFrame]  # text; sort of answer (yes or no, an object, ...); train, top: is it one?
    known: Callable[[], Array]  # the answer by execution
    drawn: Callable[[int, str], Array]  # (seed, purpose) -> a random number of the scope, the program and its words

    def __len__(self) -> int:
        return len(self.scope)

    @cached_property
    def texts(self) -> pl.DataFrame:
        return self.said()

    @cached_property
    def read(self) -> pl.DataFrame:
        return self.spoken()

    @cached_property
    def truth(self) -> Array:
        return self.known()

    @cached_property
    def yes_no(self) -> Array:
        """Is it of a type answered yes or no?"""
        return self.types.is_in(sorted(self.scheme.yes_no)).to_numpy()

    @cached_property
    def scored(self) -> Array:
        return ~self.types.is_in(sorted(self.scheme.unscored)).to_numpy()

    @property
    def unseen(self) -> int:
        """The word of somebody who does not see what the question is about."""
        return self.number[NOT_SEEN]

    def options(self, group: NodeGroup, said: Array) -> tuple[Array, Array]:
        """[row] the two answers of a choice, given the answers to all nodes."""
        assert group.options is not None
        first, second = (self.option(each, said) for each in group.options)
        return first, second

    def option(self, one: Option, said: Array) -> Array:
        if one.word is not None:
            return one.word
        return np.where(self.yes_no[one.node], self.unseen, said[one.node])  # no sub-question names it

    def another(self, group: NodeGroup, answers: Array, said: Array, drawn: Array) -> Array:
        """[row] an answer that is not this one: of two the other, of many any."""
        if group.options or group.yes_no:
            yes_no = self.number["no"], self.number["yes"]
            first, second = self.options(group, said) if group.options else yes_no
            return np.where(answers == first, second, first)
        many = np.zeros(0, np.int64) if group.answers is None else group.answers
        if len(many) < 2:
            return np.full(len(answers), self.unseen)
        place = np.zeros(len(self.number) + 1, np.int64)
        place[many] = np.arange(len(many))
        step = 1 + (drawn % np.uint64(len(many) - 1)).astype(np.int64)
        return np.asarray(many[(place[answers] + step) % len(many)])

    def any_answer(self, group: NodeGroup, drawn: Array) -> Array:
        """[row] each answer the question can have with the same probability."""
        if group.answers is not None:
            many = group.answers if len(group.answers) else np.array([NOTHING])
            return np.asarray(many[(drawn % np.uint64(len(many))).astype(np.int64)])
        pair = self.options(group, self.truth) if group.options else (self.number["no"], self.number["yes"])
        return np.where(drawn % np.uint64(2) == 0, pair[0], pair[1])


def chance(drawn: Array) -> Array:
    """Random numbers as numbers 0 <= x < 1."""
    return (drawn >> np.uint64(11)) * 2.0**-53


def parts_of(forms: Sequence[slice], edges: pl.DataFrame, scheme: Scheme) -> list[tuple[tuple[str, ...], Array]]:
    """Per form (its nodes): the compositions [part] of its first node, and the sub-questions [node, part] of all."""
    parent, label, child = (edges[name].to_numpy().astype(np.int64) for name in ("parent", "label", "child"))
    found = []
    for rows in forms:
        begin, end = np.searchsorted(parent, [rows.start, rows.stop])
        size = (end - begin) // max(rows.stop - rows.start, 1)
        labels = tuple(scheme.compositions[at] for at in label[begin : begin + size].tolist())
        found.append((labels, child[begin:end].reshape(rows.stop - rows.start, size)))
    return found
