"""More steps than in training: the most steps of each template in train (12.18 of the sheet)."""

from concurrent.futures import Executor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from questree.benchmarks.agqa.editions import Edition
from questree.columns.joins import Ints
from questree.stages.balance.rounds import has_selection, selected
from questree.stages.questions import Bank
from questree.tables.facts import VIDEOS
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run, kept_while
from questree.tables.store import own_note
from questree.workers import over

SHARE = 0.75  # of a template's training questions that stay
KNOWN = {"relTime": 5}  # from the release
NEVER = 255  # a template without questions
STEPS = QUESTIONS.only("video", "number", "template", "steps")


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions")
def corpus(run: Path) -> tuple[Bank, NDArray[np.bool_]]:
    """The questions of a run, and [video] is it for training? Read once per process."""
    return Bank(Run(run)), (Run(run).table("facts", VIDEOS)["split"] == "train").to_numpy()


def thresholds(bank: Bank, pool: Executor, given: dict[str, int], chosen: bool) -> tuple[int, ...]:
    """[template] the most steps in training; chosen: of the balanced selection, or of all questions."""
    names = [folder.name for folder in bank.folders()]
    counts = over(pool, "counting steps", "shard", names, step_counts, bank.run.folder, chosen)
    none = np.zeros((2, len(bank.edition.by_code), NEVER + 1), np.int64)
    return most_steps(np.asarray(sum(counts, none)), given, bank.edition)


def of_run(bank: Bank) -> tuple[int, ...]:
    """[template] the most steps in training: as the run was split, or as it would be."""
    note = bank.run.folder / "splits" / "report.json"
    if note.is_file():
        return told(note, bank.edition)
    with bank.pool(1) as pool:
        return thresholds(bank, pool, {}, has_selection(bank.run))


def told(report: Path, edition: Edition) -> tuple[int, ...]:
    """[template] the most steps in training, as a run was split."""
    note = own_note(report)
    known: dict[str, int] = note.get("options", note).get("more steps", {})  # splits that were imported have no options
    return tuple(known.get(template.name, NEVER) for template in edition.by_code)


def step_counts(run: Path, shard: str, chosen: bool) -> Ints:
    """[train, template, steps] how many questions of a shard."""
    bank, train = corpus(run)
    shape = (2, len(bank.edition.by_code), NEVER + 1)
    found = np.zeros(shape, np.int64)
    for every in STEPS.pieces(bank.run.questions / shard):
        table = selected(bank.run, every) if chosen else every
        video, template, steps = (table[name].to_numpy().astype(np.int64) for name in ("video", "template", "steps"))
        at = np.ravel_multi_index((train[video] * 1, template, steps), shape)
        found += np.bincount(at, minlength=found.size).reshape(shape)
    return found


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
