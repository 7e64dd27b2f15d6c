"""Bots for questions about image sets: those whose answers need no look at facts beyond the truth of the nodes."""

from collections.abc import Callable
from typing import NamedTuple
from zlib import crc32

import numpy as np
import polars as pl

from questree.columns.hashing import mix, seed_of
from questree.faults import Fault, refuse
from questree.models import bots
from questree.rules import IMAGE_DAGS
from questree.stages.decompose.image_hierarchies import decomposed, node_columns
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import IMAGE_SETS, write_plan, write_shard, write_words
from questree.tables.run import Run
from questree.tables.store import new_folder

YES = [IMAGE_DAGS.types.index(name) for name in IMAGE_DAGS.yes_no]
Answers = Callable[[pl.DataFrame, int], pl.Series]  # nodes, seed -> [node] answers


def oracle(nodes: pl.DataFrame, seed: int) -> pl.Series:
    return nodes["answer"]


def commonest(nodes: pl.DataFrame, by: str) -> pl.Series:
    """[node] the most frequent answer among nodes that are alike; of equals the first in the alphabet."""
    counts = nodes.drop_nulls("answer").group_by(by, "answer").len().sort(["len", "answer"], descending=[True, False])
    best = counts.group_by(by, maintain_order=True).agg(best=pl.col("answer").first())
    return nodes.join(best, on=by, how="left", maintain_order="left")["best"]


def most_likely(nodes: pl.DataFrame, seed: int) -> pl.Series:
    return commonest(nodes, "type")


def shortcut(nodes: pl.DataFrame, seed: int) -> pl.Series:
    return commonest(nodes, "question")


def always_yes(nodes: pl.DataFrame, seed: int) -> pl.Series:
    return pl.Series(["yes"] * len(nodes), dtype=pl.String)


def uniform(nodes: pl.DataFrame, seed: int) -> pl.Series:
    """Any answer that questions of the type have; yes and no where it is one of them."""
    program = np.array([crc32(text.encode()) for text in nodes["program"]], np.uint64)
    drawn = mix(seed_of(seed, "guess"), nodes["set"].to_numpy(), program)
    found = np.full(len(nodes), None, object)
    for type, rows in nodes.with_row_index("row").group_by("type", maintain_order=True):
        at = rows["row"].to_numpy()
        known = ["no", "yes"] if type[0] in YES else sorted(rows["answer"].drop_nulls().unique().to_list())
        if known:
            found[at] = np.array(known, object)[(drawn[at] % np.uint64(len(known))).astype(np.int64)]
    return pl.Series(found.tolist(), dtype=pl.String)


class Bot(NamedTuple):
    says: str
    answers: Answers


BOTS = {
    "oracle": Bot(bots.BOTS["oracle"].says, oracle),
    "most-likely": Bot(bots.BOTS["most-likely"].says, most_likely),
    "uniform": Bot("any answer that questions of the type have, all as likely", uniform),
    "always-yes": Bot(bots.BOTS["always-yes"].says, always_yes),
    "shortcut": Bot("has learned answers by heart: the commonest one to the question, whatever the images", shortcut),
}


def answer_images(run: Run, model: str, seed: int = 0, name: str = "") -> int:
    """Store a bot's answers to all nodes in RUN/predictions/<name>/covr; how many."""
    refuse([] if model in BOTS else [Fault("--model", f"no bot {model!r} for image sets; there are {', '.join(BOTS)}")])
    nodes = spoken_sets(read_sets(decomposed(run)))
    said = BOTS[model].answers(nodes, seed)
    words, columns = node_columns(nodes.with_columns(answer=said))
    with new_folder(run.predictions / (name or model)) as folder:
        write_words(folder, words)
        (folder / IMAGE_SETS).mkdir()
        write_shard(folder / IMAGE_SETS, columns.answer)
        write_plan(folder, run, {"model": model, "seed": seed})
    return int((columns.answer != NOTHING).sum())
