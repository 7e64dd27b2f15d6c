"""How often each answer is given to each content key, in train and test, of all questions and of the selection."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.joins import Ints
from questree.progress import watch
from questree.stages.balance.opened import FAMILY, WITH_TIME
from questree.stages.balance.packing import COLUMNS, OPEN
from questree.stages.questions import Bank

KINDS = sorted({"bool" if t.node.kind.yes else t.node.kind.name for t in TEMPLATES})  # of answers
KIND = np.array([KINDS.index("bool" if t.node.kind.yes else t.node.kind.name) for t in TEMPLATES])
OWN = np.where(OPEN, FAMILY, np.arange(len(TEMPLATES)))  # templates that share content keys have the same number
GROUPED = ["key", "template", "answer", "test"]


def content_keys(questions: pl.DataFrame) -> Ints:
    """[question] the key balancing works by: of open questions without the kind of the time."""
    column = {name: questions[name].to_numpy().astype(np.int64) for name in ("template", "relation", "x", "y", "time")}
    template, time = column["template"], column["time"]
    time = np.where(OPEN[template], np.where(WITH_TIME[template], time >> 8, 0), time)
    key = OWN[template] << 48 | column["relation"] << 40 | column["x"] << 32 | column["y"] << 24 | time
    return np.asarray(key)


def answer_codes(questions: pl.DataFrame) -> Ints:
    """[question] kind * 256 + answer: the same number for the same word."""
    return np.asarray(KIND[questions["template"].to_numpy()] * 256 + questions["answer"].to_numpy())


def selected(questions: pl.DataFrame, chosen: pl.DataFrame | None) -> NDArray[np.bool_]:
    """[question] is it in the selection? All are, if there is none."""
    if chosen is None or questions.is_empty():
        return np.ones(len(questions), bool)
    place = questions["video"].to_numpy().astype(np.uint64) << np.uint64(32) | questions["number"].to_numpy()
    video = chosen["video"].to_numpy()
    lo, hi = np.searchsorted(video, [place.min() >> np.uint64(32), (place.max() >> np.uint64(32)) + np.uint64(1)])
    own = video[lo:hi].astype(np.uint64) << np.uint64(32) | chosen["number"].to_numpy()[lo:hi]
    return np.isin(place, own)


def counts(bank: Bank, test: NDArray[np.bool_], chosen: pl.DataFrame | None, pool: ThreadPoolExecutor) -> pl.DataFrame:
    """key, template, answer, test, before, after: how many questions of all, and of the selection."""

    def one(folder: Path) -> pl.DataFrame:
        questions = COLUMNS.read(folder)
        table = pl.DataFrame(
            {
                "key": content_keys(questions),
                "template": questions["template"],
                "answer": answer_codes(questions).astype(np.uint16),
                "test": test[questions["video"].to_numpy()],
                "after": selected(questions, chosen),
            }
        )
        return table.group_by(GROUPED).agg(before=pl.len(), after=pl.col("after").sum())

    folders = bank.folders()
    found = list(watch(pool.map(one, folders), "counting answers", len(folders)))
    merged = pl.concat(found).lazy().group_by(GROUPED).agg(pl.col("before", "after").sum())
    return merged.collect(engine="streaming").sort(GROUPED)
