"""`questree score`: a model's predictions -> the papers' tables, with intervals, and one flat table as JSON."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.scoring import (
    Corpus,
    Files,
    MissingOption,
    PolicyOption,
    Resamples,
    Seed,
    VocabularyFile,
    policies,
    print_grid,
    print_policies,
    resampling,
    there,
)
from questree.cli.terminal import Json, Quiet, say, watching, write_json
from questree.metrics.scores import Score

HierarchiesOption = Annotated[
    Path, Parameter(name="--hierarchies", help="A folder of AGQA-Decomp hierarchies, one <video>.json per video.")
]


def decomp(
    *,
    hierarchies: HierarchiesOption,
    predictions: Files,
    missing: MissingOption = "error",
    policy: PolicyOption = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """AGQA-Decomp: accuracy, CA, RWR, Delta, internal consistency, and how accuracy and consistency go together."""
    how = resampling(resamples, seed)
    there(*predictions)
    with watching(quiet):
        corpus = Corpus.of_hierarchies(hierarchies, missing, policies(policy), vocabulary)
        rows = list[Score]()
        for model, scored, about in corpus.scored(predictions, quiet):
            rows += [*scored.rows(model, how), *about]
    write_json(json, rows)
    print_decomp(rows, quiet)


def print_decomp(rows: list[Score], quiet: bool) -> None:
    """Tables 3, 4, 6, 7, 8, 9 of the AGQA-Decomp paper and the number of its Figure 3."""
    several = sorted({r.metric for r in rows if r.metric.startswith("RWR-")}, key=lambda name: int(name[4:]))
    main = ["accuracy", "CA", "RWR", "Delta", "IC"]
    print_grid("By question type", "Question type", rows, "type", main, quiet)
    print_grid("By composition", "Composition", rows, "composition", main[1:], quiet)
    print_grid("RWR-n by question type", "Question type", rows, "type", several, quiet)
    print_grid("RWR-n by composition", "Composition", rows, "composition", several, quiet)
    print_grid("IC per rule", "Rule", rows, "rule", ["IC"], quiet, count=True)
    print_grid("Accuracy per ground truth", "Type-truth", rows, "answer", ["accuracy"], quiet, count=True)
    for row in (row for row in rows if row.by == "dag"):
        value = "N/A" if row.value is None else f"{row.value:.3f}"
        room = "" if row.low is None or row.high is None else f" [{row.low:.3f}, {row.high:.3f}]"
        say(f"{row.model}: {row.metric} {value}{room} over {row.n:,} DAGs", quiet)
    print_policies(rows, [("accuracy", "type"), ("CA", "composition"), ("IC", "composition")], quiet)
