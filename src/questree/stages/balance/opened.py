"""Open questions: answers are smoothed per group of templates, then per content key inside the group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import Hashes
from questree.columns.joins import Ints, by_value, lowest
from questree.stages.balance.levelling import SPLITS, BalanceOptions, answers_kept, lowered, remaining, shrunk
from questree.stages.balance.shard_tables import EFFECTS, Places, hash_places
from questree.stages.balance.structure import water
from questree.stages.template_columns import TemplateColumns

ANSWER_BITS = 17  # the highest says that it is an action
Level = Callable[[int, Ints], Ints]  # of a value of a column: [answer] questions -> how many stay


@dataclass(frozen=True)
class OpenQuestions:
    """Columns of the open questions of both splits."""

    place: Places
    template: Ints  # split and template
    group: Ints  # split and group of templates
    key: Ints  # split, group and raw content key
    answer: Ints
    effect: Ints
    hash: Hashes

    def where(self, stays: NDArray[np.bool_]) -> "OpenQuestions":
        return OpenQuestions(**{name: column[stays] for name, column in vars(self).items()})

    def count_templates(self, known: TemplateColumns) -> Ints:
        """[split, template]"""
        return np.bincount(self.template, minlength=len(SPLITS) * len(known)).reshape(len(SPLITS), -1)


class AnswerCounts(NamedTuple):
    """[answer] how many questions, whatever the effect."""

    templates: dict[int, Ints]  # split and template ->
    splits: dict[int, Ints]


def count_answers(open: OpenQuestions, known: TemplateColumns) -> AnswerCounts:
    counts = []
    for by in (open.template, open.template // len(known)):
        answers, count = np.unique(by << ANSWER_BITS | open.answer, return_counts=True)
        counts.append({value: count[at] for value, at in by_value(answers >> ANSWER_BITS)})
    return AnswerCounts(*counts)


def read_open(files: Sequence[str], seeds: Hashes, known: TemplateColumns) -> OpenQuestions:
    """seeds: [video]."""
    table = pl.concat([pl.read_ipc(file) for file in files])
    place, template, key, answer, effect = (
        table[name].to_numpy() for name in ("place", "template", "key", "answer", "effect")
    )
    group = template // len(known) * len(known.groups) + known.group[template % len(known)]
    return OpenQuestions(place, template, group, key, answer, effect, hash_places(place, seeds))


class SmoothedQuestions(NamedTuple):
    """The open questions after the first round, and what it did."""

    open: OpenQuestions
    before: AnswerCounts
    by_group: Ints  # [split, template] questions after smoothing groups of templates
    by_key: Ints  # ... and then content keys


def smooth(asked: OpenQuestions, known: TemplateColumns, options: BalanceOptions) -> SmoothedQuestions:
    """First round: smooth the answers of groups of templates, then of content keys, then as long as it takes."""
    before = count_answers(asked, known)
    by_group = levelled(asked, asked.group, lambda _, counts: answers_kept(counts, options.smoothing))
    by_key = smooth_keys(by_group, options)
    counts = (own.count_templates(known) for own in (by_group, by_key))
    return SmoothedQuestions(even_templates(by_key, before, options), before, *counts)


def smooth_keys(open: OpenQuestions, options: BalanceOptions) -> OpenQuestions:
    return levelled(open, open.key, lambda _, counts: answers_kept(counts, options.smoothing))


def even_templates(open: OpenQuestions, before: AnswerCounts, options: BalanceOptions) -> OpenQuestions:
    """As long as the top answers of a template dominate, lower them and smooth content keys."""
    asked = {by: int(counts.sum()) for by, counts in before.templates.items()}
    while not options.as_released:
        fewer = levelled(open, open.template, lambda by, counts: lowered(counts, asked[by], options.smoothing))
        if len(fewer.place) == len(open.place):
            break
        open = smooth_keys(fewer, options)
    return open


def cut_templates(open: OpenQuestions, known: TemplateColumns, wanted: Sequence[int]) -> OpenQuestions:
    """So many of each split: the largest templates are cut first, of each all answers alike."""
    counts = open.count_templates(known)
    most = np.concatenate([water(own, total) for own, total in zip(counts, wanted, strict=True)])
    return levelled(open, open.template, lambda by, counts: shrunk(counts, int(most[by])))


def levelled(open: OpenQuestions, by: Ints, level: Level) -> OpenQuestions:
    """Level the answers within each value of `by`; of an answer and effect the lowest hashes stay."""
    if not len(by):
        return open
    if int(by.max()) >> 63 - ANSWER_BITS - 2:  # many words
        by = np.unique(by, return_inverse=True)[1]
    packed = (by << ANSWER_BITS | open.answer) * EFFECTS + open.effect
    runs, run, count = np.unique(packed, return_inverse=True, return_counts=True)
    return open.where(lowest(run, open.hash, quotas(runs, count, level)))


def quotas(runs: Ints, count: Ints, level: Level) -> Ints:
    """[run] how many stay of each (value, answer, effect), of which there are so many."""
    answers, of_run = np.unique(runs // EFFECTS, return_inverse=True)
    effects = np.zeros((len(answers), EFFECTS), np.int64)  # [answer, effect]
    effects[of_run, runs % EFFECTS] = count
    total = effects.sum(axis=1)
    starts = np.flatnonzero(np.diff(answers >> ANSWER_BITS, prepend=-1))
    for a, b in pairwise([*starts, len(answers)]):
        left = level(int(answers[a]) >> ANSWER_BITS, total[a:b])
        for answer in np.flatnonzero(left < total[a:b]):
            effects[a + answer] = remaining(effects[a + answer], total[a + answer] - left[answer])
    return np.asarray(effects[of_run, runs % EFFECTS])
