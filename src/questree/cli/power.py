"""`questree power`: how many videos a score needs before its interval is as narrow as wanted."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.corpus import Corpus
from questree.cli.scoring import (
    HierarchiesOption,
    MissingOption,
    OnePolicy,
    QuestionsOption,
    Seed,
    VocabularyFile,
    percent,
    policies,
    there,
)
from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.metrics.bootstrap import Resampling


def power(
    *,
    predictions: Annotated[Path, Parameter(name="--predictions", help="A model to go by: a pilot, a baseline.")],
    hierarchies: HierarchiesOption = None,
    questions: QuestionsOption = None,
    half_width: Annotated[float, Parameter(name="--half-width", help="Of the 95 % interval, as a fraction.")] = 0.01,
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
    """Videos needed for every cell of a metric, judged by how much it varies between the videos there are."""
    from questree.metrics.power import needs

    faults = [] if half_width > 0 else [Fault("--half-width", f"wanted more than 0, came {half_width}")]
    faults += [] if resamples > 1 else [Fault("--resamples", f"wanted at least 2, came {resamples}")]
    refuse(faults)
    there(predictions)
    with watching(quiet):
        corpus = Corpus.of(hierarchies, questions, missing, policies(policy), vocabulary)
        ((_, scored, _),) = corpus.scored([predictions], quiet)
        rows = needs(scored, half_width, Resampling(resamples, seed))
    known = list(dict.fromkeys(row.metric for row in rows))
    if metric not in known:
        raise BadInput.at("--metric", f"no metric {metric!r} here; there are {', '.join(known)}")
    chosen = [row for row in rows if row.metric == metric and by in (None, row.by)]
    if not chosen:
        tables = dict.fromkeys(row.by for row in rows if row.metric == metric)
        raise BadInput.at("--by", f"no table {by!r} of {metric}; there are {', '.join(tables)}")
    write_json(json, chosen)
    lines = [
        {
            "by": row.by,
            "group": row.group,
            metric: percent(row.value),
            "half-width now": percent(row.half_width),
            "videos needed": "N/A" if row.videos is None else f"{row.videos:,}",
        }
        for row in chosen
    ]
    say(f"{len(scored.tallies.total):,} videos here; wanted: ±{percent(half_width)} points", quiet)
    print_table(f"Videos for a half-width of {percent(half_width)} points", lines, quiet)
