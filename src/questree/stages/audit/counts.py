"""How often each answer is given to each content key, in train and test, of all questions and of the selection."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.joins import Ints
from questree.progress import watch
from questree.stages.balance.binary import COLUMNS
from questree.stages.questions import Bank
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import time_without_kind

GROUPED = ["key", "template", "answer", "test"]


def content_keys(questions: pl.DataFrame, known: TemplateColumns) -> Ints:
    """[question] the key balancing works by: of open questions without the kind of the time."""
    column = {name: questions[name].to_numpy().astype(np.int64) for name in ("template", "relation", "x", "y", "time")}
    template, time = column["template"], column["time"]
    actions = np.where(known.with_time[template], time_without_kind(time), 0)
    time = np.where(known.open[template], actions, time)
    own = np.where(known.open, known.family, np.arange(len(known)))  # the same for templates that share content keys
    key = own[template] << 48 | column["relation"] << 40 | column["x"] << 32 | column["y"] << 24 | time
    return np.asarray(key)


def answer_codes(questions: pl.DataFrame, known: TemplateColumns) -> Ints:
    """[question] kind * 256 + answer: the same number for the same word."""
    return np.asarray(known.answer_kind[questions["template"].to_numpy()] * 256 + questions["answer"].to_numpy())


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
                "key": content_keys(questions, bank.templates),
                "template": questions["template"],
                "answer": answer_codes(questions, bank.templates).astype(np.uint16),
                "test": test[questions["video"].to_numpy()],
                "after": selected(questions, chosen),
            }
        )
        return table.group_by(GROUPED).agg(before=pl.len(), after=pl.col("after").sum())

    folders = bank.folders()
    found = list(watch(pool.map(one, folders), "counting answers", len(folders)))
    merged = pl.concat(found).lazy().group_by(GROUPED).agg(pl.col("before", "after").sum())
    return merged.collect(engine="streaming").sort(GROUPED)
