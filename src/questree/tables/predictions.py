"""Answers of models to the nodes of a run: numbers of words, shard by shard, and the words."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run
from questree.tables.table import Table

WORDS = Table("words", {"word": pl.String})
PREDICTIONS = Table("predictions", {"node": pl.UInt32, "word": pl.UInt32})  # by node; a node left out was not answered


@dataclass(frozen=True)
class Stored:
    """RUN/predictions/<model>/: words.parquet and <shard>/predictions.parquet beside the shard's nodes."""

    folder: Path
    words: list[str]

    @classmethod
    def of(cls, run: Run, model: str) -> "Stored":
        folder = run.predictions / model
        if model not in models(run):
            there = ", ".join(models(run)) or "none yet; `questree answer` writes them"
            raise BadInput.at(run.folder, f"no predictions of a model {model!r}; there are {there}")
        return cls(folder, WORDS.read(folder)["word"].to_list())

    def shard(self, name: str, nodes: int) -> NDArray[np.int32]:
        """[node] number of the predicted word, NOTHING without one."""
        found = np.full(nodes, NOTHING, np.int32)
        table = PREDICTIONS.read(self.folder / name)
        found[table["node"].to_numpy()] = table["word"].to_numpy()
        return found


def write_words(folder: Path, words: Sequence[str]) -> None:
    WORDS.write(pl.DataFrame({"word": words}, schema=dict(WORDS.columns)), folder)


def write_shard(folder: Path, predicted: NDArray[np.int32]) -> None:
    """The predictions of a shard, [node]; `folder` must exist."""
    node = np.flatnonzero(predicted != NOTHING)
    columns = {"node": node, "word": predicted[node]}
    PREDICTIONS.write(pl.DataFrame(columns, schema=dict(PREDICTIONS.columns)), folder)


def models(run: Run) -> list[str]:
    """Names of the models whose predictions are stored."""
    return sorted(path.parent.name for path in run.predictions.glob(f"*/{WORDS.name}.parquet"))
