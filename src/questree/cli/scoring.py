"""What all scoring commands share: their options, and the tables they print."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.scoring import Missing
from questree.cli.terminal import print_table
from questree.faults import Fault, refuse
from questree.metrics.catalogue import ALL, METRICS
from questree.metrics.scores import Resampling, Score, find
from questree.models.predictions import POLICIES, Policy

Files = Annotated[list[Path], Parameter(name="--predictions", help="Predictions of one model; may be given again.")]
MissingOption = Annotated[Missing, Parameter(name="--missing", help="Treatment of questions without a prediction.")]
PolicyOption = Annotated[
    Literal["exact", "vqa", "lenient", "all"], Parameter(name="--policy", help="Way to read free-form answers.")
]
OnePolicy = Annotated[Policy, Parameter(name="--policy", help="Way to read free-form answers.")]
HierarchiesOption = Annotated[
    Path | None, Parameter(name="--hierarchies", help="AGQA-Decomp hierarchies: a folder, one <video>.json per video.")
]
QuestionsOption = Annotated[
    Path | None, Parameter(name="--questions", help="AGQA questions: a JSON file {id: record}.")
]
SplitOption = Annotated[
    Literal["train", "dev", "test"] | None,
    Parameter(name="--split", help="With a run: split to score; dev only of image sets."),
]
Resamples = Annotated[
    int, Parameter(name="--resamples", help="Number of bootstrap resamples behind low and high; 0 for none.")
]
Seed = Annotated[int, Parameter(name="--seed", help="Seed of the resampling.")]
VocabularyFile = Annotated[
    Path | None, Parameter(name="--vocabulary", help="Vocabulary file with synonyms for `lenient`. [default: ours]")
]


def there(*files: Path, more: str = "") -> None:
    """All files of predictions that do not exist are said at once, before anything is read."""
    refuse(
        [
            Fault(str(file), f"expected a file of predictions, got nothing of this name{more}")
            for file in files
            if not file.is_file()
        ]
    )


def policies(policy: str) -> tuple[Policy, ...]:
    return POLICIES if policy == "all" else tuple(p for p in POLICIES if p == policy)


def resampling(resamples: int, seed: int) -> Resampling | None:
    refuse([] if resamples >= 0 else [Fault("--resamples", f"expected at least 0, got {resamples}")])
    return Resampling(resamples, seed) if resamples else None


def plain(value: float | None) -> str:
    """A correlation."""
    return "N/A" if value is None else f"{value:.3f}"


def percent(value: float | None) -> str:
    return "N/A" if value is None else f"{100 * value:.2f}"


def shown(row: Score | None, interval: bool) -> str:
    if row is None:
        return ""
    if interval and row.low is not None and row.high is not None:
        return f"{percent(row.value)} [{percent(row.low)}, {percent(row.high)}]"
    return percent(row.value)


def print_grid(
    title: str, corner: str, rows: Iterable[Score], by: str, metrics: Sequence[str], count: bool = False
) -> None:
    """Groups down, metrics and models across, as the papers print their tables; intervals where one model has room."""
    here = [row for row in rows if row.by == by and row.metric in metrics]
    models = list(dict.fromkeys(row.model for row in here))
    groups = list(dict.fromkeys(row.group for row in here))
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
        by = metric.by or ALL
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
