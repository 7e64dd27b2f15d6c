"""`questree audit`: how guessable a benchmark is from its questions alone."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import BenchmarkOption, SeedOption, WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import Fault, refuse
from questree.stages.audit import image_sets
from questree.stages.audit.audited import Audit, AuditOptions
from questree.stages.audit.audited import audit as look
from questree.stages.audit.guesses import GuessScore, Measure
from questree.tables.run import Run


@output
def audit(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    most: Annotated[int, Parameter(help="Largest number of questions per set and split whose text is read.")] = 500_000,
    seed: SeedOption = 1,
    templates: Annotated[bool, Parameter(help="Also print one line per template.")] = False,
    fail_above: Annotated[
        float | None, Parameter(help="Exit with 1 if a guesser gets more per cent of all test questions right.")
    ] = None,
    workers: WorkersOption = 2,
) -> None:
    """Guess the answers without looking at videos or images, before and after balancing; nothing should get far.

    Parameters
    ----------
    run
        Run folder with questions, and better with a balanced selection; tables and plots go to its folder `audit`
        (image sets: `covr/audit`).
    """
    place = Run(run)
    of_images = chosen(place, benchmark, "questions").domain == "images"
    with watching():
        options = AuditOptions(most, seed)
        found = image_sets.audit(place, options) if of_images else look(place, options, workers)
    for name in dict.fromkeys(measure.name for measure in [*found.measures, *found.duplicates]):
        own = [m for m in [*found.measures, *found.duplicates] if m.name == name]
        print_table(name, lines(own, templates))
    if not found.balanced:
        say("there is no balanced selection, so before and after are the same; `questree balance` makes one")
    say(f"wrote audit.json and plots to {(place.covr if of_images else run) / 'audit'}")
    write_json(found)
    refuse(too_good(found, fail_above))


def lines(measures: Sequence[Measure], templates: bool) -> list[dict[str, object]]:
    return [
        {
            "questions": m.type,
            "before": shown(m.before, m.name),
            "n before": m.before.n,
            "after": shown(m.after, m.name),
            "n after": m.after.n,
        }
        for m in measures
        if templates or not m.type.startswith("template:")
    ]


def shown(score: GuessScore, name: str) -> str:
    if score.value is None:
        return "N/A"
    return f"{score.value:.3f}" if "bits" in name else f"{100 * score.value:.1f} %"


def too_good(found: Audit, limit: float | None) -> list[Fault]:
    return [
        Fault("audit", f"{name}: {100 * value:.1f} % of all test questions, more than {limit:g} %")
        for name, value in found.guessed().items()
        if limit is not None and 100 * value > limit
    ]
