"""The steps of questions about sets of images: one shard as it was decomposed."""

from functools import cached_property

import polars as pl

from questree.api.question_steps import StepShard
from questree.domains.images.corpus import Corpus, corpus
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.image_sets import questions_of
from questree.stages.decompose.set_hierarchies import image_ids, read_sets, set_corpus, set_shards
from questree.stages.decompose.spoken import say
from questree.stages.ground.node_evidence import found_boxes
from questree.tables.image_questions import answered
from questree.tables.images import Images
from questree.tables.nodes import ASKED_TOPS, EDGES, FORMS, SETS
from questree.tables.run import Run


class ImageSteps:
    def __init__(self, run: Run, evidence: bool, executed: bool):
        self.run, self.evidence, self.executed = run, evidence, executed
        self.names = [folder.name for folder in set_shards(run)]

    @cached_property
    def splits(self) -> pl.Series:
        """[question]"""
        return answered(self.run)["split"]

    @cached_property
    def images(self) -> tuple[Images, Corpus]:
        images = Images.load(self.run.images)
        return images, corpus(images, {})  # which things are meant does not depend on groups of attributes

    def count(self, split: str | None) -> int:
        sides = pl.concat([ASKED_TOPS.only("split").read(folder)["split"] for folder in set_shards(self.run)])
        return len(sides) if split is None else int((sides == split).sum())

    def shard(self, name: str) -> StepShard:
        known = set_corpus(self.run.folder)
        tables = read_sets(self.run.covr / "decomposed" / name)
        forms, nodes, tops = tables[FORMS.name], tables["nodes"], tables[ASKED_TOPS.name]
        said = say(forms, nodes, known.texts, self.executed, columns=("answer", "type"))
        question = questions_of(forms, nodes, known.texts)
        told = said.select(nodes["key"].alias("id"), question.alias("question"), "answer", "type")
        if self.evidence:
            told = told.with_columns(boxes=found_boxes(tables, *self.images))
        scope = image_ids(tables[SETS.name]["images"], known.images).gather(nodes["set"])
        asked = tops.select(
            *("id", "split", "question", "answer", "node"),
            scope=scope.gather(tops["node"]),
            type=told["type"].gather(tops["node"]),
        )
        return StepShard(asked, told, tables[EDGES.name], IMAGE_DAGS)
