"""The tables of AGQA, over its question records and one model's answers: accuracy = right / asked, in many groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from questree.metrics.answered import Missing
from questree.metrics.catalogue import METRICS, REST, Groups, Metric, cells, counted
from questree.metrics.cells import OVERALL, Cell, Floats, Ints, Tallies, share
from questree.metrics.scores import Resampling, Score, Scored, bounds, interval, number, resampled_sums
from questree.tables.scored import ASKED, QuestionRecords

RIGHT, BINARY = pl.col("correct"), pl.col("binary")
LISTED = {  # rows in the order of Table 2
    "reasoning": (
        *("obj-rel", "rel-act", "obj-act", "superlative", "sequencing", "exists", "duration-comparison"),
        "activity-recognition",
    ),
    "semantic": ("object", "relation", "action"),
    "structural": ("query", "compare", "choose", "logic", "verify"),
}
NOVEL = {"Sequencing": "nc_seq", "Superlative": "nc_sup", "Duration": "nc_dur", "Obj-rel": "nc_objrel"}
REFERENCES = {"Object": "i_obj", "Relationship": "i_rel", "Action": "i_act", "Temporal": "i_temp"}


def by_kind(name: str, formula: str, count: pl.Expr, called: str, **how: Any) -> Iterator[Metric]:
    """All, B and O of Tables 3-9."""
    for kind, own in (("", count), (", binary", pl.when(BINARY).then(count)), (", open", pl.when(~BINARY).then(count))):
        yield Metric(name, formula, own, called=called + kind, **how)


def category_metrics(asked: pl.DataFrame) -> Iterator[Metric]:
    """Accuracy per reasoning, semantic and structural category, overall, for novel compositions and for more steps.

    AGQA, section 4 and supplement 6.1: Tables 2 and 9 (categories), 3, 4, 6 (novel compositions), 8 (more steps). A
    question counts in every reasoning category it has; categories of the data's own come after the paper's.
    """
    for name, listed in LISTED.items():
        column = asked[name].explode() if name == "reasoning" else asked[name]
        own = sorted({*column.drop_nulls()} - {*listed, ""})
        yield from by_kind("accuracy", "right / asked", RIGHT, name, by=name, listed=(*listed, *own))
    novel = {**NOVEL, OVERALL: "novel_comp"}
    for name, flags in (("novel composition", novel), ("more steps", {OVERALL: "more_steps"})):
        yield from by_kind("accuracy", "right / asked", RIGHT, name, flags=flags, overall=False)


def other_metrics(asked: pl.DataFrame) -> Iterator[Metric]:
    """Recall = accuracy on questions with an indirect reference; precision = the same if the direct one was right.

    AGQA, section 3.4 and Tables 5 and 7. A question whose direct equivalent is not in the file, or was not answered
    right, counts for recall only. Overall is any kind of reference. And the accuracy of Figure 5, by steps.
    """
    precise = pl.when("direct_right").then(RIGHT)
    for name, formula, count in (
        ("precision", "right / asked, where the direct question was right", precise),
        ("recall", "right / asked", RIGHT),
    ):
        flags = {**REFERENCES, OVERALL: "indirect"}
        yield from by_kind(name, formula, count, "indirect reference", flags=flags, overall=False)
    steps = tuple(map(str, asked["steps"].unique().sort()))
    yield Metric("accuracy", "right / asked", RIGHT, by="steps", listed=steps)


def agqa_metrics(asked: pl.DataFrame) -> list[Metric]:
    """All that are counted of AGQA's questions; their tables list what these questions have."""
    return [*category_metrics(asked), *other_metrics(asked), *METRICS.values()]


def score_agqa(asked: QuestionRecords, predictions: pl.DataFrame, missing: Missing = "error") -> Scored:
    """Every AGQA score of one model."""
    tallies = agqa_tallies(asked, predictions, missing)
    return Scored(tallies, agqa_cells(tallies))


def agqa_tallies(
    asked: QuestionRecords,
    predictions: pl.DataFrame,
    missing: Missing = "error",
    known: dict[str, Groups] | None = None,
) -> Tallies:
    """What every AGQA score of one model is computed from; a question and its direct twin are about one video. `known`:
    groups of these questions that are kept from model to model."""
    table = asked.table.with_columns(scope=asked.video)
    table = table.join(predictions.select("id", "prediction"), on="id", how="left", maintain_order="left")
    table = table.drop_nulls("prediction") if missing == "skip" else table
    table = table.with_columns(
        correct=(pl.col("prediction") == pl.col("answer")).fill_null(False),
        indirect=pl.any_horizontal(*REFERENCES.values()),
    )
    right = table.select(direct="id", direct_right="correct")
    table = table.join(right, on="direct", how="left", maintain_order="left")
    own = None if missing == "skip" else known  # some questions are gone
    return counted(table, len(asked.videos), agqa_metrics(asked.table), own)


def agqa_cells(tallies: Tallies) -> list[Cell]:
    """Every AGQA score over the columns that were counted."""
    return cells(tallies.columns, agqa_metrics(ASKED.empty()))


MODEL = "Most-Likely"


@dataclass(frozen=True)
class AnswerCounts:
    """How often every answer is the true one, in every row of AGQA's tables."""

    rows: list[tuple[str, str]]  # label of a table, group
    answers: list[str]
    times: Ints  # [row, answer]
    open: Ints  # [row] questions that are not binary

    @classmethod
    def of(cls, asked: pl.DataFrame) -> "AnswerCounts":
        table = asked.with_columns(correct=pl.lit(True))
        answers = asked["answer"].unique(maintain_order=True)
        number = asked["answer"].replace_strict(answers, np.arange(len(answers)), return_dtype=pl.Int64).to_numpy()
        binary, rows, times, not_binary = asked["binary"].to_numpy(), list[tuple[str, str]](), [], []
        for metric in category_metrics(asked):
            counted, groups = ~np.isnan(metric.parts(table)[0]), metric.groups(table)
            masks = {name: groups.inside(at) for at, name in enumerate(groups.names)}
            for group, inside in (masks | ({OVERALL: counted} if metric.overall else {})).items():
                here = inside & counted
                rows.append((metric.label, group))
                times.append(np.bincount(number[here], minlength=len(answers)))
                not_binary.append(int((~binary[here]).sum()))
        return cls(rows, answers.to_list(), np.array(times, np.int64), np.array(not_binary, np.int64))

    @classmethod
    def together(cls, parts: Sequence["AnswerCounts"]) -> "AnswerCounts":
        """Of parts of a corpus, in whatever order; the rows of tables in theirs."""
        answers = list(dict.fromkeys(answer for part in parts for answer in part.answers))
        groups = dict[str, set[str]]()
        for label, group in (row for part in parts for row in part.rows):
            groups.setdefault(label, set()).add(group)
        rows = [
            (metric.label, group)
            for metric in category_metrics(ASKED.empty())
            for group in [*metric.ordered(groups[metric.label] - {OVERALL}), *([OVERALL] if metric.overall else [])]
        ]
        at, number = ({name: place for place, name in enumerate(own)} for own in (rows, answers))
        times, not_binary = np.zeros((len(rows), len(answers)), np.int64), np.zeros(len(rows), np.int64)
        for part in parts:
            own = np.array([at[row] for row in part.rows], np.int64)
            times[own[:, None], np.array([number[answer] for answer in part.answers], np.int64)] += part.times
            not_binary[own] += part.open
        return cls(rows, answers, times, not_binary)


def most_likely(asked: AnswerCounts) -> list[Score]:
    """Most-Likely: the share of questions that have the most common answer; 50 % where every question is binary.

    AGQA, section 4 "Models" and supplement 6.1: a binary question offers two answers, after balancing equally common; a
    category with open questions has one most common answer over all its questions.

    Rows like those of a model, for every table, row and kind of question; needs no predictions.
    """
    rows = []
    for (label, group), times, not_binary in zip(asked.rows, asked.times, asked.open.tolist(), strict=True):
        n = int(times.sum())
        value = 0.5 if not not_binary else int(times.max()) / n
        rows.append(Score("accuracy", label, group, value if n else None, n, None, None, MODEL))
    return rows


BAND = 0.8
FLAT = 1e-12  # a spread below this is rounding


def line(x: Floats, passed: Floats, total: Floats) -> tuple[Floats, Floats, Floats]:
    """[...] slope, intercept, R^2 of the fit over the last axis; points without questions have no weight."""
    y = np.divide(passed, total, out=np.zeros(total.shape), where=total > 0)
    whole = total.sum(axis=-1)
    mean_x, mean_y = (share((total * v).sum(axis=-1), whole) for v in (x, y))
    dx, dy = x - mean_x[..., None], y - mean_y[..., None]
    slope = share((total * dx * dy).sum(axis=-1), (total * dx * dx).sum(axis=-1), FLAT)
    intercept = mean_y - slope * mean_x
    rest = dy - slope[..., None] * dx
    unexplained, spread = ((total * v * v).sum(axis=-1) for v in (rest, dy))
    return slope, intercept, 1 - share(unexplained, spread, FLAT)


def fit_rows(tallies: Tallies, model: str, resampling: Resampling | None) -> list[Score]:
    """Accuracy against steps: weighted least squares over (steps, accuracy) with weight n; R^2; an 80 % band.

    AGQA, Figure 5. R^2 = 1 - sum w (y - fit)^2 / sum w (y - mean)^2. The band holds 80 % of the lines fitted to
    resamples of videos. Fewer than two different numbers of steps have no line, and equal accuracies no R^2.

    slope, intercept, R^2 with 95 % intervals, and the line at every number of steps with its 80 % band.
    """
    steps = [column[:2] == ("accuracy", "steps") and column[2] != REST for column in tallies.columns]
    there = np.flatnonzero(np.array(steps) & tallies.total.any(axis=0)).tolist()
    at = np.array(sorted(there, key=lambda each: int(str(tallies.columns[each][2]))), np.int64)  # parts may lack some
    points = [str(tallies.columns[each][2]) for each in at.tolist()]
    if not points:
        return []
    x = np.array([float(point) for point in points])  # [point]
    passed, total = (sums[at] for sums in tallies.summed())
    known, sizes = values(x, passed, total), [total.sum()] * 3 + total.tolist()
    low = high = np.full(len(known), np.nan)
    if resampling is not None and len(tallies.total) > 1:
        draws = np.concatenate([values(x, p[:, at], t[:, at]) for p, t in resampled_sums(tallies, resampling)])
        whole, band = interval(known, draws), interval(known, draws, BAND)
        low, high = (np.append(one[:3], other[3:]) for one, other in zip(whole, band, strict=True))
    names = [(name, OVERALL) for name in ("slope", "intercept", "R^2")] + [("fit, 80 % band", each) for each in points]
    columns = zip(names, known, sizes, low, high, strict=True)
    return [
        Score(metric, "steps", group, number(value), int(n), *bounds(value, lo, hi), model)
        for (metric, group), value, n, lo, hi in columns
    ]


def values(x: Floats, passed: Floats, total: Floats) -> Floats:
    """[..., slope intercept R^2 fit at every point]"""
    slope, intercept, r2 = line(x, passed, total)
    fitted = intercept[..., None] + slope[..., None] * x
    return np.concatenate([np.stack([slope, intercept, r2], axis=-1), fitted], axis=-1)
