"""`questree compare` and `questree power`: two models on the same questions, and how many videos a score needs."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.api.scoring import ComparedQuestions, names
from questree.benchmarks import chosen
from questree.cli.score import stored_models
from questree.cli.scoring import (
    HierarchiesOption,
    MissingOption,
    OnePolicy,
    QuestionsOption,
    Seed,
    SplitOption,
    VocabularyFile,
    percent,
    plain,
    policies,
    there,
)
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.metrics.comparison import ModelDifference
from questree.metrics.scores import Resampling
from questree.tables.predictions import models
from questree.tables.run import Run


@output
def compare(
    a: Annotated[Path, Parameter(help="Predictions of the first model; with --run also a model stored there.")],
    b: Annotated[Path, Parameter(help="Predictions of the second model, likewise.")],
    *,
    run: Annotated[Path | None, Parameter(name="--run", help="A run with DAGs (`questree decompose`).")] = None,
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    questions: QuestionsOption = None,
    missing: MissingOption = "error",
    policy: OnePolicy = "exact",
    vocabulary: VocabularyFile = None,
    level: Annotated[
        float, Parameter(name="--level", help="False discovery rate up to which a difference counts.")
    ] = 0.05,
    resamples: Annotated[int, Parameter(name="--resamples", help="Number of bootstrap resamples.")] = 1000,
    seed: Seed = 0,
) -> None:
    """The second model minus the first, on the same resampled videos; Benjamini-Hochberg over the whole table."""
    from questree.metrics.comparison import compare as work

    if resamples < 1:
        raise BadInput.at("--resamples", f"expected at least 1, got {resamples}")
    known = models(Run(run), chosen(Run(run), benchmark, "decomposed").domain == "images") if run else []
    stored = [str(one) for one in (a, b) if str(one) in known]
    files = [one for one in (a, b) if str(one) not in stored]
    there(*files, more=f"; stored in {run}: {', '.join(known) or 'no models'}" if run else "")
    called = dict(zip(map(str, files), names(files), strict=True))
    first, second = (called.get(str(one), str(one)) for one in (a, b))
    with watching():
        corpus = ComparedQuestions.of(
            hierarchies, questions, missing, policies(policy), vocabulary, run, split, benchmark, say
        )
        found = {model: scored for model, scored, _ in corpus.scored(files, stored)}
        rows = work(found[first], found[second], Resampling(resamples, seed))
    write_json(rows)
    different = [row for row in rows if row.q is not None and row.q <= level]
    tested = sum(row.q is not None for row in rows)
    print_table(f"{second} minus {first}", [_line(row, first, second) for row in _main(rows)])
    say(f"{len(different)} of {tested} cells differ at a false discovery rate of {level}")
    print_table("Cells that differ", [_line(row, first, second) for row in different])


def _main(rows: list[ModelDifference]) -> list[ModelDifference]:
    """The cells a paper's main table has."""
    return [row for row in rows if row.by != "answer" and not row.metric.startswith("RWR-")]


def _line(row: ModelDifference, first: str, second: str) -> dict[str, Any]:
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


@output
def power(
    run: Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`), instead of files.")] = None,
    /,
    *,
    predictions: Annotated[
        Path | None,
        Parameter(name="--predictions", help="Predictions of a model to plan by, such as a pilot or a baseline."),
    ] = None,
    model: Annotated[str, Parameter(name="--model", help="Model stored in the run to plan by instead.")] = "",
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    questions: QuestionsOption = None,
    half_width: Annotated[
        float, Parameter(name="--half-width", help="Half-width of the 95 % interval, as a fraction.")
    ] = 0.01,
    metric: Annotated[str, Parameter(name="--metric", help="Metric to plan for.")] = "accuracy",
    by: Annotated[str | None, Parameter(name="--by", help="Table of the metric. [default: all]")] = None,
    missing: MissingOption = "error",
    policy: OnePolicy = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Annotated[int, Parameter(name="--resamples", help="Number of bootstrap resamples.")] = 1000,
    seed: Seed = 0,
) -> None:
    """Videos (or images) needed for every cell of a metric, judged by how much it varies between those there are."""
    from questree.metrics.comparison import needs

    faults = [] if half_width > 0 else [Fault("--half-width", f"expected more than 0, got {half_width}")]
    faults += [] if resamples > 1 else [Fault("--resamples", f"expected at least 2, got {resamples}")]
    refuse(faults)
    files = [predictions] if predictions else []
    there(*files)
    stored = stored_models(run, [model], bool(files), benchmark) if model else []
    if len(files) + len(stored) != 1:
        raise BadInput.at("", "expected one model, as --predictions FILE or, of a run, as --model NAME")
    unit = "images" if run and chosen(Run(run), benchmark, "decomposed").domain == "images" else "videos"
    with watching():
        corpus = ComparedQuestions.of(
            hierarchies, questions, missing, policies(policy), vocabulary, run, split, benchmark, say
        )
        ((_, scored, _),) = corpus.scored(files, stored)
        rows = needs(scored, half_width, Resampling(resamples, seed))
    known = list(dict.fromkeys(row.metric for row in rows))
    if metric not in known:
        raise BadInput.at("--metric", f"expected a metric, got {metric!r}; choose from {', '.join(known)}")
    found = [row for row in rows if row.metric == metric and by in (None, row.by)]
    if not found:
        tables = dict.fromkeys(row.by for row in rows if row.metric == metric)
        raise BadInput.at("--by", f"expected a table of {metric}, got {by!r}; choose from {', '.join(tables)}")
    write_json(found)
    lines = [
        {
            "by": row.by,
            "group": row.group,
            metric: percent(row.value),
            "half-width now": percent(row.half_width),
            f"{unit} needed": "N/A" if row.videos is None else f"{row.videos:,}",
        }
        for row in found
    ]
    say(f"{len(scored.tallies.total):,} {unit} here; wanted: ±{percent(half_width)} points")
    print_table(f"{unit.capitalize()} for a half-width of {percent(half_width)} points", lines)
