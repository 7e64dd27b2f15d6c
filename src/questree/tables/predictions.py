"""Answers of models to the nodes of a run: numbers of words, shard by shard, and the words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import BadInput
from questree.tables.digests import digest, write_note
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run
from questree.tables.store import own_note
from questree.tables.table import Table

WORDS = Table("words", {"word": pl.String})
PREDICTIONS = Table("predictions", {"node": pl.UInt32, "word": pl.UInt32})  # by node; a node left out was not answered
# questions that were answered otherwise than their node is as a sub-question, or not at all: row of `tops`
ASKED = Table("asked", {"top": pl.UInt32, "word": pl.UInt32}, frozenset({"word"}))
IMAGE_SETS = "covr"  # what shards of image sets begin with; all others are about videos
PLAN = "plan.json"  # who answered, with which options, and the digest of the nodes that were answered


@dataclass(frozen=True)
class Stored:
    """RUN/predictions/<model>/: words.parquet, plan.json and <shard>/predictions.parquet beside the shard's nodes."""

    folder: Path
    words: list[str]

    @classmethod
    def of(cls, run: Run, model: str) -> "Stored":
        folder = run.predictions / model
        if model not in models(run):
            there = ", ".join(models(run))
            choices = f"choose from {there}" if there else "there are none; `questree answer` stores them"
            raise BadInput.at(run.folder, f"no predictions of a model {model!r}; {choices}")
        if outdated(run, model):
            raise BadInput.at(folder, "answers to other nodes than the run has now; run `questree answer` again")
        return cls.believed(run, model)

    @classmethod
    def believed(cls, run: Run, model: str) -> "Stored":
        """Without a look at the nodes of all shards: for who is sent to one of them by who has looked."""
        folder = run.predictions / model
        return cls(folder, WORDS.read(folder)["word"].to_list())

    def shard(self, name: str, nodes: int) -> NDArray[np.int32]:
        """[node] number of the predicted word, NOTHING without one."""
        found = np.full(nodes, NOTHING, np.int32)
        table = PREDICTIONS.read(self.folder / name)
        found[table["node"].to_numpy()] = table["word"].to_numpy()
        return found

    def asked(self, name: str, predicted: NDArray[np.int32]) -> NDArray[np.int32]:
        """[question of a shard] the same, given the predictions for the questions' nodes."""
        if not (self.folder / name / f"{ASKED.name}.parquet").is_file():
            return predicted
        found, table = predicted.copy(), ASKED.read(self.folder / name)
        found[table["top"].to_numpy()] = table["word"].cast(pl.Int32).fill_null(NOTHING).to_numpy()
        return found


def nodes_digest(run: Run, folder: Path) -> str:
    """Of the nodes that the predictions in a folder are about: those of videos, those of image sets, or both."""
    paths = sorted(run.decomposed.glob("*/nodes.parquet")) if answers_videos(folder) else []
    paths += sorted((run.covr / "decomposed").glob("*/nodes.parquet")) if answers_images(folder) else []
    return digest(*paths)


def answers_videos(folder: Path) -> bool:
    return not all(map(of_image_sets, folder.glob("*/")))


def answers_images(folder: Path) -> bool:
    return any(map(of_image_sets, folder.glob("*/")))


def shard_name(number: int) -> str:
    """Of image sets."""
    return f"{IMAGE_SETS}-{number:05d}"


def of_image_sets(shard: Path | str) -> bool:
    return Path(shard).name.startswith(IMAGE_SETS)


def write_plan(folder: Path, run: Run, options: Mapping[str, Any]) -> None:
    """After all shards."""
    files = (path for path in folder.rglob("*") if path.is_file())
    write_note(folder / PLAN, {"options": options, "nodes": nodes_digest(run, folder)}, files)


def write_words(folder: Path, words: Sequence[str]) -> None:
    WORDS.write(pl.DataFrame({"word": words}, schema=dict(WORDS.columns)), folder)


def write_shard(folder: Path, predicted: NDArray[np.int32]) -> None:
    """The predictions of a shard, [node]; `folder` must exist."""
    node = np.flatnonzero(predicted != NOTHING)
    columns = {"node": node, "word": predicted[node]}
    PREDICTIONS.write(pl.DataFrame(columns, schema=dict(PREDICTIONS.columns)), folder)


def write_asked(folder: Path, predicted: NDArray[np.int32], nodes: NDArray[np.int32]) -> None:
    """The predictions of a shard's questions, [question], where they differ from those of their nodes, [question]."""
    top = np.flatnonzero(predicted != nodes)
    if len(top):
        word = pl.Series(predicted[top]).replace(NOTHING, None)
        ASKED.write(pl.DataFrame({"top": top, "word": word}), folder)


def outdated(run: Run, model: str) -> bool:
    """Whether a stored model answered other nodes than the run has now."""
    folder = run.predictions / model
    known = own_note(folder / PLAN, "nodes") if (folder / PLAN).is_file() else None
    return known is not None and known["nodes"] != nodes_digest(run, folder)


def samples(run: Run) -> frozenset[str]:
    """Models that were asked some questions only, as people are: what they lack counts neither way."""
    return frozenset(name for name in models(run) if _options(run.predictions / name).get("sample"))


def _options(folder: Path) -> dict[str, Any]:
    file = folder / PLAN
    found = own_note(file).get("options") if file.is_file() else None
    return found if isinstance(found, dict) else {}


def models(run: Run, images: bool | None = None) -> list[str]:
    """Names of the models whose predictions are stored; only those about image sets, or about videos, if asked."""
    folders = [path.parent for path in run.predictions.glob(f"*/{WORDS.name}.parquet")]
    wanted = {None: Path.is_dir, True: answers_images, False: answers_videos}[images]
    return sorted(folder.name for folder in folders if wanted(folder))
