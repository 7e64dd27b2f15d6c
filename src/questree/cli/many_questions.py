"""As many questions as a benchmark asks for: a synthetic world's, again and again with other actions."""

from pathlib import Path
from shutil import copytree

import msgspec
import numpy as np
import polars as pl

from questree.stages.questions import Bank
from questree.tables.facts import VIDEOS
from questree.tables.questions import QUESTIONS, packed_time, time_actions, time_kind
from questree.tables.run import Run

SHUFFLES = 8  # of the actions in time phrases, over all copies; more would make too many content keys


def multiply(run: Run, out: Path, rows: int) -> Run:
    """A run with this many questions, copied from a run that has some."""
    bank, copies, written = Bank(run), 0, 0
    copytree(run.folder, out, ignore=lambda _, names: {"raw", "questions", "truth"} & set(names))
    videos = run.table("facts", VIDEOS)
    tables = []
    while written < rows:
        shift = copies * len(videos)
        tables.append(videos.with_columns(pl.col("id") + f"x{copies}"))
        for folder in bank.folders():
            target = out / "questions" / f"{copies:03d}{folder.name}"
            target.mkdir(parents=True)
            few = renamed(QUESTIONS.read(folder), copies % SHUFFLES, len(bank.vocabulary.actions)).head(rows - written)
            QUESTIONS.write(few.with_columns(pl.col("video") + shift), target)
            written += len(few)
        copies += 1
    VIDEOS.write(pl.concat(tables), out / "facts")
    many = Run(out)
    plan = {"options": bank.options, "facts": many.facts_digest()}
    (out / "questions" / "plan.json").write_bytes(msgspec.json.encode(plan))
    return many


def renamed(questions: pl.DataFrame, shuffle: int, actions: int) -> pl.DataFrame:
    """Time phrases about other actions, the same ones for the same actions."""
    other = np.append(np.random.default_rng(shuffle).permutation(actions), -1)  # the last: no action
    time = questions["time"].to_numpy().astype(np.int64)
    moved = packed_time(time_kind(time), *(other[action] for action in time_actions(time)))
    return questions.with_columns(time=pl.Series(moved, dtype=pl.UInt32))
