"""AGQA-Decomp inputs for tests: the vectors, hierarchies written by hand, and random ones with every oddity."""

import gzip
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

DATA = Path(__file__).parents[1] / "data"
TIMES = ["After", "Before", "While", "Between"]
TYPES = ["Object Exists", "Relation Exists", "Interaction", "Object", "Action", "And", "Xor", "Choose", "Longer Choose"]
TYPES += [
    "Shorter Choose",
    "Object Equals",
    "Action Equals",
    "First Object",
    "Last Object",
    "First Action",
    "Last Action",
]
TYPES += ["Longest Action", "Shortest Action"]
TYPES += [f"{kind} {time}" for kind in ("Interaction", "Exists", "Object", "Action") for time in TIMES]
COMPOSITIONS = ["Interaction", "First", "Last", "Equals", "And", "Xor", "Choose", "Longer Choose", "Shorter Choose"]
COMPOSITIONS += [*TIMES, "Weird"]
WORDS = ["yes", "no", "yes", "no", "yes", "no", "before", "after", "cup", "bag"]


def load(name: str) -> Any:
    with gzip.open(DATA / name) as file:
        return json.load(file)


def table(predictions: dict[str, str]) -> pl.DataFrame:
    schema = {"id": pl.String, "prediction": pl.String}
    return pl.DataFrame({"id": list(predictions), "prediction": list(predictions.values())}, schema=schema)


def by_id(rows: list[dict[str, str]]) -> dict[str, str]:
    return {row["csv_q_id"]: row["prediction"] for row in rows}


def dag(
    nodes: Mapping[str, tuple[str, str, str | None]], hierarchy: dict[str, Any], programs: Any = None
) -> dict[str, Any]:
    """Nodes: text -> key, type, answer."""
    asked = {
        text: {"key": key, "type": type, "answer": answer, "program": (programs or {}).get(text, "p")}
        for text, (key, type, answer) in nodes.items()
    }
    return {"subquestion": asked, "hierarchy": hierarchy}


def random_files(seed: int) -> tuple[dict[str, Any], dict[str, str]]:
    """Files and predictions: texts shared between DAGs with other types or truths, repeated and missing children."""
    draw = random.Random(seed)
    files: dict[str, Any] = {}
    for video in ("V1", "V2"):
        dags = {}
        for number in range(30):
            texts = draw.sample([f"t{n}" for n in range(25)], draw.randint(1, 8))
            nodes = {text: (f"{video}-{text}", draw.choice(TYPES), draw.choice([*WORDS, None])) for text in texts}
            programs = {text: draw.choice(["objExists(cup)", "objExists(bag)", "p"]) for text in texts}
            hierarchy = {
                text: {
                    name: [draw.choice(texts) for _ in range(draw.choice([0, 1, 2, 2, 2, 3]))]
                    for name in draw.sample(COMPOSITIONS, draw.randint(0, 3))
                }
                for text in texts
                if draw.random() < 0.7
            }
            dags[f"{video}-{number}"] = dag(nodes, hierarchy, programs)
        files[f"{video}.json"] = dags
    kinds = [*TYPES, "objExists"]
    files["isolated.json"] = [
        {"key": f"V1-i{n % 9}", "type": draw.choice(kinds), "answer": draw.choice([*WORDS, None])} for n in range(12)
    ]
    ids = [f"{video}-t{n}" for video in ("V1", "V2") for n in range(25)] + [f"V1-i{n}" for n in range(9)]
    return files, {id: draw.choice([*WORDS, ""]) for id in ids}
