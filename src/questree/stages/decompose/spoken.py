"""The nodes of a shard as they leave the machine: text, type, program and answer of each."""

from pathlib import Path

import numpy as np
import polars as pl

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.program import UNKNOWN
from questree.stages.decompose.answers import NOT_SAID
from questree.stages.decompose.forms import ordered_slots
from questree.stages.decompose.texts import Texts
from questree.tables.nodes import FORMS, NODES

SPOKEN = {"video": pl.UInt32, "text": pl.String, "type": pl.String, "program": pl.String, "answer": pl.String}


def spoken(folder: Path, texts: Texts, executed: bool = False) -> pl.DataFrame:
    """[node] columns of SPOKEN; the answers are those that are published, or all that execution gives."""
    return say(FORMS.read(folder), NODES.read(folder), texts, executed)


def say(forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts, executed: bool = False) -> pl.DataFrame:
    columns = {name: nodes[name].to_numpy() for name in nodes.columns if name != "answer"}
    answers = nodes["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy()
    if not executed:
        answers = np.where(columns["known"] == NOT_SAID, UNKNOWN, answers)
    ends = np.cumsum(np.bincount(columns["form"], minlength=len(forms))).tolist()
    parts = []
    for (program, type, _), begin, end in zip(forms.iter_rows(), [0, *ends[:-1]], ends, strict=True):
        node = parse(program, VIDEO)
        values = {slot.name: columns[slot.name][begin:end].astype(np.int64) for slot in ordered_slots(node)}
        said = {
            "video": columns["video"][begin:end],
            "text": texts.english(node, values, end - begin),
            "type": pl.repeat(type, end - begin, dtype=pl.String, eager=True),
            "program": texts.programs(node, values, end - begin),
            "answer": texts.answers(node.kind, answers[begin:end]),
        }
        parts.append(pl.DataFrame(said, schema_overrides=SPOKEN))
    return pl.concat(parts) if parts else pl.DataFrame(schema=SPOKEN)
