"""The tables of AGQA, over its question records and one model's answers: accuracy = right / asked, in many groups."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.metrics.answered import Missing
from questree.metrics.catalogue import with_metrics
from questree.metrics.cells import OVERALL, Bools, Cell, Floats, Tallies, joined, share, tally
from questree.metrics.scores import Resampling, Score, Scored, bounds, interval, number, resampled_sums
from questree.tables.scored import QuestionRecords

KINDS = ("binary", "open", "all")  # B, O, All of Tables 3-9


@dataclass(frozen=True)
class Answers:
    asked: QuestionRecords
    correct: Bools  # [question]
    counted: Bools  # [question] has a prediction, or its absence counts as wrong

    def of_kind(self, kind: str) -> Bools:
        binary = self.asked.table["binary"].to_numpy()
        return {"binary": binary, "open": ~binary, "all": np.ones(len(binary), bool)}[kind]


def answers(asked: QuestionRecords, predictions: pl.DataFrame, skip_missing: bool) -> Answers:
    said = asked.table.select("id", "answer").join(predictions, on="id", how="left", maintain_order="left")
    right = (said["prediction"] == said["answer"]).fill_null(False).to_numpy()
    there = said["prediction"].is_not_null().to_numpy()
    return Answers(asked, np.asarray(right), np.asarray(there) if skip_missing else np.ones(len(said), bool))


def count(model: Answers, what: str, groups: Mapping[str, Bools]) -> Tallies:
    """Columns (what, group, binary or open), a question counting in every group it is in."""
    parts = []
    for name, inside in groups.items():
        rows = inside & model.counted
        column = (~model.of_kind("binary")[rows]).astype(np.int64)
        names = [(what, name, kind) for kind in KINDS[:2]]
        parts.append(tally(model.asked.video[rows], column, model.correct[rows], len(model.asked.videos), names))
    return joined(parts)


def cells(tallies: Tallies, what: str, metric: str, by: str, groups: list[str]) -> list[Cell]:
    """By `by` over all questions, by `by, binary` and by `by, open`; a group nobody asked about is N/A."""
    at = [(number, column) for number, column in enumerate(tallies.columns) if column[0] == what]
    found = []
    for kind in ("all", "binary", "open"):
        for group in groups:
            part = tuple(n for n, column in at if column[1] == group and kind in (column[2], "all"))
            found.append(Cell(metric, by if kind == "all" else f"{by}, {kind}", group, (part,)))
    return found


REASONING = (  # rows in the order of Table 2
    "obj-rel",
    "rel-act",
    "obj-act",
    "superlative",
    "sequencing",
    "exists",
    "duration-comparison",
    "activity-recognition",
)
SEMANTIC = ("object", "relation", "action")
STRUCTURAL = ("query", "compare", "choose", "logic", "verify")
NOVEL = {"Sequencing": "nc_seq", "Superlative": "nc_sup", "Duration": "nc_dur", "Obj-rel": "nc_objrel"}


def groups(asked: QuestionRecords) -> dict[str, dict[str, Bools]]:
    """Accuracy per reasoning, semantic and structural category, overall, for novel compositions and for more steps.

    AGQA, section 4 and supplement 6.1: Tables 2 and 9 (categories), 3, 4, 6 (novel compositions), 8 (more steps). A
    question counts in every reasoning category it has.

    Table -> row -> [question] whether it belongs there; categories of the data's own come after the paper's.
    """
    table = asked.table
    every = np.ones(len(table), bool)
    named = {
        name: {**{group: _is(table, name, group) for group in _rows(table, name, listed)}, OVERALL: every}
        for name, listed in (("reasoning", REASONING), ("semantic", SEMANTIC), ("structural", STRUCTURAL))
    }
    flag = {name: table[name].to_numpy() for name in (*NOVEL.values(), "novel_comp", "more_steps")}
    novel = {row: flag[name] for row, name in NOVEL.items()} | {OVERALL: flag["novel_comp"]}
    return named | {"novel composition": novel, "more steps": {OVERALL: flag["more_steps"]}}


def _rows(table: pl.DataFrame, name: str, listed: tuple[str, ...]) -> list[str]:
    values = table[name].explode() if table.schema[name] == pl.List(pl.String) else table[name]
    own = sorted(set(values.drop_nulls().to_list()) - {*listed, ""})
    return [*listed, *own]


def _is(table: pl.DataFrame, name: str, group: str) -> Bools:
    column = pl.col(name)
    inside = column.list.contains(group) if table.schema[name] == pl.List(pl.String) else column == group
    return np.asarray(table.select(inside).to_series().fill_null(False).to_numpy(), bool)


REFERENCES = {"Object": "i_obj", "Relationship": "i_rel", "Action": "i_act", "Temporal": "i_temp"}


def references(model: Answers) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """Recall = accuracy on questions with an indirect reference; precision = the same if the direct one was right.

    AGQA, section 3.4 and Tables 5 and 7. A question whose direct equivalent is not in the file, or was not answered
    right, counts for recall only.

    Row -> [question] for recall; row -> [question] for precision; Overall is any kind of reference.
    """
    table = model.asked.table
    recall = {row: np.asarray(table[flag].to_numpy()) for row, flag in REFERENCES.items()}
    recall["Overall"] = np.logical_or.reduce(list(recall.values()))
    known = pl.DataFrame({"direct": table["id"], "right": model.correct & model.counted})
    right = table.select("direct").join(known, on="direct", how="left", maintain_order="left")["right"]
    direct = np.asarray(right.fill_null(False).to_numpy(), bool)
    return recall, {row: inside & direct for row, inside in recall.items()}


MODEL = "Most-Likely"


def most_likely(model: Answers, tables: dict[str, dict[str, Bools]]) -> list[Score]:
    """Most-Likely: the share of questions that have the most common answer; 50 % where every question is binary.

    AGQA, section 4 "Models" and supplement 6.1: a binary question offers two answers, after balancing equally common; a
    category with open questions has one most common answer over all its questions.

    Rows like those of a model, for every table, row and kind of question; needs no predictions.
    """
    rows = []
    for by, groups in tables.items():
        for kind in ("all", *KINDS[:2]):
            for group, inside in groups.items():
                here = inside & model.of_kind(kind)
                name = by if kind == "all" else f"{by}, {kind}"
                rows.append(Score("accuracy", name, group, _share(model, here), int(here.sum()), None, None, MODEL))
    return rows


def _share(model: Answers, here: Bools) -> float | None:
    if not here.any():
        return None
    table = model.asked.table
    if np.asarray(table["binary"].to_numpy())[here].all():
        return 0.5
    answers = table["answer"].filter(pl.Series(here))
    return int(answers.value_counts()["count"].max()) / len(answers)  # type: ignore[arg-type]


BAND = 0.8
FLAT = 1e-12  # a spread below this is rounding


def step_groups(model: Answers) -> dict[str, Bools]:
    """Number of steps -> [question]."""
    steps = model.asked.table["steps"].to_numpy()
    return {str(n): steps == n for n in np.unique(steps).tolist()}


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


def fit_rows(tallies: Tallies, name: str, resampling: Resampling | None) -> list[Score]:
    """Accuracy against steps: weighted least squares over (steps, accuracy) with weight n; R^2; an 80 % band.

    AGQA, Figure 5. R^2 = 1 - sum w (y - fit)^2 / sum w (y - mean)^2. The band holds 80 % of the lines fitted to
    resamples of videos. Fewer than two different numbers of steps have no line, and equal accuracies no R^2.

    slope, intercept, R^2 with 95 % intervals, and the line at every number of steps with its 80 % band.
    """
    steps = [str(column[1]) for column in tallies.columns if column[0] == "steps"]
    points = list(dict.fromkeys(steps))
    if not points:
        return []
    pool = np.array([[column[:2] == ("steps", point) for point in points] for column in tallies.columns], float)
    x = np.array([float(point) for point in points])  # [point]
    passed, total = (sums @ pool for sums in tallies.summed())
    known = values(x, passed, total)
    low = high = band_low = band_high = np.full(len(known), np.nan)
    if resampling is not None and len(tallies.total) > 1:
        draws = np.concatenate([values(x, p @ pool, t @ pool) for p, t in resampled_sums(tallies, resampling)])
        (low, high), (band_low, band_high) = interval(draws), interval(draws, BAND)
    names = [("slope", low, high), ("intercept", low, high), ("R^2", low, high)]
    rows = [
        Score(metric, "steps", "Overall", number(known[at]), int(total.sum()), *bounds(known[at], lo[at], hi[at]), name)
        for at, (metric, lo, hi) in enumerate(names)
    ]
    for at, point in enumerate(points, len(names)):
        room = bounds(known[at], band_low[at], band_high[at])
        rows.append(
            Score("fit, 80 % band", "steps", point, number(known[at]), int(total[at - len(names)]), *room, name)
        )
    return rows


def values(x: NDArray[np.float64], passed: Floats, total: Floats) -> Floats:
    """[..., slope intercept R^2 fit at every point]"""
    slope, intercept, r2 = line(x, passed, total)
    fitted = intercept[..., None] + slope[..., None] * x
    return np.concatenate([np.stack([slope, intercept, r2], axis=-1), fitted], axis=-1)


def score_agqa(asked: QuestionRecords, predictions: pl.DataFrame, missing: Missing = "error") -> Scored:
    model = answers(asked, predictions.select("id", "prediction"), missing == "skip")
    tables = groups(asked)
    recall, precision = references(model)
    steps = step_groups(model)
    parts = [count(model, name, rows) for name, rows in tables.items()]
    parts += [count(model, "recall", recall), count(model, "precision", precision), count(model, "steps", steps)]
    tallies = joined(parts)
    found: list[Cell] = []
    for name, rows in tables.items():
        found += cells(tallies, name, "accuracy", name, list(rows))
    for name in ("precision", "recall"):
        found += cells(tallies, name, name, "indirect reference", list(recall))
    found += [cell for cell in cells(tallies, "steps", "accuracy", "steps", list(steps)) if cell.by == "steps"]
    every = tuple(at for at, column in enumerate(tallies.columns) if column[0] == "steps")
    found.append(Cell("accuracy", "steps", "Overall", (every,)))
    return with_metrics(Scored(tallies, found), lambda: _questions(model, predictions))


def _questions(model: Answers, predictions: pl.DataFrame) -> pl.DataFrame:
    """What metrics of plugins count: a row per question that counts, with all its columns."""
    said = model.asked.table.join(predictions.select("id", "prediction"), on="id", how="left", maintain_order="left")
    return said.with_columns(scope=model.asked.video, correct=model.correct).filter(model.counted)


def baseline(asked: QuestionRecords) -> Answers:
    """What the Most-Likely baseline is counted on: the questions alone."""
    return answers(asked, pl.DataFrame(schema={"id": pl.String, "prediction": pl.String}), False)
