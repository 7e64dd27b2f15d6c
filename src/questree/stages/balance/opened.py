"""Open questions: answers are smoothed per group of templates, then per content key inside the group."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.hashing import Words, mix
from questree.columns.joins import Ints
from questree.program import ACTION
from questree.stages.balance.levelling import remaining
from questree.stages.balance.options import Smoothing
from questree.stages.balance.packing import OPEN
from questree.stages.balance.smoothing import answers_kept

EFFECTS = 4
GROUPS = sorted({template.group for template in TEMPLATES})
GROUP = np.array([GROUPS.index(template.group) for template in TEMPLATES])
# templates of one group and one way to spell the key share their keys
FAMILIES = [(template.group, template.local) for template in TEMPLATES]
FAMILY = np.array([FAMILIES.index(family) for family in FAMILIES])
WITH_RELATION = np.array(["{relation}" in template.local for template in TEMPLATES])
WITH_TIME = np.array(["{time}" in template.local for template in TEMPLATES])
OF_ACTIONS = np.array([template.node.kind == ACTION for template in TEMPLATES])  # answers are actions, not objects


@dataclass(frozen=True)
class OpenQuestions:
    """Columns of the open questions of both splits."""

    place: Words  # video * 2^32 + number
    template: Ints
    group: Ints  # split and group of templates
    key: Ints  # split, group and raw content key
    answer: Ints
    effect: Ints
    hash: Words

    def where(self, kept: NDArray[np.bool_]) -> "OpenQuestions":
        return OpenQuestions(**{name: column[kept] for name, column in vars(self).items()})


def open_rows(questions: pl.DataFrame) -> pl.DataFrame:
    return questions.filter(pl.Series(OPEN).gather(questions["template"]))


def open_questions(rows: pl.DataFrame, test: NDArray[np.bool_], seeds: Words) -> OpenQuestions:
    """rows: of `packing.COLUMNS`; test, seeds: per video."""
    columns = {name: rows[name].to_numpy().astype(np.int64) for name in rows.columns}
    video, template = columns["video"], columns["template"]
    split = test[video].astype(np.int64)
    relation = np.where(WITH_RELATION[template], columns["relation"], 0)
    actions = np.where(WITH_TIME[template], columns["time"] >> 8, 0)  # the key does not say before or after
    return OpenQuestions(
        place=(video << 32 | columns["number"]).astype(np.uint64),
        template=template,
        group=split * len(GROUPS) + GROUP[template],
        key=((split * len(TEMPLATES) + FAMILY[template]) << 8 | relation) << 16 | actions,
        answer=columns["answer"] + 256 * OF_ACTIONS[template],
        effect=columns["effect"],
        hash=mix(seeds[video], columns["number"]),
    )


def smooth(open: OpenQuestions, how: Smoothing) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """[question] does it stay after the groups, and after the content keys of what stayed?"""
    first = stays(open.group, open, how)
    second = first.copy()
    few = open.where(first)
    second[first] = stays(few.key, few, how)
    return first, second


def stays(by: Ints, open: OpenQuestions, how: Smoothing) -> NDArray[np.bool_]:
    """Smooth the answers within each value of `by`; of an answer and effect the lowest hashes stay."""
    found = np.zeros(len(by), bool)
    if not len(by):
        return found
    packed = (by << 9 | open.answer) * EFFECTS + open.effect
    order = np.lexsort((open.hash, packed))
    runs, begin, count = np.unique(packed[order], return_index=True, return_counts=True)
    quota = quotas(runs, count, how)
    rank = np.arange(len(by)) - np.repeat(begin, count)
    found[order] = rank < np.repeat(quota, count)
    return found


def quotas(runs: Ints, count: Ints, how: Smoothing) -> Ints:
    """[run] how many of each (value, answer, effect) stay."""
    answers, of_run = np.unique(runs // EFFECTS, return_inverse=True)
    effects = np.zeros((len(answers), EFFECTS), np.int64)  # [answer, effect]
    effects[of_run, runs % EFFECTS] = count
    total = effects.sum(axis=1)
    starts = np.flatnonzero(np.diff(answers >> 9, prepend=-1))
    for a, b in zip(starts, [*starts[1:], len(answers)], strict=True):
        left = answers_kept(total[a:b], how)
        for answer in np.flatnonzero(left < total[a:b]):
            effects[a + answer] = remaining(effects[a + answer], total[a + answer] - left[answer])
    return np.asarray(effects[of_run, runs % EFFECTS])
