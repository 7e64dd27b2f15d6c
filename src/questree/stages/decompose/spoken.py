"""The nodes of a shard as they leave the machine: text, type, program and answer of each."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl

from questree.domains.video import VIDEO
from questree.notation.own import parse
from questree.program import UNKNOWN, Language, Node
from questree.stages.decompose.answers import NOT_SAID
from questree.stages.decompose.forms import ordered_slots
from questree.stages.decompose.texts import Texts, Values
from questree.tables.nodes import FORMS, NODES, slots_of

SPOKEN = {"video": pl.UInt32, "text": pl.String, "type": pl.String, "program": pl.String, "answer": pl.String}


def spoken(folder: Path, texts: Texts, executed: bool = False) -> pl.DataFrame:
    """[node] columns of SPOKEN; the answers are those that are published, or all that execution gives."""
    return say(FORMS.read(folder), NODES.read(folder), texts, executed)


def say(forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts, executed: bool = False) -> pl.DataFrame:
    answers = nodes["answer"].cast(pl.Int16).fill_null(UNKNOWN).to_numpy()
    if not executed:
        answers = np.where(nodes["known"].to_numpy() == NOT_SAID, UNKNOWN, answers)
    parts = []
    for rows, type, node, values in by_form(forms, nodes):
        size = rows.stop - rows.start
        said = {
            "video": nodes["video"].to_numpy()[rows],
            "text": texts.english(node, values, size),
            "type": pl.repeat(type, size, dtype=pl.String, eager=True),
            "program": texts.programs(node, values, size),
            "answer": texts.answers(node.kind, answers[rows]),
        }
        parts.append(pl.DataFrame(said, schema_overrides=SPOKEN))
    return pl.concat(parts) if parts else pl.DataFrame(schema=SPOKEN)


def english_of(forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts) -> pl.Series:
    """[node] its text alone."""
    parts = [texts.english(node, values, rows.stop - rows.start) for rows, _, node, values in by_form(forms, nodes)]
    return pl.concat([pl.Series(dtype=pl.String), *parts])


def by_form(
    forms: pl.DataFrame, nodes: pl.DataFrame, language: Language = VIDEO
) -> Iterator[tuple[slice, str, Node, Values]]:
    """(rows of its nodes, type, program, words of each slot) of every form; nodes are ordered by form."""
    size = np.bincount(nodes["form"].to_numpy(), minlength=len(forms))
    ends, words = np.cumsum(size), {name: nodes[name].to_numpy() for name in slots_of(nodes)}
    programs, types = forms["program"].to_list(), forms["type"].to_list()
    for at in np.flatnonzero(size).tolist():
        node, rows = program(programs[at], language), slice(int(ends[at] - size[at]), int(ends[at]))
        yield (
            rows,
            types[at],
            node,
            {slot.name: words[slot.name][rows].astype(np.int64) for slot in ordered_slots(node)},
        )


@cache
def program(text: str, language: Language = VIDEO) -> Node:
    """Shards have many programs in common."""
    return parse(text, language)
