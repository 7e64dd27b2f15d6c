"""The sub-questions of a run's image questions, for whoever lets a model answer them."""

from pathlib import Path

import polars as pl

from questree.stages.covr.hierarchies import node_keys
from questree.tables.image_nodes import NODES, SETS, TOPS, TYPES

FILE = "sub_questions.jsonl"


def write_sub_questions(decomposed: Path, images: pl.Series, out: Path) -> int:
    """A line per node, questions among them: id, question, scenes, answer, type; how many."""
    nodes = NODES.read(decomposed)
    sets = SETS.read(decomposed)["images"]
    named = pl.DataFrame({"image": sets}).with_row_index("set").explode("image")
    named = named.with_columns(scene=images.gather(named["image"])).group_by("set", maintain_order=True).agg("scene")
    table = nodes.select(
        "question",
        "answer",
        id=node_keys(nodes, TOPS.read(decomposed)),
        scenes=named["scene"].gather(nodes["set"]),
        type=pl.Series(TYPES).gather(nodes["type"]),
    )
    table.select("id", "question", "scenes", "answer", "type").write_ndjson(out)
    return len(table)
