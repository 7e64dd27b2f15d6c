"""One sub-question of every type, one of every composition with its parts: AGQA-Decomp's Tables 1 and 2 from a run."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from questree.benchmarks import Said
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.hierarchies import corpus, shards
from questree.stages.decompose.spoken import say
from questree.tables.nodes import EDGES, FORMS, read_nodes
from questree.tables.run import Run

TYPES = {  # row of Table 1 -> what is asked
    "Object Exists": "whether an object is there",
    "Relation Exists": "whether the person has a relation to anything",
    "Interaction": "whether the person has a relation to an object",
    "Interaction Temporal Localization": "an interaction within a time",
    "Exists Temporal Localization": "an object or a relation within a time",
    "First/Last": "the object, or the action, that comes first or last",
    "Longest/Shortest Action": "the action that takes the most or the least time",
    "Conjunction": "two interactions: both, or one but not the other",
    "Choose": "which of two objects, actions, times or lengths",
    "Equals": "whether two objects, or two actions, are the same",
}
COMPOSITIONS = {  # row of Table 2 -> what is put together
    "Interaction": "a relation and an object into an interaction",
    "After, Before, While, Between": "a question and the actions of its time",
    "First, Last": "what is there into the first or the last of it",
    "And, Xor": "two interactions into one question",
    "Choose, Longer Choose, Shorter Choose": "two options into a choice",
    "Equals": "an object or action, and a question whose answer it may be",
}
OF_A_FORM = 20  # nodes, of thousands in a shard


def examples(run: Run) -> Iterator[Said]:
    """Of the first shard; what it does not have stays without."""
    found = [examples_in(run.folder, folder) for folder in shards(run)[:1]]
    types, composed = found[0] if found else ({}, {})
    rows = [{"type": name, "description": said, "example": types.get(name, "")} for name, said in TYPES.items()]
    yield "Types of sub-questions (Table 1)", rows
    rows = [{"composition": name, "description": said} for name, said in COMPOSITIONS.items()]
    yield "Compositions (Table 2)", [row | {"example": composed.get(row["composition"], "")} for row in rows]


def examples_in(run: Path, folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The shortest of each among some nodes of every form in a shard."""
    _, _, texts, *_ = corpus(run)
    forms, nodes = FORMS.read(folder), read_nodes(folder)

    def spoken(rows: pl.Series) -> pl.DataFrame:
        """node, text and type; `rows` ascend."""
        return say(forms, nodes[rows], texts, columns=["text", "type"]).with_columns(node=rows)

    first = nodes.select("form", node=pl.int_range(pl.len(), dtype=pl.UInt32)).group_by("form").head(OF_A_FORM)
    ordered = spoken(first["node"].sort()).sort(pl.col("text").str.len_chars(), "text", maintain_order=True)
    types = dict[str, str]()
    for text, kind in ordered.unique("type", keep="first", maintain_order=True).select("text", "type").rows():
        types.setdefault(VIDEO_DAGS.group_of(kind), text)
    edges, composed = EDGES.read(folder), dict[str, str]()
    for name in COMPOSITIONS:
        labels = [VIDEO_DAGS.compositions.index(each) for each in name.split(", ")]
        own = edges.filter(pl.col("label").is_in(labels))
        wholes = ordered.filter(pl.col("node").is_in(own["parent"].unique().implode()))
        named = wholes.filter(pl.col("type").is_in(name.split(", ")))  # what the rule is named after, if there is one
        parent = next(iter([*named["node"], *wholes["node"]]), None)
        if parent is not None:
            parts = own.filter(pl.col("parent") == parent)
            parts = parts.filter(pl.col("label") == parts["label"][0])
            asked = [parent, *parts["child"]]
            text_of = dict(spoken(pl.Series(asked, dtype=pl.UInt32).unique().sort()).select("node", "text").rows())
            named_parts = [f"s{at}: {text_of[node]}" if at else f"q: {text_of[node]}" for at, node in enumerate(asked)]
            composed[name] = " | ".join(named_parts)
    return types, composed
