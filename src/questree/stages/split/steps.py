"""More steps than in training: the most steps of each template in train (12.18 of the sheet)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.editions import Edition
from questree.columns.joins import Ints
from questree.progress import watch
from questree.stages.balance.rounds import between, selection
from questree.stages.questions import Bank
from questree.tables.facts import VIDEOS
from questree.tables.questions import QUESTIONS
from questree.tables.store import own_note

SHARE = 0.75  # of a template's training questions that stay
KNOWN = {"relTime": 5}  # from the release
NEVER = 255  # a template without questions
STEPS = QUESTIONS.only("video", "number", "template", "steps")


def thresholds(
    bank: Bank, train: NDArray[np.bool_], given: dict[str, int], chosen: pl.DataFrame | None, workers: int = 2
) -> tuple[int, ...]:
    """[template] the most steps in training; train: [video], chosen: the questions that are split, None for all."""
    with ThreadPoolExecutor(workers) as pool:
        return most_steps(step_counts(bank, train, chosen, pool), given, bank.edition)


def of_run(bank: Bank) -> tuple[int, ...]:
    """[template] the most steps in training: as the run was split, or as it would be."""
    note = bank.run.folder / "splits" / "report.json"
    if note.is_file():
        return told(note, bank.edition)
    train = (bank.run.table("facts", VIDEOS)["split"] == "train").to_numpy()
    return thresholds(bank, train, {}, selection(bank.run))


def told(report: Path, edition: Edition) -> tuple[int, ...]:
    """[template] the most steps in training, as a run was split."""
    note = own_note(report)
    known: dict[str, int] = note.get("options", note).get("more steps", {})  # splits that were imported have no options
    return tuple(known.get(template.name, NEVER) for template in edition.by_code)


def step_counts(bank: Bank, train: NDArray[np.bool_], chosen: pl.DataFrame | None, pool: ThreadPoolExecutor) -> Ints:
    """[train, template, steps] how many questions."""
    shape = (2, len(bank.edition.by_code), NEVER + 1)

    def one(folder: Path) -> Ints:
        table = STEPS.read(folder)
        if chosen is not None:
            table = table.join(between(chosen, table), on=["video", "number"], how="semi")
        video, template, steps = (table[name].to_numpy().astype(np.int64) for name in ("video", "template", "steps"))
        return np.bincount(np.ravel_multi_index((train[video] * 1, template, steps), shape), minlength=np.prod(shape))

    folders = bank.folders()
    counts = watch(pool.map(one, folders), "counting steps", len(folders))
    return np.asarray(sum(counts, np.zeros(int(np.prod(shape)), np.int64))).reshape(shape)


def most_steps(counts: Ints, given: dict[str, int], edition: Edition) -> tuple[int, ...]:
    """counts: [train, template, steps] questions -> the most steps per template in train.

    That is the smallest number at least SHARE of its training questions do not exceed; of all, if none is for training.
    """
    found = []
    for at, template in enumerate(edition.by_code):
        own = counts[1, at] if counts[1, at].any() else counts[0, at]
        known = {**KNOWN, **given}.get(template.name)
        reached = np.flatnonzero(np.cumsum(own) >= SHARE * own.sum())
        found.append(known if known is not None else int(reached[0]) if own.any() else NEVER)
    return tuple(found)
