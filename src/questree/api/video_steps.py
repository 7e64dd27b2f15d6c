"""The steps of questions about videos: one shard as it was decomposed."""

from functools import cached_property
from typing import Any

import polars as pl

from questree.api.question_steps import StepShard
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.hierarchies import called, corpus, shards
from questree.stages.decompose.keys import asked
from questree.stages.decompose.spoken import say
from questree.stages.ground.grounding import answers
from questree.stages.ground.node_evidence import seen_seconds
from questree.tables.facts import SPLIT_UNSAID, VIDEOS, Facts
from questree.tables.nodes import EDGES, FORMS, TOPS, read_nodes
from questree.tables.run import Run


class VideoSteps:
    def __init__(self, run: Run, evidence: bool, executed: bool):
        self.run, self.evidence, self.executed = run, evidence, executed
        self.names = [folder.name for folder in shards(run)]

    @cached_property
    def splits(self) -> pl.Series:
        """[video]"""
        return self.run.table("facts", VIDEOS)["split"].replace("", SPLIT_UNSAID)

    @cached_property
    def facts(self) -> Facts | None:
        return self.run.load("facts") if self.evidence and self.run.has_facts() else None

    def count(self, split: str | None) -> int:
        own = [TOPS.read(self.run.decomposed / name)["video"] for name in self.names]
        videos = pl.concat([pl.Series(dtype=pl.UInt32), *own])
        return len(videos) if split is None else int((self.splits.gather(videos) == split).sum())

    def shard(self, name: str) -> StepShard:
        bank, _, texts, words, _ = corpus(self.run.folder)
        folder = self.run.decomposed / name
        forms, nodes, tops = FORMS.read(folder), read_nodes(folder), TOPS.read(folder)
        shard = bank.shard(bank.run.questions / name, tops)
        questions = asked(shard, tops, words)
        keys, _ = called(folder, questions, forms, nodes, texts, bank)
        said = say(forms, nodes, texts, self.executed, columns=("text", "type", "answer"))
        told = said.select(keys[: len(nodes)].alias("id"), pl.col("text").alias("question"), "answer", "type")
        if self.facts is not None:
            first, last = shard.first, shard.first + shard.named.videos
            world = bank.edition.read(self.facts.between(first, last), bank.vocabulary)
            told = told.with_columns(seconds=seen_seconds(forms, nodes, world, first))
        node = questions["node"]
        own = answers(shard.where(questions))
        columns: dict[str, Any] = {
            "id": questions["id"],
            "scope": bank.names.gather(questions["video"]),
            "split": self.splits.gather(questions["video"]),
            "question": questions["text"],
            "answer": told["answer"].gather(node).fill_null(own),
            "type": told["type"].gather(node),
        }
        return StepShard(pl.DataFrame({**columns, "node": node}), told, EDGES.read(folder), VIDEO_DAGS)
