"""Scores as tables laid out as in the papers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from questree.api.scoring import LABELS
from questree.cli.terminal import print_table, say
from questree.metrics.catalogue import METRICS
from questree.metrics.comparison import ModelDifference
from questree.metrics.errors import BY as ERROR
from questree.metrics.errors import KINDS as ERRORS
from questree.metrics.scores import Score, find

KINDS = {"B": ", binary", "O": ", open", "All": ""}
TITLES = {
    "reasoning": "By reasoning",
    "semantic": "By semantics",
    "structural": "By structure",
    "novel composition": "Novel compositions",
    "more steps": "More compositional steps",
}


def plain(value: float | None, digits: int = 3) -> str:
    """A number that is no share, such as a correlation."""
    return "N/A" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.2f}"


def shown(row: Score | None, interval: bool) -> str:
    if row is None:
        return ""
    if interval and row.low is not None and row.high is not None:
        return f"{percent(row.value)} [{percent(row.low)}, {percent(row.high)}]"
    return percent(row.value)


Name = TypeVar("Name")


def once(names: Iterable[Name]) -> list[Name]:
    return list(dict.fromkeys(names))


def print_grid(
    title: str, corner: str, rows: Iterable[Score], by: str, metrics: Sequence[str], count: bool = False
) -> None:
    """Groups down, metrics and models across, as the papers print their tables; intervals where one model has room."""
    here = [row for row in rows if row.by == by and row.metric in metrics]
    models, groups = once(row.model for row in here), once(row.group for row in here)
    at = {(row.metric, row.group, row.model): row for row in here}
    interval = len(models) == 1 and len(metrics) <= 5

    def line(group: str) -> dict[str, str]:
        cells = {corner: group}
        for metric in metrics:
            for model in models:
                row = at.get((metric, group, model))
                lacks = "N/A" if any((metric, group, other) in at for other in models) else ""
                cells[metric if len(models) == 1 else f"{metric} {model}"] = shown(row, interval) if row else lacks
                if count and row is not None:
                    cells["n" if len(models) == 1 else f"n {model}"] = "" if row.n is None else f"{row.n:,}"
        return cells

    print_table(title, [line(group) for group in groups])


def print_metrics(rows: list[Score]) -> None:
    """A table for every metric that a plugin adds."""
    for name, metric in METRICS.items():
        by = metric.label
        if any((row.metric, row.by) == (name, by) for row in rows):
            print_grid(f"{name} = {metric.formula}", metric.by.capitalize(), rows, by, [name], count=True)


def print_policies(rows: list[Score], headline: list[tuple[str, str]]) -> None:
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
    print_table("What the policy changes (Overall)", table)


def print_decomp(rows: list[Score]) -> None:
    """Tables 3, 4, 6-9, 11, 12 of the AGQA-Decomp paper, the number of its Figure 3 and the errors of its Figure 11."""
    several = sorted({r.metric for r in rows if r.metric.startswith("RWR-")}, key=lambda name: int(name[4:]))
    main = ["accuracy", "CA", "RWR", "Delta", "IC"]
    print_grid("By question type", "Question type", rows, "type", main)
    print_grid("By composition", "Composition", rows, "composition", main[1:])
    print_grid("RWR-n by question type", "Question type", rows, "type", several)
    print_grid("RWR-n by composition", "Composition", rows, "composition", several)
    print_grid("IC per rule", "Rule", rows, "rule", ["IC"], count=True)
    print_grid("Accuracy per ground truth", "Type-truth", rows, "answer", ["accuracy"], count=True)
    print_grid(
        "Errors in choices, both options known", "Composition", rows, ERROR, [f"{k} error" for k in ERRORS], True
    )
    for row in (row for row in rows if row.by == "dag"):
        room = "" if row.low is None or row.high is None else f" [{plain(row.low)}, {plain(row.high)}]"
        say(f"{row.model}: {row.metric} {plain(row.value)}{room} over {row.n:,} DAGs")
    print_metrics(rows)
    print_policies(rows, [("accuracy", "type"), ("CA", "composition"), ("IC", "composition")])


def print_agqa(rows: list[Score]) -> None:
    """Tables 2 and 9, 3, 4 and 6, 8, 5 and 7, and the numbers of Figure 5."""
    for by, title in TITLES.items():
        print_kinds(title, rows, by, ["accuracy"])
    print_kinds("Indirect references", rows, "indirect reference", ["precision", "recall"])
    print_grid("By steps", "Steps", rows, "steps", ["accuracy", "fit, 80 % band"], count=True)
    for row in (row for row in rows if row.metric == "R^2"):
        slope = next(r for r in rows if r.metric == "slope" and r.model == row.model)
        say(f"{row.model}: accuracy changes by {plain(slope.value, 4)} per step, R^2 {plain(row.value, 4)}")
    print_metrics(rows)
    print_policies(rows, [("accuracy", "reasoning")])


def print_kinds(title: str, rows: list[Score], by: str, metrics: list[str]) -> None:
    """B, O and All under every group, models across; kinds a group has none of are left out."""
    at = {(row.metric, row.by, row.group, row.model): row for row in rows}
    here = [row for row in rows if row.by == by and row.metric in metrics]
    across = [(model, metric) for model in once(row.model for row in here) for metric in metrics]
    interval = len(across) <= 2 * len(metrics)
    lines = []
    for group in once(row.group for row in here):
        for kind, suffix in KINDS.items():
            found = [at.get((metric, by + suffix, group, model)) for model, metric in across]
            if kind == "All" or any(row is not None and row.n for row in found):
                names = [model if len(metrics) == 1 else f"{metric} {model}" for model, metric in across]
                cells = {name: shown(row, interval) for name, row in zip(names, found, strict=True)}
                lines.append({"": group, " ": kind, **cells})
    print_table(title, lines)


def print_templates(rows: list[Score]) -> None:
    """Templates down, models across, as COVR's Table 13; intervals while there is room."""
    at = {(row.group, row.model): row for row in rows if (row.metric, row.by) == ("accuracy", "template")}
    models = once(row.model for row in rows)
    lines = [
        {"Template": group, "n": at[group, models[0]].n}
        | {model: shown(at[group, model], len(models) < 5) for model in models}
        for group in once(group for group, _ in at)
    ]
    print_table("Accuracy by template", lines)


def print_splits(rows: list[Score], filtered: Mapping[str, int | None]) -> None:
    """Split, Filtered, text-only, model, score, iid-size, iid: the columns of COVR's Tables 7 and 8."""
    at = {(row.metric, row.group, row.model): row for row in rows}
    lines = []
    for split in [*filtered, "Overall"]:
        count, cells = filtered.get(split), {"Split": split}
        cells["Filtered"] = "" if count is None else f"{count:,}"
        for label in LABELS.values():
            cells[label] = shown(at["accuracy", split, label], False)
            if label == "split model":
                cells["Gen. score"] = shown(at["generalization score", split, label], True)
        lines.append(cells)
    print_table("Generalization", lines)


def print_curve(rows: list[Score], models: Sequence[str]) -> None:
    """Splits down, numbers of examples across: COVR's Figure 13 as a table."""
    at = {(row.group, row.model): row for row in rows}
    lines = []
    for split in once(row.group for row in rows):
        own = {model: at.get((split, model)) for model in models}
        n = next(row.n for row in own.values() if row is not None)
        cells = {model: "" if row is None else shown(row, len(models) < 5) for model, row in own.items()}
        lines.append({"Split": split, "n": n, **cells})
    print_table("Accuracy by number of examples", lines)


def line_of_difference(row: ModelDifference, first: str, second: str) -> dict[str, Any]:
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
        "q": "" if row.q is None else f"{row.q:.4f}",
    }
