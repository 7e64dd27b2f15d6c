"""The sub-questions of a run's image questions, for whoever lets a model answer them."""

from pathlib import Path

import polars as pl

from questree.rules import IMAGE_DAGS
from questree.stages.decompose.image_hierarchies import image_ids, node_keys
from questree.tables.image_nodes import NODES, SETS, TOPS

FILE = "sub_questions.jsonl"


def write_sub_questions(decomposed: Path, images: pl.Series, out: Path) -> int:
    """A line per node, questions among them: id, question, scenes, answer, type; how many."""
    nodes = NODES.read(decomposed)
    scenes = image_ids(SETS.read(decomposed)["images"], images)
    table = nodes.select(
        "question",
        "answer",
        id=node_keys(nodes, TOPS.read(decomposed), scenes),
        scenes=scenes.gather(nodes["set"]),
        type=pl.Series(IMAGE_DAGS.types).gather(nodes["type"]),
    )
    table.select("id", "question", "scenes", "answer", "type").write_ndjson(out)
    return len(table)
