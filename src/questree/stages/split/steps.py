"""More steps than in training: the most steps of each template in train (12.18 of the sheet)."""

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.editions import Edition
from questree.stages.balance.rounds import has_selection, selected
from questree.stages.questions import Bank
from questree.tables.facts import VIDEOS
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run, kept_while
from questree.tables.store import own_note
from questree.workers import whole

SHARE = 0.75  # of a template's training questions that stay
KNOWN = {"relTime": 5}  # from the release
NEVER = 255  # a template without questions
STEPS = QUESTIONS.only("video", "number", "template", "steps")


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions")
def corpus(run: Path) -> tuple[Bank, NDArray[np.bool_]]:
    """The questions of a run, and [video] is it for training? Read once per process."""
    return Bank(Run(run)), (Run(run).table("facts", VIDEOS)["split"] == "train").to_numpy()


def thresholds(bank: Bank, given: dict[str, int], chosen: bool) -> tuple[int, ...]:
    """[template] the most steps in training; chosen: of the balanced selection, or of all questions."""
    return most_steps(whole(count_steps, bank.run.folder, chosen), given, bank.edition)


def of_run(bank: Bank) -> tuple[int, ...]:
    """[template] the most steps in training: as the run was split, or as it would be."""
    note = bank.run.folder / "splits" / "report.json"
    if note.is_file():
        return told(note, bank.edition)
    return thresholds(bank, {}, has_selection(bank.run))


def told(report: Path, edition: Edition) -> tuple[int, ...]:
    """[template] the most steps in training, as a run was split."""
    note = own_note(report)
    known: dict[str, int] = note.get("options", note).get("more steps", {})  # splits that were imported have no options
    return tuple(known.get(template.name, NEVER) for template in edition.by_code)


def count_steps(run: Path, chosen: bool) -> pl.DataFrame:
    """train, template, steps, n: how many questions."""
    bank, train = corpus(run)
    tables, by = list[pl.DataFrame](), ("train", "template", "steps")
    for folder in bank.folders():
        for every in STEPS.pieces(folder):
            table = selected(bank.run, every) if chosen else every
            of_train = pl.Series(train[table["video"].to_numpy()])
            tables.append(table.with_columns(train=of_train).group_by(by).agg(n=pl.len()))
    return pl.concat(tables).group_by(by).agg(pl.col("n").sum())


def most_steps(counts: pl.DataFrame, given: dict[str, int], edition: Edition) -> tuple[int, ...]:
    """counts: train, template, steps, n questions -> the most steps per template in train.

    That is the smallest number at least SHARE of its training questions do not exceed; of all, if none is for training.
    """
    side = counts.filter(pl.col("train") == pl.col("train").max().over("template")).sort("steps")
    n = pl.col("n").cast(pl.Int64)
    reached = side.filter((n.cum_sum() >= SHARE * n.sum()).over("template")).group_by("template")
    most: dict[int, int] = dict(reached.agg(pl.col("steps").min()).rows())
    known = {**KNOWN, **given}
    return tuple(known.get(each.name, most.get(at, NEVER)) for at, each in enumerate(edition.by_code))
