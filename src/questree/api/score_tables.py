"""Scores as tables laid out as in the papers, for a person: titles with lines, and what is said beside them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from questree.benchmarks import Said
from questree.metrics.catalogue import METRICS
from questree.metrics.comparison import ModelDifference, compare, only
from questree.metrics.errors import BY as ERROR
from questree.metrics.errors import KINDS as ERRORS
from questree.metrics.scores import Resampling, Score, Scored, find
from questree.scoring.compared import LABELS
from questree.scoring.footnotes import Footnotes
from questree.scoring.grids import grid, once, percent, plain, shown

Telling = Iterator[Said]  # tables with their titles, and lines
CHANCE = 0.05  # p above which a difference may be chance
KINDS = {"B": ", binary", "O": ", open", "All": ""}
TITLES = {
    "reasoning": "By reasoning",
    "semantic": "By semantics",
    "structural": "By structure",
    "novel composition": "Novel compositions",
    "more steps": "More compositional steps",
}


def score_grid(title: str, corner: str, rows: Sequence[Score], by: str, metrics: Sequence[str]) -> Telling:
    notes = Footnotes(rows)
    yield title, grid(rows, by, metrics, corner, notes)
    yield from notes.lines()


def metric_tables(rows: list[Score]) -> Telling:
    """A table for every metric that a plugin adds."""
    for name, metric in METRICS.items():
        by = metric.label
        if any((row.metric, row.by) == (name, by) for row in rows):
            yield from score_grid(f"{name} = {metric.formula}", metric.by.capitalize(), rows, by, [name])


def policy_table(rows: list[Score], headline: list[tuple[str, str]]) -> Telling:
    """How much the way answers are read matters, where more than one way was asked for."""
    asked = {row.model: row.group for row in rows if row.metric == "unparsed"}
    if len(set(asked.values())) < 2:
        return
    table = []
    for model, policy in asked.items():
        mine = [row for row in rows if row.model == model]
        values = {metric: percent(find(mine, metric, by, "Overall").value) for metric, by in headline}
        unparsed = percent(find(mine, "unparsed", "policy", policy).value)
        table.append({"model": model, "policy": policy, **values, "unparsed": unparsed})
    yield "What the policy changes (Overall)", table


def decomp_tables(rows: list[Score], by_answer: bool = False) -> Telling:
    """Tables 3, 4, 6-9, 11, 12 of the AGQA-Decomp paper, the number of its Figure 3 and the errors of its Figure 11."""
    several = sorted({r.metric for r in rows if r.metric.startswith("RWR-")}, key=lambda name: int(name[4:]))
    main = ["accuracy", "CA", "RWR", "Delta", "IC"]
    yield from score_grid("By question type", "Question type", rows, "type", main)
    yield from score_grid("By composition", "Composition", rows, "composition", main[1:])
    yield from score_grid("RWR-n by question type", "Question type", rows, "type", several)
    yield from score_grid("RWR-n by composition", "Composition", rows, "composition", several)
    yield from score_grid("IC per rule", "Rule", rows, "rule", ["IC"])
    if by_answer:
        yield from score_grid("Accuracy per ground truth", "Type-truth", rows, "answer", ["accuracy"])
    yield from score_grid(
        "Errors in choices, both options known", "Composition", rows, ERROR, [f"{k} error" for k in ERRORS]
    )
    for row in (row for row in rows if row.by == "dag"):
        room = "" if row.low is None or row.high is None else f" [{plain(row.low)}, {plain(row.high)}]"
        yield f"{row.model}: {row.metric} {plain(row.value)}{room} over {row.n:,} DAGs"
    yield from metric_tables(rows)
    yield from policy_table(rows, [("accuracy", "type"), ("CA", "composition"), ("IC", "composition")])


def agqa_tables(rows: list[Score]) -> Telling:
    """Tables 2 and 9, 3, 4 and 6, 8, 5 and 7, and the numbers of Figure 5."""
    for by, title in TITLES.items():
        yield from kind_table(title, rows, by, ["accuracy"])
    yield from kind_table("Indirect references", rows, "indirect reference", ["precision", "recall"])
    yield from score_grid("By steps", "Steps", rows, "steps", ["accuracy", "fit, 80 % band"])
    for row in (row for row in rows if row.metric == "R^2"):
        slope = next(r for r in rows if r.metric == "slope" and r.model == row.model)
        yield f"{row.model}: accuracy changes by {plain(slope.value, 4)} per step, R^2 {plain(row.value, 4)}"
    yield from metric_tables(rows)
    yield from policy_table(rows, [("accuracy", "reasoning")])


def kind_table(title: str, rows: list[Score], by: str, metrics: list[str]) -> Telling:
    """B, O and All under every group, of several models a line each; kinds a group has none of are left out."""
    at = {(row.metric, row.by, row.group, row.model): row for row in rows}
    here = [row for row in rows if row.by == by and row.metric in metrics]
    models, notes, lines = once(row.model for row in here), Footnotes(rows), []
    for group in once(row.group for row in here):
        for kind, suffix in KINDS.items():
            found = {model: [at.get((metric, by + suffix, group, model)) for metric in metrics] for model in models}
            if kind == "All" or any(row is not None and row.n for own in found.values() for row in own):
                for model, own in found.items():
                    cells = {name: shown(row, notes) for name, row in zip(metrics, own, strict=True)}
                    n = next((row.n for row in own if row), None)
                    lines.append({"": group, " ": kind, "model": model, **cells, "n": n})
    yield title, lines
    yield from notes.lines()


def covr_tables(rows: list[Score]) -> Telling:
    """Templates down, as COVR's Table 13."""
    yield from score_grid("Accuracy by template", "Template", rows, "template", ["accuracy"])
    yield from metric_tables(rows)
    yield from policy_table(rows, [("accuracy", "template")])


def split_table(rows: list[Score], filtered: Mapping[str, int | None]) -> Telling:
    """Split, Filtered, text-only, model, score, iid-size, iid: the columns of COVR's Tables 7 and 8."""
    at = {(row.metric, row.group, row.model): row for row in rows}
    lines, notes = [], Footnotes(rows)
    for split in [*filtered, "Overall"]:
        count, cells = filtered.get(split), {"Split": split}
        cells["Filtered"] = "" if count is None else f"{count:,}"
        for label in LABELS.values():
            cells[label] = percent(at["accuracy", split, label].value)
            if label == "split model":
                cells["Gen. score"] = shown(at["generalization score", split, label], notes)
        lines.append(cells)
    yield "Generalization", lines
    yield from notes.lines()


def curve_table(rows: list[Score], models: Sequence[str]) -> Telling:
    """Splits down, numbers of examples across: COVR's Figure 13 as a table."""
    at = {(row.group, row.model): row for row in rows}
    lines, notes = [], Footnotes(rows)
    for split in once(row.group for row in rows):
        own = {model: at.get((split, model)) for model in models}
        n = next(row.n for row in own.values() if row is not None)
        lines.append({"Split": split, "n": n, **{model: shown(row, notes) for model, row in own.items()}})
    yield "Accuracy by number of examples", lines
    yield from notes.lines()


def difference_table(
    rows: Sequence[ModelDifference], shown: Sequence[ModelDifference], first: str, second: str, level: float
) -> Telling:
    """The largest differences first, those that count marked, and what all of it comes to in a sentence."""
    ordered = sorted(shown, key=lambda row: -abs(row.difference or 0))
    yield f"{second} minus {first}", [line_of_difference(row, first, second, level) for row in ordered]
    tested = [row for row in rows if row.q is not None]
    different = [row.difference or 0 for row in tested if counts(row, level)]
    up = sum(one > 0 for one in different)
    yield (
        f"{len(different)} of {len(tested)} cells differ at a false discovery rate of {level} (*): "
        f"{second} is higher in {up}, lower in {len(different) - up}."
    )
    whole = next((row for row in tested if (row.metric, row.group) == ("accuracy", "Overall")), None)
    if whole is not None and whole.difference is not None:
        room = "" if whole.low is None else f" [{percent(whole.low)}, {percent(whole.high)}]"
        said = "a difference" if counts(whole, level) else "too small a difference for this test set to tell"
        yield (
            f"Overall accuracy: {second} {percent(whole.b)}, {first} {percent(whole.a)}: "
            f"{percent(whole.difference)}{room}, q {whole.q:.4f}, {said}."
        )


def close_pairs(models: Mapping[str, Scored], name: tuple[str, str, str], resampling: Resampling | None) -> Telling:
    """Pairs of models that differ less than this test set can tell."""
    if resampling is None:
        return
    own = {model: only(scored, name) for model, scored in models.items()}
    for first, second in combinations(own, 2):
        (row,) = compare(own[first], own[second], resampling)
        if row.p is not None and row.p > CHANCE:
            said = f"{percent(row.difference)} [{percent(row.low)}, {percent(row.high)}], p {row.p:.4f}"
            yield f"{second} minus {first}: {said}; too small a difference in {row.metric} for this test set"


def counts(row: ModelDifference, level: float) -> bool:
    return row.q is not None and row.q <= level


def line_of_difference(row: ModelDifference, first: str, second: str, level: float) -> dict[str, Any]:
    written = plain if row.by == "dag" else percent  # a correlation is no share
    room = "" if row.low is None or row.high is None else f"[{written(row.low)}, {written(row.high)}]"
    return {
        "metric": row.metric,
        "by": row.by,
        "group": row.group,
        first: written(row.a),
        second: written(row.b),
        "difference": written(row.difference),
        "95 %": room,
        "p": "" if row.p is None else f"{row.p:.4f}",
        "q": "" if row.q is None else f"{row.q:.4f}" + "*" * counts(row, level),
    }
