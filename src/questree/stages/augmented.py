"""Augmentation as a map over ranges of videos: workers read and write their own, only counts come back.

A rule that counts in all videos first divides the work in two: what comes before it is done and kept, then the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import reduce
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from questree.faults import at_least, refuse
from questree.stages.agreement import AgreementScore, Worth, agreement, judged, variants, worths
from questree.stages.augment.graphs import AugmentationRule, AugmentOptions, Counts, Graphs
from questree.stages.augment.guarantees import BrokenPromise, broken_promises, together
from questree.stages.augment.ledger import Entry, RuleCounts, entry
from questree.stages.augment.opposites import giving_way
from questree.stages.augment.rules import RULES, applied, finished
from questree.tables.facts import FRAMES, OBJECTS, FactPieces, Facts
from questree.tables.owners import part
from questree.tables.run import Run
from questree.tables.store import new_folder
from questree.vocabulary.words import Vocabulary
from questree.workers import processes, results

Result = TypeVar("Result")
VIDEOS, ROWS = 512, 1 << 18  # most videos of a shard, and rows of frames and annotations unless it is one video
SIZES = {"object annotations": "objects", "relation tracks": "tracks", "actions": "actions"}
Rules = Sequence[AugmentationRule]


@dataclass(frozen=True)
class AugmentTask:
    """The work on some videos, small enough to send anywhere that sees the run."""

    run: Path
    begin: int  # videos begin <= v < end
    end: int
    out: Path  # a folder for what becomes of them
    options: AugmentOptions
    rules: tuple[str, ...]
    ablation: bool

    @property
    def begun(self) -> Path:
        """A folder for the graphs before the rule that counts."""
        return self.out.with_name(f"{self.out.name}-begun")

    @property
    def chosen(self) -> list[AugmentationRule]:
        return [RULES[name] for name in self.rules]

    def words(self) -> Vocabulary:
        return self.options.words(Run(self.run).given_vocabulary())

    def raw(self) -> Facts:
        return Run(self.run).stored("raw").between(self.begin, self.end)

    def truth(self, ids: pl.Series) -> Facts | None:
        """Of the truth, if it is known, at least these videos."""
        run = Run(self.run)
        if not self.ablation and not run.truth.is_dir():
            return None
        stored = run.stored("truth")
        rows = np.flatnonzero(stored.videos["id"].is_in(ids.implode()).to_numpy())
        return stored.between(int(rows[0]), int(rows[-1]) + 1) if len(rows) else Facts.none()


@dataclass(frozen=True)
class Begun:
    """What was counted up to the rule that counts, and by it: with the chosen rules, and with those of each variant."""

    rules: list[RuleCounts]
    seen: list[Counts | None]


@dataclass(frozen=True)
class Cleaned:
    """What was counted about cleaned videos."""

    rules: list[RuleCounts]
    sizes: Counts  # [table, 2] rows before and after
    broken: list[BrokenPromise]
    contradictions: int
    scores: list[AgreementScore]  # before and after; none without a truth
    variants: list[AgreementScore]


@dataclass(frozen=True)
class Augmented:
    """What became of all videos."""

    videos: int
    ledger: list[Entry]
    sizes: dict[str, dict[str, int]]
    broken: list[BrokenPromise]
    contradictions: int
    scores: dict[str, list[AgreementScore]]
    worths: list[Worth]


def augmented(
    run: Run, out: Path, options: AugmentOptions, rules: Rules, ablation: bool = False, workers: int = 2
) -> Augmented:
    """Write the cleaned facts of a run to a folder."""
    refuse(at_least(1, {"workers": workers}))
    if ablation:
        run.stored("truth")  # say now that there is none
    cuts = layout(run) if all(rule.by_video for rule in rules) else [0, len(run.stored("raw").videos)]
    names = tuple(rule.name for rule in rules)
    with part(out / "parts", folder=True) as folder:
        tasks = [
            AugmentTask(run.folder, begin, end, folder / f"{at:05d}", options, names, ablation)
            for at, (begin, end) in enumerate(pairwise(cuts))
        ]
        with processes(workers, tasks=min(workers, len(tasks))) as pool:

            def each(work: Callable[..., Result], label: str, *more: object) -> list[Result]:
                futures = {f"videos {task.begin}-{task.end - 1}": pool.submit(work, task, *more) for task in tasks}
                return results(futures, label)

            begun = each(prepare, "augment, counting") if any(rule.seen for rule in rules) else []
            seen = [_total(counts) for counts in zip(*(part.seen for part in begun), strict=True)]
            parts_done = each(clean, "augment", seen)
        FactPieces([task.out for task in tasks]).save(out)
    return _augmented(run, options, rules, cuts[-1], begun, parts_done)


def layout(run: Run) -> list[int]:
    """Where shards begin, and the end: shards of about the same number of rows."""
    videos = len(run.stored("raw").videos)
    rows = np.zeros(videos, np.int64)
    for table in (FRAMES, OBJECTS):
        found = table.counted(run.raw, "video")
        rows[found["video"].to_numpy()] += found["len"].to_numpy()
    shards = max(-(-videos // VIDEOS), -(-int(rows.sum()) // ROWS), 1)
    share = np.linspace(0, 1, shards + 1)
    even = np.searchsorted(np.cumsum(rows + 1) / max((rows + 1).sum(), 1), share[1:-1])
    return [*sorted({0, *even.tolist()}), videos]


def counting(rules: Rules) -> int:
    """Where the rule is that counts in all videos first; after all others if there is none."""
    return next((at for at, rule in enumerate(rules) if rule.seen), len(rules))


def prepare(task: AugmentTask) -> Begun:
    """Do what comes before the rule that counts, keep it, and count."""
    graphs, words, rules = Graphs.of(task.raw()), task.words(), task.chosen
    done, counts = applied(graphs, words, task.options, rules[: counting(rules)])
    with new_folder(task.begun) as folder:
        for field in fields(Graphs):
            getattr(done, field.name).write_ipc(folder / f"{field.name}.arrow")
    seen = [_seen(done, words, task.options, rules[counting(rules) :])]
    for variant in variants(rules) if task.ablation else []:
        before, _ = applied(graphs, words, task.options, variant[: counting(variant)])
        seen.append(_seen(before, words, task.options, variant[counting(variant) :]))
    return Begun(counts, seen)


def _seen(graphs: Graphs, words: Vocabulary, options: AugmentOptions, rules: Rules) -> Counts | None:
    return rules[0].seen(graphs, words, options) if rules and rules[0].seen else None


def clean(task: AugmentTask, seen: Sequence[Counts | None]) -> Cleaned:
    """Write the cleaned facts of some videos, and count; `seen`: by the rule that counts, in all videos."""
    raw, words, rules = task.raw(), task.words(), task.chosen
    own, *others = seen or [None]
    begun = Graphs.of(raw)
    if seen:
        kept = (pl.scan_ipc(task.begun / f"{field.name}.arrow", glob=False).collect() for field in fields(Graphs))
        begun, rules = Graphs(*kept), rules[counting(rules) :]
    graphs, counts = applied(begun, words, task.options, rules, own)
    facts = finished(graphs)
    with new_folder(task.out) as folder:
        facts.save_piece(folder, task.begin)
    sizes = np.array([[len(getattr(side, table)) for side in (raw, facts)] for table in SIZES.values()])
    sizes[list(SIZES).index("actions"), 1] -= len(graphs.unseen)
    truth = task.truth(raw.videos["id"])
    scores = [score for side in (raw, facts) for score in agreement(side, truth, words)] if truth else []
    worth = list[AgreementScore]()
    if task.ablation and truth:
        for at, variant in enumerate(variants(task.chosen)):
            found, _ = applied(Graphs.of(raw), words, task.options, variant, others[at] if others else None)
            worth.append(judged(finished(found), truth, words))
    broken = broken_promises(facts, graphs.relations, words, task.options.as_released)
    return Cleaned(counts, sizes, broken, len(giving_way(graphs.relations, words)), scores, worth)


def _total(counts: Sequence[Counts | None]) -> Counts | None:
    return reduce(add, [each for each in counts if each is not None]) if counts[0] is not None else None


def _augmented(
    run: Run, options: AugmentOptions, rules: Rules, videos: int, begun: list[Begun], parts: list[Cleaned]
) -> Augmented:
    """All that was counted, added up."""
    words = options.words(run.given_vocabulary())
    counts = [reduce(add, own) for part in (begun, parts) for own in zip(*(each.rules for each in part), strict=True)]
    scores = [reduce(add, own) for own in zip(*(part.scores for part in parts), strict=True)]
    half = len(scores) // 2
    sizes = reduce(add, [part.sizes for part in parts])
    return Augmented(
        videos,
        [entry(*each, words) for each in zip(rules, counts, strict=True)],
        {
            name: dict(zip(("before", "after"), own.tolist(), strict=True))
            for name, own in zip(SIZES, sizes, strict=True)
        },
        together(part.broken for part in parts),
        sum(part.contradictions for part in parts),
        {"before": scores[:half], "after": scores[half:]} if scores else {},
        worths(rules, [reduce(add, own) for own in zip(*(part.variants for part in parts), strict=True)]),
    )
