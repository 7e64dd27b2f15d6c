"""Hierarchies read in parts, by several processes, put together as if they had been read in one go."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.tables.hierarchies import COMPOSED, DAGS, EDGES, ISOLATED, NODES, NOTHING, Hierarchies
from questree.tables.table import Table

Numbers = NDArray[np.int64]


class Joined:
    """Names seen so far, numbered in order of appearance, and how a part's numbers translate."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def add(self, names: Sequence[str]) -> Numbers:
        """[number in the part, and NOTHING last] number in the whole."""
        found = [self.number.setdefault(name, len(self.number)) for name in names]
        return np.array([*found, NOTHING], np.int64)


class Whole:
    """What has been put together so far: how many rows of each table, and the names."""

    def __init__(self) -> None:
        self.videos, self.types, self.compositions, self.words = (Joined() for _ in range(4))
        self.nodes = self.edges = self.dags = self.texts = self.keys = 0

    def moved(self, part: Hierarchies) -> dict[str, pl.DataFrame]:
        """The part's tables with the numbers they have in the whole."""
        video, type = self.videos.add(part.videos), self.types.add(part.types)
        composition, word = self.compositions.add(part.compositions), self.words.add(part.words)
        node, row = _columns(part.nodes), _columns(part.composed)
        edge, loose = _columns(part.edges), _columns(part.isolated)
        node |= {"dag": node["dag"] + self.dags, "text": node["text"] + self.texts, "key": node["key"] + self.keys}
        node |= {"type": type[node["type"]], "answer": word[node["answer"]], "object": word[node["object"]]}
        row |= {"parent": row["parent"] + self.nodes, "first": row["first"] + self.edges}
        row |= {"composition": composition[row["composition"]]}
        loose |= {"video": video[loose["video"]], "type": type[loose["type"]], "key": loose["key"] + self.keys}
        return {
            "nodes": _frame(NODES, node),
            "composed": _frame(COMPOSED, row),
            "edges": _frame(EDGES, edge | {"child": edge["child"] + self.nodes}),
            "dags": _frame(DAGS, {"video": video[_columns(part.dags)["video"]]}),
            "isolated": _frame(ISOLATED, loose | {"answer": word[loose["answer"]]}),
        }

    def passed(self, part: Hierarchies) -> None:
        """Its rows are before whatever comes next."""
        self.nodes += len(part.nodes)
        self.edges += len(part.edges)
        self.dags += len(part.dags)
        self.keys += len(part.keys)
        self.texts += int(part.nodes["text"].max() or 0) + 1  # type: ignore[arg-type]


def together(parts: Iterable[Hierarchies]) -> Hierarchies:
    """The parts in their order; texts and keys of two parts are never the same ones, names are."""
    whole, moved, keys = Whole(), list[dict[str, pl.DataFrame]](), list[pl.Series]()
    for part in parts:
        moved.append(whole.moved(part))
        keys.append(part.keys)
        whole.passed(part)
    tables = {name: pl.concat([each[name] for each in moved], rechunk=True) for name in moved[0]}
    return Hierarchies(
        **tables,
        videos=list(whole.videos.number),
        types=list(whole.types.number),
        compositions=list(whole.compositions.number),
        words=list(whole.words.number),
        keys=pl.concat(keys),
    )


def _columns(table: pl.DataFrame) -> dict[str, NDArray[Any]]:
    """Numbers wide enough to be moved."""
    return {
        name: table[name].to_numpy() if table.schema[name] == pl.Boolean else table[name].cast(pl.Int64).to_numpy()
        for name in table.columns
    }


def _frame(table: Table, columns: dict[str, NDArray[Any]]) -> pl.DataFrame:
    return table.frame({name: columns[name] for name in table.columns})
