"""The decomposed questions of a shard with their sub-questions in order, each with its answer and what it rests on."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from questree.benchmarks import chosen
from questree.columns.joins import Ints, listed, ranges, starts
from questree.domains.images.corpus import corpus as image_corpus
from questree.domains.video import videos
from questree.faults import BadInput
from questree.rules import IMAGE_DAGS, VIDEO_DAGS, Scheme
from questree.stages.decompose.hierarchies import called, corpus, decomposed, image_ids, node_keys, shards
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.stages.decompose.keys import asked
from questree.stages.decompose.occurrences import Compositions, Occurrences
from questree.stages.decompose.spoken import say
from questree.stages.ground.grounding import answers
from questree.stages.ground.node_evidence import found_boxes, seen_seconds
from questree.tables.facts import SPLIT_UNSAID, VIDEOS, Facts
from questree.tables.image_questions import answered
from questree.tables.images import IMAGES, Images
from questree.tables.nodes import EDGES, FORMS, SETS, TOPS, read_nodes
from questree.tables.predictions import IMAGE_SETS
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


class RunSteps:
    """The shards of a run's decomposed questions.

    `evidence`: say what answers rest on, where there are facts; `executed`: also give answers that are not published.
    """

    def __init__(self, run: Run, benchmark: str = "", evidence: bool = True, executed: bool = False):
        self.run, self.evidence, self.executed = run, evidence, executed
        self.of_images = chosen(run, benchmark, "decomposed").domain == "images"
        self.names = [IMAGE_SETS] if self.of_images else [folder.name for folder in shards(run)]

    def check(self, split: str | None) -> None:
        there = sorted(set(self.splits.unique()))
        if split is not None and split not in there:
            raise BadInput.at("split", f"expected a split of the run, got {split!r}; choose from {', '.join(there)}")

    @cached_property
    def splits(self) -> pl.Series:
        """[video] or [question about images]"""
        if self.of_images:
            return answered(self.run)["split"]
        return self.run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)

    def count(self, split: str | None) -> int:
        """How many questions there are."""
        if self.of_images:
            tops = read_sets(decomposed(self.run))["tops"]["id"].to_frame()
            known = answered(self.run).select("id", "split")
            return tops.join(known, on="id").filter(pl.lit(True) if split is None else pl.col("split") == split).height
        own = [TOPS.read(self.run.decomposed / name)["video"] for name in self.names]
        videos = pl.concat([pl.Series(dtype=pl.UInt32), *own])
        return len(videos) if split is None else int((self.splits.gather(videos) == split).sum())

    def shard(self, name: str) -> StepShard:
        return self._images() if self.of_images else self._videos(name)

    @cached_property
    def facts(self) -> Facts | None:
        return self.run.load("facts") if self.evidence and self.run.has_facts() else None

    def _videos(self, name: str) -> StepShard:
        bank, _, texts, words, _ = corpus(self.run.folder)
        folder = self.run.decomposed / name
        forms, nodes, tops = FORMS.read(folder), read_nodes(folder), TOPS.read(folder)
        shard = bank.shard(bank.run.questions / name)
        questions = asked(shard, tops, words)
        keys, _ = called(folder, questions, forms, nodes, texts, bank)
        said = say(forms, nodes, texts, self.executed, columns=("text", "type", "answer"))
        told = said.select(keys[: len(nodes)].alias("id"), pl.col("text").alias("question"), "answer", "type")
        if self.facts is not None:
            first, last = shard.first, shard.first + shard.named.videos
            world = videos(self.facts.between(first, last), bank.vocabulary)
            told = told.with_columns(seconds=seen_seconds(forms, nodes, world, first))
        node = questions["node"]
        own = answers(shard.where(questions))
        columns: dict[str, Any] = {
            "id": questions["id"],
            "scope": pl.Series(bank.ids, dtype=pl.String).gather(questions["video"]),
            "split": self.splits.gather(questions["video"]),
            "question": questions["text"],
            "answer": told["answer"].gather(node).fill_null(own),
            "type": told["type"].gather(node),
        }
        return StepShard(pl.DataFrame({**columns, "node": node}), told, EDGES.read(folder), VIDEO_DAGS)

    def _images(self) -> StepShard:
        tables, names = read_sets(decomposed(self.run)), IMAGES.read(self.run.images)["id"]
        spoken, tops = spoken_sets(tables, executed=self.executed), tables["tops"]
        scope = image_ids(tables[SETS.name]["images"], names)
        keys = node_keys(spoken, tops.select("id", "node"), scope)
        told = spoken.select(keys.alias("id"), "question", "answer", "type")
        if self.evidence:
            images = Images.load(self.run.images)
            # which things are meant does not depend on groups of attributes
            told = told.with_columns(boxes=found_boxes(tables, images, image_corpus(images, {})))
        asked = tops.join(
            answered(self.run).select("id", "split", "answer"), on="id", how="left", maintain_order="left"
        )
        own = asked.select("id", "split", "question", "answer", "node").with_columns(
            scope=scope.gather(spoken["set"].gather(tops["node"])), type=told["type"].gather(tops["node"])
        )
        return StepShard(own, told, tables[EDGES.name], IMAGE_DAGS)
