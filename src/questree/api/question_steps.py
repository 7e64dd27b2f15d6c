"""The decomposed questions of a shard with their sub-questions in order, each with its answer and what it rests on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import polars as pl

from questree.benchmarks import chosen
from questree.columns.joins import Ints, listed, ranges, starts
from questree.faults import BadInput
from questree.rules import Scheme
from questree.stages.decompose.occurrences import Compositions, Occurrences
from questree.tables.run import Run

ASKED = ("id", "scope", "split", "question", "answer", "type")
SEEN = ("seconds", "boxes")  # what a step rests on, of videos and of images


@dataclass(frozen=True)
class StepShard:
    """Questions with `node`, and nodes with ids, texts, answers, types and, if there are facts, evidence."""

    questions: pl.DataFrame
    nodes: pl.DataFrame
    edges: pl.DataFrame
    scheme: Scheme

    @cached_property
    def compositions(self) -> Compositions:
        return Compositions.of(self.edges)

    @cached_property
    def places(self) -> Occurrences:
        tops = self.questions["node"].to_numpy().astype(np.int64)
        return Occurrences.of(tops, len(self.nodes), self.compositions.edges)

    def rows(self, at: Ints) -> pl.DataFrame:
        """Some questions: their columns, their steps, and which of these each follows from."""
        begin = np.append(0, np.cumsum(self.places.size))[at]
        row, place = ranges(begin, begin + self.places.size[at])
        last = np.cumsum(self.places.size[at]) - 1  # the question itself
        node = self.places.node[place]
        told = self.nodes[node].with_columns(self.parts(place, node, begin[row]))
        step = np.ones(len(node), bool)
        step[last] = False
        steps = listed(told.filter(pl.Series(step)).to_struct(), starts(row[step], len(at)))
        rests = [name for name in (*SEEN, "parts", "compositions") if name in told.columns]
        return self.questions[at].select(*ASKED, *(told[name].gather(last) for name in rests), steps=steps)

    def parts(self, place: Ints, node: Ints, begin: Ints) -> list[pl.Series]:
        """[place] the steps right below it, counted from `begin`, and by which compositions."""
        known = self.compositions.edges
        first = starts(known["parent"].to_numpy(), len(self.nodes))
        which, edge = ranges(first[node], first[node + 1])
        child = self.places.child[self.places.first_edge[place][which] + edge - first[node][which]] - begin[which]
        names = pl.Series(self.scheme.compositions, dtype=pl.String).gather(known["label"].gather(edge))
        start = starts(which, len(place))
        return [listed(child, start).alias("parts"), listed(names, start).alias("compositions")]


class StepSource(Protocol):
    """What differs between benchmarks, made with a run, whether answers come with evidence, and unpublished ones."""

    def __init__(self, run: Run, evidence: bool, executed: bool): ...

    names: list[str]  # of its shards
    splits: pl.Series  # [video] or [question about images]

    def count(self, split: str | None) -> int: ...

    def shard(self, name: str) -> StepShard: ...


class RunSteps:
    """The shards of a run's decomposed questions.

    `evidence`: say what answers rest on, where there are facts; `executed`: also give answers that are not published.
    """

    def __init__(self, run: Run, benchmark: str = "", evidence: bool = True, executed: bool = False):
        source: StepSource = chosen(run, benchmark, "decomposed").part("steps")(run, evidence, executed)
        self.source, self.names, self.splits = source, source.names, source.splits

    def check(self, split: str | None) -> None:
        there = sorted(set(self.splits.unique()))
        if split is not None and split not in there:
            raise BadInput.at("split", f"expected a split of the run, got {split!r}; choose from {', '.join(there)}")

    def count(self, split: str | None) -> int:
        """How many questions there are."""
        return self.source.count(split)

    def shard(self, name: str) -> StepShard:
        return self.source.shard(name)
