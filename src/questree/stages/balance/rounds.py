"""Balancing of a run: train and test apart, over all its questions at once, whatever the shards they lie in."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from math import ceil, log2, sqrt
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Recipe, Said, Told
from questree.columns.joins import Ints
from questree.faults import BadInput
from questree.stages.balance.binary import CELLS, MOST_BITS, MOST_TEMPLATES, Places
from questree.stages.balance.buckets import (
    Balancing,
    CountedBucket,
    DealtPiece,
    choose_bucket,
    count_bucket,
    deal_shard,
    look_at_groups,
    look_at_keys,
)
from questree.stages.balance.levelling import SPLITS, BalanceOptions, Smoothing, read_shares
from questree.stages.balance.opened import GroupCuts, quotas
from questree.stages.balance.rejected import read_rejected, rejected
from questree.stages.balance.structure import cells_kept, key_cuts, shown
from questree.stages.balance.thresholds import of_rank
from questree.stages.balance.told import BalanceReport, said, table
from questree.stages.questions import Bank
from questree.tables.questions import BALANCED, QUESTIONS, read_balanced
from questree.tables.run import Run
from questree.tables.store import new_folder, own_note, scratch
from questree.workers import over

Result = TypeVar("Result")
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


SMOOTHING = frozenset(field.name for field in fields(Smoothing))


def recipe(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    smoothing = Smoothing(**{name: given[name] for name in given if name in SMOOTHING})
    shares = {"shares": read_shares(given["shares"])} if "shares" in given else {}
    without, first = None, list[Said]()
    if "without" in given:
        found = read_rejected(given["without"])
        without = numbered(run, found)
        first = rejected(found, without).said()
    report = balance(run, BalanceOptions(given["seed"], smoothing, **shares), workers, without)
    return Told([*first, *said(run, report)], report)


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


RECIPE = Recipe(SMOOTHING | {"seed", "shares", "without"}, recipe, shared=True)


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


@dataclass(frozen=True)
class Rounds:
    """Rounds of tasks, each over all shards or all buckets."""

    task: Balancing
    pool: Executor

    def shards(self, work: Callable[..., Result], label: str, *args: Any) -> list[Result]:
        return over(self.pool, label, "shard", self.task.shards, work, self.task, *args)

    def buckets(self, work: Callable[..., Result], label: str, *args: Any) -> list[Result]:
        return over(self.pool, label, "bucket", self.task.buckets, work, self.task, *args)


def select(task: Balancing, pool: Executor, without: pl.DataFrame | None = None) -> tuple[Places, BalanceReport]:
    """The selected questions in order; what is decided here is decided from counts."""
    rounds, options, known = Rounds(task, pool), task.options, task.corpus.known
    pieces = [piece for dealt in rounds.shards(deal_shard, "reading questions", without) for piece in dealt]
    rounds = replace(rounds, task=replace(task, dealt=tuple(piece.name for piece in pieces)))
    before = np.sum([piece.before for piece in pieces], axis=0)
    cuts = group_cuts(rounds, pieces, options.smoothing)
    buckets = rounds.buckets(count_bucket, "content keys", max((own.width for own in pieces), default=2), cuts)
    groups, open = (np.sum([own[at] for own in buckets], axis=0) for at in (0, 1))  # [split, template]
    first = sizes(buckets)
    query = int(open[0].sum()), int(open[1].sum())
    last = choose(rounds, buckets, cells_kept(first, query, options, known.structure))
    chosen = [task.take("chosen", at, ["open", "binary"], 1)[0] for at in task.buckets]
    binary = before * ~known.open
    counted = [open + per_template(cells, len(known)) for cells in (first, last)]
    targets = [
        target
        for split in range(len(SPLITS))
        for target in shown(split, last, first, query[split], options, known.structure)
    ]
    report = BalanceReport(options, table((before, groups + binary, *counted), known), targets)
    return np.sort(np.concatenate(chosen)), report


def group_cuts(rounds: Rounds, pieces: list[DealtPiece], how: Smoothing) -> GroupCuts:
    """The first smoothing, of the answers of groups of templates."""
    every, at = np.unique(np.concatenate([piece.runs for piece in pieces]), return_inverse=True)
    number = np.bincount(at, np.concatenate([piece.number for piece in pieces]), len(every)).astype(np.int64)
    quota = quotas(every, number, how)
    whole = quota == number
    look = partial(rounds.buckets, look_at_groups, "answers", every)
    return GroupCuts(every, whole, of_rank(np.where(whole, -1, quota), number, look))


def sizes(buckets: list[CountedBucket]) -> Ints:
    """[cell] binary questions after the first round."""
    own = [np.bincount(bucket.cell, bucket.size * bucket.number, CELLS) for bucket in buckets]
    return np.asarray(np.sum(own, axis=0), np.int64)


def choose(rounds: Rounds, buckets: list[CountedBucket], cells: Ints) -> Ints:
    """Let buckets write the binary questions that stay; cells: [cell] how many may, returned: how many do."""
    cell, size, number = (np.concatenate([bucket[at] for bucket in buckets]) for at in (2, 3, 4))
    cuts = key_cuts(cell, size, number, cells)
    above = np.append(cuts.above, cuts.above)
    at = of_rank(cuts.ranks, above, partial(rounds.buckets, look_at_keys, "visiting keys", cuts))
    return np.asarray(np.sum(rounds.buckets(choose_bucket, "selecting", cuts, at), axis=0))


def per_template(cells: Ints, templates: int) -> Ints:
    """[split, template] out of [cell]."""
    return np.asarray(cells.reshape(len(SPLITS), MOST_TEMPLATES, -1).sum(axis=2)[:, :templates])


def write(folder: Path, places: Places, test: NDArray[np.bool_], report: BalanceReport) -> None:
    video, number = (places >> np.uint64(32)).astype(np.uint32), places.astype(np.uint32)
    with new_folder(folder) as work:
        for split, name in enumerate(SPLITS):
            own = test[video] == bool(split)
            selected = BALANCED.frame({"video": video[own], "number": number[own]})
            selected.write_parquet(work / f"{name}.parquet", compression="zstd", compression_level=1)
        record = {name: value for name, value in asdict(report).items() if name != "without" or value}
        (work / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)))
