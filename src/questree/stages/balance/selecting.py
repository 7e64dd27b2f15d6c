"""The selection of a run, round by round over all shards or buckets; what is decided here is decided from counts."""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.stages.balance.binary import CELLS, MOST_TEMPLATES, Places
from questree.stages.balance.buckets import (
    OPEN_COLUMNS,
    Balancing,
    CountedBucket,
    choose_bucket,
    count_bucket,
    deal_shard,
    look_at_answers,
    look_at_keys,
    smooth_open,
)
from questree.stages.balance.levelling import QUERY, SPLITS, answers_kept, lowered, shrunk
from questree.stages.balance.opened import AnswerCounts, AnswerCuts, quotas
from questree.stages.balance.structure import Target, cells_kept, key_cuts, present, targets, water
from questree.stages.balance.thresholds import of_rank
from questree.stages.balance.told import BalanceReport, table
from questree.stages.balance.top_answers import top_answers
from questree.workers import over

Result = TypeVar("Result")


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
    """The selected questions in order."""
    rounds, options, known = Rounds(task, pool), task.options, task.corpus.known
    pieces = [piece for dealt in rounds.shards(deal_shard, "reading questions", without) for piece in dealt]
    names = tuple(piece.name for piece in pieces)
    rounds = replace(rounds, task=replace(task, dealt=names, left=names))
    before = np.sum([piece.before for piece in pieces], axis=0)
    seen = before - np.sum([piece.alone for piece in pieces], axis=0)
    asked = AnswerCounts.added([piece.open for piece in pieces])
    rounds, passes = smooth(rounds, asked)
    buckets = rounds.buckets(count_bucket, "content keys", max((own.width for own in pieces), default=2))
    first, structures = sizes(buckets), known.structure
    groups, own_keys, open = (by_template(passes[at], len(known)) for at in (0, 1, -1))
    there = [present(split, first, int(own.sum()), structures) for split, own in enumerate(open)]
    wanted = [targets(own, options) for own in there]
    if any(most[QUERY] < own[QUERY] for most, own in zip(wanted, there, strict=True)):
        rounds, passes = evened(rounds, asked, query_cuts(rounds, passes[-1], wanted), passes)
        query = by_template(passes[-1], len(known)).sum(axis=1)
        wanted = [targets(own | {QUERY: int(number)}, options) for own, number in zip(there, query, strict=True)]
    left = by_template(passes[-1], len(known))
    last = choose(rounds, buckets, cells_kept(first, wanted, structures))
    binary, per_key = seen * ~known.open, per_template(first, len(known))
    stages = before, seen, groups + binary, own_keys + per_key, open + per_key, left + per_template(last, len(known))
    kept = [present(split, last, int(own.sum()), structures) for split, own in enumerate(left)]
    rows = [
        Target(name, structure, there[split][structure], wanted[split][structure], kept[split][structure])
        for split, name in enumerate(SPLITS)
        for structure in options.shares
    ]
    report = BalanceReport(options, table(stages, known), rows, top_answers(asked, passes[-1], options, known))
    chosen = [rounds.task.take("open", at, rounds.task.left, OPEN_COLUMNS)[0].copy() for at in task.buckets]
    chosen += [task.take("chosen", at, ["binary"], 1)[0] for at in task.buckets]
    return np.sort(np.concatenate(chosen)), report


def smooth(rounds: Rounds, asked: AnswerCounts) -> tuple[Rounds, list[AnswerCounts]]:
    """The first round of open questions: answers of groups of templates, then of content keys; then, as long as the top
    answers of a template dominate, of templates and of content keys again.

    Returns how many questions are left after the groups, the keys and every pass.
    """
    known, how = rounds.task.corpus.known, rounds.task.options.smoothing
    group = np.add.outer(np.arange(len(SPLITS)) * len(known.groups), known.group).ravel()
    cuts = cuts_of(rounds, "group", asked.regrouped(group), lambda _, counts: answers_kept(counts, how))
    return evened(rounds, asked, cuts, [])


def evened(
    rounds: Rounds, asked: AnswerCounts, cuts: AnswerCuts, passes: list[AnswerCounts]
) -> tuple[Rounds, list[AnswerCounts]]:
    """Make these cuts, smooth content keys, and go on until no template's top answers dominate."""
    how, released = rounds.task.options.smoothing, rounds.task.options.as_released
    before, begun = {by: int(counts.sum()) for by, counts in asked.answers().items()}, len(passes)
    while len(passes) == begun or not cuts.whole.all():
        name = f"left {len(passes)}"
        parts = rounds.buckets(smooth_open, "answers", cuts, name)
        passes = [*passes, *[AnswerCounts.added(each) for each in zip(*parts, strict=True)][1 if passes else 0 :]]
        rounds = replace(rounds, task=replace(rounds.task, left=(name,)))
        if released:
            break
        cuts = cuts_of(rounds, "template", passes[-1], lambda by, counts: lowered(counts, before[by], how))
    return rounds, passes


def query_cuts(rounds: Rounds, left: AnswerCounts, wanted: list[dict[str, int]]) -> AnswerCuts:
    """Open questions cut to the target of their structure: the largest templates first, of each all answers alike."""
    totals = by_template(left, len(rounds.task.corpus.known))
    most = np.concatenate([water(own, plan[QUERY]) for own, plan in zip(totals, wanted, strict=True)])
    return cuts_of(rounds, "template", left, lambda by, counts: shrunk(counts, int(most[by])))


def cuts_of(rounds: Rounds, by: str, counted: AnswerCounts, level: Callable[[int, Ints], Ints]) -> AnswerCuts:
    """level: of a value of the column how many questions of each answer stay."""
    quota = quotas(counted, level)
    whole = quota == counted.number
    look = partial(rounds.buckets, look_at_answers, "answers", by, counted.runs)
    return AnswerCuts(by, counted.runs, whole, of_rank(np.where(whole, -1, quota), counted.number, look))


def by_template(counted: AnswerCounts, templates: int) -> Ints:
    """[split, template]"""
    own = np.bincount(counted.by, counted.number, len(SPLITS) * templates).astype(np.int64)
    return own.reshape(len(SPLITS), -1)


def sizes(buckets: list[CountedBucket]) -> Ints:
    """[cell] binary questions after the first round."""
    own = [np.bincount(bucket.cell, bucket.size * bucket.number, CELLS) for bucket in buckets]
    return np.asarray(np.sum(own, axis=0), np.int64)


def choose(rounds: Rounds, buckets: list[CountedBucket], cells: Ints) -> Ints:
    """Let buckets write the binary questions that stay; cells: [cell] how many may, returned: how many do."""
    cell, size, number = (np.concatenate([bucket[at] for bucket in buckets]) for at in range(3))
    cuts = key_cuts(cell, size, number, cells)
    above = np.append(cuts.above, cuts.above)
    at = of_rank(cuts.ranks, above, partial(rounds.buckets, look_at_keys, "visiting keys", cuts))
    return np.asarray(np.sum(rounds.buckets(choose_bucket, "selecting", cuts, at), axis=0))


def per_template(cells: Ints, templates: int) -> Ints:
    """[split, template] out of [cell]."""
    return np.asarray(cells.reshape(len(SPLITS), MOST_TEMPLATES, -1).sum(axis=2)[:, :templates])
