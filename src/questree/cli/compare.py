"""`questree compare`, `power` and `score gain`: models against each other, and how large a test set must be."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.choices import ComparingOptions, Planning
from questree.cli.paper import NO_PAPER, Paper, Plots, check_plots, write_paper, write_pictures
from questree.cli.shared_options import (
    BenchmarkOption,
    CacheOption,
    FilesOption,
    HierarchiesOption,
    RecordsOption,
    RunFolder,
    SplitOption,
)
from questree.cli.terminal import output, say, tell, tell_made, watching, write_json
from questree.svg import COLUMN

COMPARING, PLANNING = ComparingOptions(), Planning()


@output
def compare(
    a: Annotated[Path, Parameter(help="Predictions of the first model; with --run also a model stored there.")],
    b: Annotated[Path, Parameter(help="Predictions of the second model, likewise.")],
    *,
    run: Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`).")] = None,
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    cache: CacheOption = True,
    questions: RecordsOption = None,
    level: Annotated[float, Parameter(help="False discovery rate up to which a difference counts.")] = 0.05,
    metric: Annotated[str | None, Parameter(help="Print only this metric. [default: those of the main tables]")] = None,
    by: Annotated[str | None, Parameter(help="Print only this table, such as type, composition, answer.")] = None,
    significant: Annotated[bool, Parameter(help="Print only differences that count.", negative="")] = False,
    how: Annotated[ComparingOptions, Parameter(name="*")] = COMPARING,
    paper: Paper = NO_PAPER,
    plots: Plots = None,
) -> None:
    """The second model minus the first, on the same videos; Benjamini-Hochberg over the cells that are printed."""
    from questree.api.comparing import compare_models

    paper.check()
    check_plots(plots)
    with watching():
        found = compare_models(
            a, b, run=run, hierarchies=hierarchies, questions=questions, split=split, benchmark=benchmark, how=how,
            level=level, metric=metric, by=by, cache=cache, say=say,
        )  # fmt: skip
    shown = found.shown(significant)
    write_json(found.rows)
    tell(found.told(shown))
    if paper.wanted:
        write_paper(found.grids(shown), paper)
    write_pictures(plots, found.plots(shown, COLUMN))


@output
def power(
    run: RunFolder = None,
    /,
    *,
    predictions: Annotated[
        Path | None, Parameter(help="Predictions of a model to plan by, such as a pilot or a baseline.")
    ] = None,
    model: Annotated[
        str,
        Parameter(help="Stored model or bot to plan by. [default: those stored; bots if there is none]"),
    ] = "",
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    cache: CacheOption = True,
    questions: RecordsOption = None,
    half_width: Annotated[float, Parameter(help="Half-width of the 95 % interval, as a fraction.")] = 0.01,
    metric: Annotated[str | None, Parameter(help="Metric to plan for. [default: accuracy over questions]")] = None,
    by: Annotated[str | None, Parameter(help="Table of the metric. [default: all but answer]")] = None,
    how: Annotated[Planning, Parameter(name="*")] = PLANNING,
) -> None:
    """Videos (or images) needed for every cell of a metric, judged by how much it varies between those there are.

    Of a run without --model and --predictions by its stored models; before there is one, by bots. Of several the one
    that needs most counts.
    """
    from questree.api.planning import power as work

    with watching():
        made = work(
            run, predictions=predictions, model=model, split=split, benchmark=benchmark, hierarchies=hierarchies,
            questions=questions, half_width=half_width, metric=metric or "", by=by, cache=cache, **asdict(how),
        )  # fmt: skip
    tell_made(made)


@output
def gain(
    *,
    questions: Annotated[Path, Parameter(help="AGQA test questions: a JSON file {id: record}.")],
    base: Annotated[FilesOption, Parameter(help="Predictions of a model trained on AGQA; may be given again.")],
    augmented: Annotated[
        FilesOption, Parameter(help="Predictions of the same model trained on sub-questions too, in the same order.")
    ],
    how: Annotated[ComparingOptions, Parameter(name="*")] = COMPARING,
    paper: Paper = NO_PAPER,
) -> None:
    """Accuracy of models trained on AGQA and on AGQA-Decomp, and the difference on the same resampled videos."""
    from msgspec.structs import asdict as fields

    from questree.api.comparing import gains

    paper.check()
    with watching():
        found = gains(questions, base, augmented, how, say)
    rows = [{"model": name} | fields(row) for name, own in found.models.items() for row in own]
    write_json(rows)
    tell(found.told())
    if paper.wanted:
        write_paper(found.grids(), paper)
