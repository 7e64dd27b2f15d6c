"""Balancing of a run: train and test apart, over all its questions at once, whatever the shards they lie in."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from math import ceil, log2, sqrt
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Recipe, Said, Told
from questree.faults import BadInput, at_least, refuse
from questree.stages.balance.binary import MOST_BITS, Places
from questree.stages.balance.buckets import Balancing
from questree.stages.balance.levelling import SHARES, SPLITS, BalanceOptions, Smoothing, read_shares
from questree.stages.balance.rejected import read_rejected, rejected
from questree.stages.balance.selecting import select
from questree.stages.balance.told import BalanceReport, deletions, said
from questree.stages.questions import Bank
from questree.tables.questions import BALANCED, QUESTIONS, read_balanced
from questree.tables.run import Run
from questree.tables.store import new_folder, own_note, scratch

LEAST, MOST = 1 << 22, 1 << 28  # bytes of questions in a bucket


def balance(run: Run, options: BalanceOptions, workers: int = 2, without: pl.DataFrame | None = None) -> BalanceReport:
    """Select questions and write the selection, one table per split, with the report beside it.

    `without`: video, number of questions that are taken out before.
    """
    bank, taken = Bank(run), 0 if without is None else len(without)
    names = tuple(folder.name for folder in bank.folders())
    with scratch(run.balanced) as place:
        task = Balancing(run.folder, place, options, names, bucket_bits(bank.bytes()))
        with bank.pool(workers) as pool:
            places, report = select(task, pool, without)
        report = replace(report, questions=run.questions_digest(), without=taken)
        write(run.balanced, places, task.corpus.test, report)
    return report


def bucket_bits(size: int) -> int:
    """As many buckets as give files, of which every shard has one per bucket, of a fair size, and fit into memory."""
    bucket = min(max(sqrt(size << 20), LEAST), MOST)
    return min(ceil(log2(max(size / bucket, 1))), MOST_BITS)


SWITCHES = ("untimed_keys", "as_released")  # in the order of BalanceOptions, where they come last
SMOOTHING = frozenset(field.name for field in fields(Smoothing))


def recipe(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    smoothing = Smoothing(**{name: given[name] for name in given if name in SMOOTHING})
    shares = read_shares(given["shares"]) if "shares" in given else dict(SHARES)
    without, first = None, list[Said]()
    if "without" in given:
        found = read_rejected(given["without"])
        without = numbered(run, found)
        first = rejected(found, without).said()
    refuse(at_least(0, {"share_tolerance": given.get("share_tolerance")}))
    switches = (name in given for name in SWITCHES)
    tolerance = given["share_tolerance"] / 100 if "share_tolerance" in given else None
    options = BalanceOptions(given["seed"], smoothing, shares, tolerance, *switches)
    report = balance(run, options, workers, without)
    why = f"{deletions(report)}; `questree balance` takes these options"
    return Told([*first, *said(run, report)], report, remarks=[why])


def numbered(run: Run, found: pl.DataFrame) -> pl.DataFrame:
    """video, number and reason of the questions with these ids, <video>-<number>; others are left out."""
    bank = Bank(run)
    videos = pl.DataFrame({"name": bank.ids}).with_row_index("video")
    parts = found.with_columns(
        name=pl.col("id").str.extract(r"^(.*)-\d{1,9}$"),
        number=pl.col("id").str.extract(r"-(\d{1,9})$").cast(pl.UInt32),
    )
    named = parts.join(videos, on="name", maintain_order="left")
    there = [
        some.join(named, on=["video", "number"], how="semi")
        for folder in bank.folders()
        for some in QUESTIONS.only("video", "number").pieces(folder)
    ]
    return named.join(pl.concat(there), on=["video", "number"], how="semi", maintain_order="left")


RECIPE = Recipe(SMOOTHING | {"seed", "shares", "without", "share_tolerance", *SWITCHES}, recipe, shared=True)


def selection(run: Run) -> pl.DataFrame | None:
    """The balanced selection of a run, sorted by video and number; None if there is none."""
    return read_balanced(run.balanced) if has_selection(run) else None


def has_selection(run: Run) -> bool:
    """Refuses one of other questions."""
    if not run.balanced.is_dir():
        return False
    note = run.balanced / "report.json"
    if note.is_file() and own_note(note, "questions")["questions"] != run.questions_digest():
        raise BadInput.at(run.balanced, "was selected from other questions than there are now; run `questree balance`")
    return True


def selected(run: Run, questions: pl.DataFrame) -> pl.DataFrame:
    """The selected ones among questions of a shard."""
    if questions.is_empty():
        return questions
    video = questions["video"].to_numpy()
    chosen = read_balanced(run.balanced, int(video.min()), int(video.max()))
    return questions.join(chosen, on=["video", "number"], how="semi", maintain_order="left")


def between(chosen: pl.DataFrame, asked: pl.DataFrame) -> pl.DataFrame:
    """The selected questions of the videos of a shard; `chosen` is sorted by video."""
    own = asked["video"].to_numpy()
    if not len(own):
        return chosen[:0]
    lo, hi = np.searchsorted(chosen["video"].to_numpy(), [own.min(), own.max() + 1])
    return chosen[int(lo) : int(hi)]


def write(folder: Path, places: Places, test: NDArray[np.bool_], report: BalanceReport) -> None:
    video, number = (places >> np.uint64(32)).astype(np.uint32), places.astype(np.uint32)
    with new_folder(folder) as work:
        for split, name in enumerate(SPLITS):
            own = test[video] == bool(split)
            selected = BALANCED.frame({"video": video[own], "number": number[own]})
            selected.write_parquet(work / f"{name}.parquet", compression="zstd", compression_level=1)
        record = {name: value for name, value in asdict(report).items() if name != "without" or value}
        (work / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)))
