"""The steps of questions about sets of images, all in one shard."""

from functools import cached_property

import polars as pl

from questree.api.question_steps import StepShard
from questree.domains.images.corpus import corpus
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.stages.decompose.set_hierarchies import decomposed, image_ids, node_keys
from questree.stages.ground.node_evidence import found_boxes
from questree.tables.image_questions import answered
from questree.tables.images import IMAGES, Images
from questree.tables.nodes import EDGES, SETS
from questree.tables.predictions import IMAGE_SETS
from questree.tables.run import Run


class ImageSteps:
    def __init__(self, run: Run, evidence: bool, executed: bool):
        self.run, self.evidence, self.executed = run, evidence, executed
        self.names = [IMAGE_SETS]

    @cached_property
    def splits(self) -> pl.Series:
        """[question]"""
        return answered(self.run)["split"]

    def count(self, split: str | None) -> int:
        tops = read_sets(decomposed(self.run))["tops"]["id"].to_frame()
        known = answered(self.run).select("id", "split")
        return tops.join(known, on="id").filter(pl.lit(True) if split is None else pl.col("split") == split).height

    def shard(self, name: str) -> StepShard:
        tables, names = read_sets(decomposed(self.run)), IMAGES.read(self.run.images)["id"]
        spoken, tops = spoken_sets(tables, executed=self.executed), tables["tops"]
        scope = image_ids(tables[SETS.name]["images"], names)
        keys = node_keys(spoken, tops.select("id", "node"), scope)
        told = spoken.select(keys.alias("id"), "question", "answer", "type")
        if self.evidence:
            images = Images.load(self.run.images)
            # which things are meant does not depend on groups of attributes
            told = told.with_columns(boxes=found_boxes(tables, images, corpus(images, {})))
        asked = tops.join(
            answered(self.run).select("id", "split", "answer"), on="id", how="left", maintain_order="left"
        )
        own = asked.select("id", "split", "question", "answer", "node").with_columns(
            scope=scope.gather(spoken["set"].gather(tops["node"])), type=told["type"].gather(tops["node"])
        )
        return StepShard(own, told, tables[EDGES.name], IMAGE_DAGS)
