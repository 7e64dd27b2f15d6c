"""Open questions: answers are smoothed per group of templates, then per content key inside the group."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.columns.hashing import Hashes, mix
from questree.columns.joins import Ints, by_value
from questree.stages.balance.levelling import Smoothing, answers_kept, remaining
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import time_without_kind

EFFECTS = 4
ANSWER_BITS = 17  # the highest says that it is an action


@dataclass(frozen=True)
class OpenQuestions:
    """Columns of the open questions of both splits."""

    place: Hashes  # video * 2^32 + number
    template: Ints  # split and template
    group: Ints  # split and group of templates
    key: Ints  # split, group and raw content key
    answer: Ints
    effect: Ints
    hash: Hashes

    @property
    def columns(self) -> Hashes:
        """[column, question]"""
        return np.stack([column.astype(np.uint64) for column in vars(self).values()])

    @classmethod
    def of(cls, columns: Hashes) -> "OpenQuestions":
        template, group, key, answer, effect = columns[1:-1].view(np.int64)
        return cls(columns[0], template, group, key, answer, effect, columns[-1])

    def where(self, kept: NDArray[np.bool_]) -> "OpenQuestions":
        return OpenQuestions(**{name: column[kept] for name, column in vars(self).items()})


def open_questions(rows: pl.DataFrame, test: NDArray[np.bool_], seeds: Hashes, known: TemplateColumns) -> OpenQuestions:
    """rows: of `binary.COLUMNS`; test, seeds: per video."""
    columns = {name: rows[name].to_numpy().astype(np.int64) for name in rows.columns}
    video, template = columns["video"], columns["template"]
    split = test[video].astype(np.int64)
    relation = np.where(known.with_relation[template], columns["relation"], 0)
    actions = np.where(
        known.with_time[template], time_without_kind(columns["time"]), 0
    )  # the key does not say before or after
    room = 32 if rows["relation"].dtype == pl.UInt16 else 16  # bits of the actions
    return OpenQuestions(
        place=(video << 32 | columns["number"]).astype(np.uint64),
        template=split * len(known) + template,
        group=split * len(known.groups) + known.group[template],
        key=((split * len(known) + known.family[template]) << 16 | relation) << room | actions,
        answer=columns["answer"] | known.of_actions[template] << ANSWER_BITS - 1,
        effect=columns["effect"],
        hash=mix(seeds[video], columns["number"]),
    )


def runs_of(by: Ints, open: OpenQuestions) -> Ints:
    """[question] its value of `by`, answer and effect as one number."""
    return np.asarray((by << ANSWER_BITS | open.answer) * EFFECTS + open.effect)


class AnswerCounts(NamedTuple):
    """How many questions have which answer and effect, by group or template."""

    runs: Ints  # as `runs_of` packs them, ascending
    number: Ints  # [run]

    @classmethod
    def of(cls, by: Ints, open: OpenQuestions) -> Self:
        return cls(*np.unique(runs_of(by, open), return_counts=True))

    @classmethod
    def added(cls, parts: Sequence[tuple[Ints, Ints]]) -> Self:
        runs, at = np.unique(np.concatenate([runs for runs, _ in parts]), return_inverse=True)
        number = np.bincount(at, np.concatenate([number for _, number in parts]), len(runs))
        return cls(runs, number.astype(np.int64))

    @property
    def by(self) -> Ints:
        """[run]"""
        return np.asarray(self.runs // EFFECTS >> ANSWER_BITS)

    def regrouped(self, by: Ints) -> Self:
        """by: [value of `by` here] another one."""
        inside = self.runs & (EFFECTS << ANSWER_BITS) - 1
        return self.added([(by[self.by] * (EFFECTS << ANSWER_BITS) | inside, self.number)])

    def answers(self) -> dict[int, Ints]:
        """by -> [answer] how many questions, whatever the effect."""
        answers, of_run = np.unique(self.runs // EFFECTS, return_inverse=True)
        total = np.bincount(of_run, self.number, len(answers)).astype(np.int64)
        return {int(by): total[at] for by, at in by_value(answers >> ANSWER_BITS)}


@dataclass(frozen=True)
class AnswerCuts:
    """What stays of the answers and effects of each group or template: all of a run, or its lowest hashes."""

    by: str  # column
    runs: Ints  # its value, answer and effect, ascending
    whole: NDArray[np.bool_]  # [run]
    below: Hashes  # [run] hashes lower than this stay

    def stays(self, open: OpenQuestions) -> NDArray[np.bool_]:
        run = np.searchsorted(self.runs, runs_of(getattr(open, self.by), open))
        return np.asarray(self.whole[run] | (open.hash < self.below[run]))


def stays(by: Ints, open: OpenQuestions, how: Smoothing) -> NDArray[np.bool_]:
    """Smooth the answers within each value of `by`; of an answer and effect the lowest hashes stay."""
    found = np.zeros(len(by), bool)
    if not len(by):
        return found
    if int(by.max()) >> 63 - ANSWER_BITS - 2:  # many words
        by = np.unique(by, return_inverse=True)[1]
    packed = runs_of(by, open)
    order = np.lexsort((open.hash, packed))
    runs, begin, count = np.unique(packed[order], return_index=True, return_counts=True)
    quota = quotas(AnswerCounts(runs, count), lambda _, counts: answers_kept(counts, how))
    rank = np.arange(len(by)) - np.repeat(begin, count)
    found[order] = rank < np.repeat(quota, count)
    return found


def quotas(counted: AnswerCounts, level: Callable[[int, Ints], Ints]) -> Ints:
    """[run] how many of each (value, answer, effect) stay; level: of a value how many of each answer do."""
    runs, count = counted
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
