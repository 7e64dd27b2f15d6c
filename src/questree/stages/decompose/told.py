"""Contradictions between derived answers in words: both ways to the answer, step by step."""

from typing import Any

import polars as pl

from questree.stages.decompose.propagate import GIVEN, Contradiction, Propagation
from questree.stages.decompose.spoken import say
from questree.stages.decompose.texts import Texts
from questree.tables.nodes import COMPOSITIONS

MOST = 20  # contradictions told in words per shard


def told(made: Propagation, forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts) -> list[str]:
    """Each contradiction as a line; beyond MOST only their number is said."""
    found = [line(made, clash, forms, nodes, texts) for clash in made.contradictions[:MOST]]
    more = len(made.contradictions) - len(found)
    return found + ([f"{more:,} more contradictions"] if more else [])


def line(made: Propagation, clash: Contradiction, forms: pl.DataFrame, nodes: pl.DataFrame, texts: Texts) -> str:
    one = made.derivation(clash.node)
    members = [at for at in made.members(clash.parent, clash.label) if at != clash.node]
    other = [step for at in members for step in made.derivation(at)]
    rows = sorted({clash.node, *(at for at, *_ in one + other)})
    said = dict(zip(rows, say(forms, nodes[rows], texts, executed=True).to_dicts(), strict=True))
    by = COMPOSITIONS[clash.label] if clash.label < len(COMPOSITIONS) else "another question"
    first = "; ".join(step(said, at, by) for at, _, by in one)
    second = "; ".join(dict.fromkeys(step(said, at, by) for at, _, by in other))
    return f"{first} | but not so by {by} from: {second}"


def step(said: dict[int, dict[str, Any]], node: int, by: int) -> str:
    how = "asked" if by == GIVEN else COMPOSITIONS[by] if by < len(COMPOSITIONS) else "unknown"
    return f"{said[node]['text']} {said[node]['answer']} ({how})"
