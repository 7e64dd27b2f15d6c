"""`questree power`: how many videos a score needs before its interval is as narrow as wanted."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.scoring import Corpus
from questree.benchmarks import chosen
from questree.cli.options import BenchmarkOption
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
    policies,
    there,
)
from questree.cli.terminal import Json, Quiet, print_table, say, telling, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.metrics.bootstrap import Resampling
from questree.tables.run import Run


def power(
    run: Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`), instead of files.")] = None,
    /,
    *,
    predictions: Annotated[
        Path | None, Parameter(name="--predictions", help="A model to go by: a pilot, a baseline.")
    ] = None,
    model: Annotated[str, Parameter(name="--model", help="A model stored in the run to go by instead.")] = "",
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    hierarchies: HierarchiesOption = None,
    questions: QuestionsOption = None,
    half_width: Annotated[
        float, Parameter(name="--half-width", help="Half-width of the 95 % interval, as a fraction.")
    ] = 0.01,
    metric: Annotated[str, Parameter(name="--metric", help="Which metric.")] = "accuracy",
    by: Annotated[str | None, Parameter(name="--by", help="Which table of the metric; all without it.")] = None,
    missing: MissingOption = "error",
    policy: OnePolicy = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Annotated[int, Parameter(name="--resamples", help="Bootstrap resamples.")] = 1000,
    seed: Seed = 0,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Videos (or images) needed for every cell of a metric, judged by how much it varies between those there are."""
    from questree.metrics.power import needs

    faults = [] if half_width > 0 else [Fault("--half-width", f"expected more than 0, got {half_width}")]
    faults += [] if resamples > 1 else [Fault("--resamples", f"expected at least 2, got {resamples}")]
    refuse(faults)
    files = [predictions] if predictions else []
    there(*files)
    stored = stored_models(run, [model], bool(files), benchmark) if model else []
    if len(files) + len(stored) != 1:
        raise BadInput.at("", "expected one model, as --predictions FILE or, of a run, as --model NAME")
    unit = "images" if run and chosen(Run(run), benchmark, "decomposed").domain == "images" else "videos"
    with watching(quiet):
        corpus = Corpus.of(
            hierarchies, questions, missing, policies(policy), vocabulary, run, split, benchmark, telling(quiet)
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
    write_json(json, found)
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
    say(f"{len(scored.tallies.total):,} {unit} here; wanted: ±{percent(half_width)} points", quiet)
    print_table(f"{unit.capitalize()} for a half-width of {percent(half_width)} points", lines, quiet)
