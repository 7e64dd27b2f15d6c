"""The question-only model of the audit as a bot: it reads what is asked and sees nothing."""

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from questree.faults import BadInput
from questree.models.asked import AskedNodes
from questree.models.lessons import FILE, AskedShards, Lesson, read_table
from questree.stages.audit.ngrams import NgramModel, grams, train
from questree.tables.hierarchies import NOTHING
from questree.terms import Array

MOST = 500_000  # nodes it learns from, as in the audit
ORDER = ("hash", "text", "word", "sort")  # nodes of one program may have the same hash
ANSWERS = 160  # of a sort: an answer that is rarer is never given, and the weights fit into memory


@dataclass(frozen=True)
class BlindReader:
    """What is known of questions by their words alone."""

    sorts: dict[str, int]  # what may be answered, of questions and of sub-questions -> its number
    model: NgramModel

    def answers(self, asked: AskedNodes) -> Array:
        """[node] words; nothing that was ever learnt answers a sort of question that training does not have."""
        said = sorted_out(asked)
        kind = said["sort"].replace_strict(self.sorts, default=NOTHING, return_dtype=pl.Int64).to_numpy()
        found = self.model.predict(grams(said["text"]), kind)
        return np.where(found == NOTHING, asked.unseen, found)


def look(shards: AskedShards, name: str, seed: int) -> pl.DataFrame:
    """Published answers about videos or images of train; of many nodes those with the smallest hashes."""
    asked = shards.asked(name)
    own = sorted_out(asked).with_columns(word=asked.published, hash=asked.drawn(seed, "blind"))
    return smallest(own.filter(pl.col("train") & (pl.col("word") != NOTHING)).select(*ORDER))


def learn(files: list[str], folder: Path) -> None:
    table = pl.read_ipc(files[0])
    for file in files[1:]:
        table = smallest(pl.concat([table, pl.read_ipc(file)]))
    if table.is_empty():
        raise BadInput.at("--model=blind", "expected questions of train to learn from, got none")
    table = common(table.sort(ORDER))
    sorts = table["sort"].unique().sort()
    kind = table["sort"].cast(pl.Enum(sorts)).to_physical().to_numpy().astype(np.int64)
    model = train(grams(table["text"]), table["word"].to_numpy(), kind, np.arange(len(table)))
    sorts.to_frame().write_ipc(folder / FILE)
    for at, weights in model.weights.items():
        np.save(folder / f"weights-{at}.npy", weights)
        np.save(folder / f"answers-{at}.npy", model.answers[at])


def read(folder: Path) -> BlindReader:
    sorts = {name: at for at, name in enumerate(read_table(folder)["sort"])}
    kept = {name: os.fspath(folder / name) for name in ("weights", "answers")}
    weights, answers = ({at: np.load(f"{file}-{at}.npy") for at in sorts.values()} for file in kept.values())
    return BlindReader(sorts, NgramModel(weights, answers))


def lesson(seed: int) -> Lesson[BlindReader]:
    return Lesson(f"blind-{seed}", partial(look, seed=seed), learn, read, reads=True)


def smallest(table: pl.DataFrame) -> pl.DataFrame:
    return table if len(table) <= MOST else table.bottom_k(MOST, by=ORDER)


def sorted_out(asked: AskedNodes) -> pl.DataFrame:
    """Questions and their parts are learnt apart: parts are answered yes more often."""
    apart = pl.when("top").then(pl.lit(" of a question")).otherwise(pl.lit(" of a part"))
    return asked.read.with_columns(sort=pl.col("sort") + apart)


def common(table: pl.DataFrame) -> pl.DataFrame:
    """The rows with the most common answers of every sort; of equally common ones the smaller number."""
    counts = table.group_by("sort", "word").len("times").sort("sort", "times", "word", descending=[False, True, False])
    kept = counts.group_by("sort", maintain_order=True).head(ANSWERS)
    return table.join(kept, on=["sort", "word"], how="semi", maintain_order="left")
