"""The sub-questions of a run's image questions, for whoever lets a model answer them."""

from pathlib import Path

import polars as pl

from questree.rules import IMAGE_DAGS
from questree.stages.decompose.image_hierarchies import image_ids, node_keys
from questree.stages.decompose.image_sets import read_sets, spoken_sets

FILE = "sub_questions.jsonl"


def write_sub_questions(decomposed: Path, images: pl.Series, out: Path) -> int:
    """A line per node, questions among them: id, question, scenes, answer, type; how many."""
    tables = read_sets(decomposed)
    nodes, scenes = spoken_sets(tables), image_ids(tables["sets"]["images"], images)
    table = nodes.select(
        "question",
        "answer",
        id=node_keys(nodes, tables["tops"], scenes),
        scenes=scenes.gather(nodes["set"]),
        type=pl.Series(IMAGE_DAGS.types).gather(nodes["type"]),
    )
    table.select("id", "question", "scenes", "answer", "type").write_ndjson(out)
    return len(table)
