"""Balancing of a run: train and test apart, over all its questions at once, whatever the shards they lie in."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Recipe, Said, Told
from questree.columns.hashing import mix, seed_of
from questree.faults import BadInput, at_least, refuse
from questree.stages.balance.binary import BinaryTables, count_keys, draw_binary
from questree.stages.balance.levelling import QUERY, SHARES, SPLITS, BalanceOptions, Smoothing, read_shares
from questree.stages.balance.opened import count_answers, cut_templates, even_templates, read_open, smooth, smooth_keys
from questree.stages.balance.rejected import numbered, read_rejected, rejected
from questree.stages.balance.shard_tables import (
    BINARY,
    OPEN,
    Balancing,
    Places,
    ShardCounts,
    write_shards,
)
from questree.stages.balance.structure import Target, cells_kept, keys_kept, present, targets
from questree.stages.balance.told import BalanceReport, deletions, report_lines, table
from questree.stages.balance.top_answers import top_answers
from questree.stages.questions import Bank
from questree.stages.shard_tables import ShardTables
from questree.tables.questions import BALANCED, read_balanced
from questree.tables.run import Run
from questree.tables.store import new_folder, own_note, scratch
from questree.workers import whole


def balance(run: Run, options: BalanceOptions, workers: int = 2, without: pl.DataFrame | None = None) -> BalanceReport:
    """Select questions and write the selection, one table per split, with the report beside it.

    `without`: video, number of questions that are taken out before.
    """
    bank, taken = Bank(run), 0 if without is None else len(without)
    with scratch(run.balanced) as place:
        task = Balancing(run.folder, ShardTables(place), options)
        with bank.pool(workers) as pool:
            counts = write_shards(task, [folder.name for folder in bank.folders()], pool, without)
        places, report = whole(select, task, counts)
        report = replace(report, questions=run.questions_digest(), without=taken)
        write(run.balanced, places, task.corpus.test, report)
    return report


def select(task: Balancing, counts: ShardCounts) -> tuple[Places, BalanceReport]:
    """The selected questions in order."""
    (known, _, seeds, _), options = task.corpus, task.options
    structures, seen = known.structure, counts.before - counts.alone
    # first round: answers
    first = smooth(read_open(task.tables.files(OPEN), seeds, known), known, options)
    open = left = first.open
    tables = BinaryTables.read(task.tables.files(BINARY))
    keys = count_keys(tables)
    sizes = keys.per_cell(keys.size)
    # second round: structures
    query = open.count_templates(known).sum(axis=1).tolist()
    binary = sizes.sum(axis=2)[:, : len(known)]  # [split, template]
    there = [present(own, number, structures) for own, number in zip(binary, query, strict=True)]
    wanted = [targets(own, options) for own in there]
    if any(most[QUERY] < number for most, number in zip(wanted, query, strict=True)):
        few = cut_templates(open, known, [most[QUERY] for most in wanted])
        left = even_templates(smooth_keys(few, options), first.before, options)
        query = left.count_templates(known).sum(axis=1).tolist()
        wanted = [targets(own | {QUERY: number}, options) for own, number in zip(there, query, strict=True)]
    cells = cells_kept(sizes, wanted, structures)
    keep = keys_kept(keys.cell, keys.size, mix(seed_of(options.seed, "keys"), keys.key), cells.ravel())
    places = np.sort(np.append(left.place, draw_binary(tables, keys, keep, seeds)))
    # what was done
    opens = [first.by_group, first.by_key, open.count_templates(known), left.count_templates(known)]
    last = keys.per_cell(keep).sum(axis=2)[:, : len(known)]
    binaries = [seen * ~known.open, binary, binary, last]
    stages = (counts.before, seen, *(own + others for own, others in zip(opens, binaries, strict=True)))
    stays = [present(own, number, structures) for own, number in zip(last, query, strict=True)]
    rows = [
        Target(name, structure, there[split][structure], wanted[split][structure], stays[split][structure])
        for split, name in enumerate(SPLITS)
        for structure in options.shares
    ]
    shares = top_answers(first.before, count_answers(left, known), options, known)
    return places, BalanceReport(options, table(stages, known), rows, shares)


def write(folder: Path, places: Places, test: NDArray[np.bool_], report: BalanceReport) -> None:
    video, number = (places >> np.uint64(32)).astype(np.uint32), places.astype(np.uint32)
    with new_folder(folder) as work:
        for split, name in enumerate(SPLITS):
            own = test[video] == bool(split)
            selected = BALANCED.frame({"video": video[own], "number": number[own]})
            selected.write_parquet(work / f"{name}.parquet", compression="zstd", compression_level=1)
        record = {name: value for name, value in asdict(report).items() if name != "without" or value}
        (work / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(record)))


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
    return Told([*first, *report_lines(run, report)], report, remarks=[why])


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
