"""`questree score`: a model's predictions -> the papers' tables, with intervals, and one flat table as JSON."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.scoring import ComparedQuestions
from questree.benchmarks import chosen
from questree.cli.scoring import (
    Files,
    HierarchiesOption,
    MissingOption,
    PolicyOption,
    Resamples,
    Seed,
    SplitOption,
    VocabularyFile,
    plain,
    policies,
    print_grid,
    print_metrics,
    print_policies,
    resampling,
    there,
)
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.metrics.scores import Score
from questree.tables.predictions import models
from questree.tables.run import Run


@output
def decomp(
    run: Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`), instead of files.")] = None,
    /,
    *,
    hierarchies: HierarchiesOption = None,
    predictions: Files | None = None,
    model: Annotated[
        list[str] | None, Parameter(name="--model", help="Model stored in the run; may be given again.")
    ] = None,
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    missing: MissingOption = "error",
    policy: PolicyOption = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> None:
    """Accuracy, CA, RWR, Delta, internal consistency, and how accuracy and consistency go together.

    Of a run without --model and --predictions, all models that are stored in it.
    """
    how, files = resampling(resamples, seed), predictions or []
    there(*files)
    stored = stored_models(run, model, bool(files), benchmark)
    with watching():
        corpus = ComparedQuestions.of(
            hierarchies, None, missing, policies(policy), vocabulary, run, split, benchmark, say
        )
        rows = list[Score]()
        for name, scored, about in corpus.scored(files, stored):
            rows += [*scored.rows(name, how), *about]
    write_json(rows)
    print_decomp(rows)


def stored_models(run: Path | None, wanted: list[str] | None, others: bool, benchmark: str) -> list[str]:
    """The stored models to score."""
    if run is None and (wanted or not others):
        raise BadInput.at("", "expected --predictions FILE, or a run with models (`questree answer RUN --model NAME`)")
    if run is None or (others and not wanted):
        return []
    there = models(Run(run), chosen(Run(run), benchmark, "decomposed").domain == "images")
    strange = [name for name in wanted or [] if name not in there]
    known = f"choose from {', '.join(there)}" if there else "there are none; `questree answer` stores them"
    refuse([Fault(str(run), f"expected a stored model, got {name!r}; {known}") for name in strange])
    if not (wanted or there):
        raise BadInput.at(run, "no models are stored here; `questree answer RUN --model NAME` stores one")
    return list(dict.fromkeys(wanted)) if wanted else there


def print_decomp(rows: list[Score]) -> None:
    """Tables 3, 4, 6, 7, 8, 9 of the AGQA-Decomp paper and the number of its Figure 3."""
    several = sorted({r.metric for r in rows if r.metric.startswith("RWR-")}, key=lambda name: int(name[4:]))
    main = ["accuracy", "CA", "RWR", "Delta", "IC"]
    print_grid("By question type", "Question type", rows, "type", main)
    print_grid("By composition", "Composition", rows, "composition", main[1:])
    print_grid("RWR-n by question type", "Question type", rows, "type", several)
    print_grid("RWR-n by composition", "Composition", rows, "composition", several)
    print_grid("IC per rule", "Rule", rows, "rule", ["IC"], count=True)
    print_grid("Accuracy per ground truth", "Type-truth", rows, "answer", ["accuracy"], count=True)
    for row in (row for row in rows if row.by == "dag"):
        room = "" if row.low is None or row.high is None else f" [{plain(row.low)}, {plain(row.high)}]"
        say(f"{row.model}: {row.metric} {plain(row.value)}{room} over {row.n:,} DAGs")
    print_metrics(rows)
    print_policies(rows, [("accuracy", "type"), ("CA", "composition"), ("IC", "composition")])
