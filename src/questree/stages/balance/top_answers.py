"""Balancing's condition: the most frequent answers hold few of the questions; where they hold more, why."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from questree.columns.joins import Ints
from questree.stages.balance.levelling import SPLITS, BalanceOptions, Smoothing, even, even_level
from questree.stages.balance.opened import AnswerCounts
from questree.stages.template_columns import TemplateColumns

ALL = "all"


@dataclass(frozen=True)
class TopAnswers:
    """Share of the questions whose answer is one of the most frequent ones, of a template or of all."""

    split: str
    template: str
    answers: int  # there are after balancing
    top: int  # so many of them are the most frequent ones
    before: float
    after: float | None  # None: no question is left
    reason: str = ""  # why it is more than it should be

    def row(self) -> dict[str, Any]:
        """For a person."""
        shares = {name: "" if share is None else f"{100 * share:.1f} %" for name, share in self.shares.items()}
        counts = {"template": self.template, "answers": self.answers, "top": self.top}
        return counts | shares | {"why more": self.reason}

    @property
    def shares(self) -> dict[str, float | None]:
        return {"before": self.before, "after": self.after}


def top_answers(
    before: AnswerCounts, after: AnswerCounts, options: BalanceOptions, known: TemplateColumns
) -> list[TopAnswers]:
    """Of each template, then of each split."""
    rows = []
    for by, counts in before.templates.items():
        split, template = divmod(by, len(known))
        rows.append(_row(SPLITS[split], known.templates[template].name, counts, after.templates.get(by), options))
    for split, counts in before.splits.items():
        rows.append(_row(SPLITS[split], ALL, counts, after.splits.get(split), options))
    return rows


def _row(split: str, template: str, before: Ints, after: Ints | None, options: BalanceOptions) -> TopAnswers:
    how = options.smoothing
    if after is None:
        return TopAnswers(split, template, 0, 0, _share(before, how), None)
    reason = "" if even(np.sort(after)[::-1], how) else _reason(template, int(before.sum()), after, options)
    return TopAnswers(split, template, len(after), how.top(len(after)), _share(before, how), _share(after, how), reason)


def _share(counts: Ints, how: Smoothing) -> float:
    ordered = np.sort(counts)[::-1]
    return float(ordered[: how.top(len(counts))].sum() / counts.sum())


def _reason(template: str, before: int, after: Ints, options: BalanceOptions) -> str:
    how, levelled = options.smoothing, np.minimum(after, even_level(after, options.smoothing))
    if template == ALL:
        return "templates are balanced one by one: a question says which kind of answer it wants"
    if len(after) == 1:
        return "there is only one answer"
    if levelled.sum() == after.sum():
        share = f"{100 * _share(after, how):.0f} %"
        return f"{how.top(len(after))} of {len(after)} answers are {share} of them, however even"
    if options.as_released:
        return "smoothing stops before, as in AGQA's release"
    return f"{levelled.sum():,} of {before:,} questions would stay, less than --least {how.least:g}"


def share_tables(rows: list[TopAnswers], options: BalanceOptions) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    how = options.smoothing
    title = f"questions with the top {100 * how.top_answers:g} % of answers, at most {100 * how.top_questions:g} %"
    for split in SPLITS:
        yield f"{split}: {title}", [row.row() for row in rows if row.split == split]
