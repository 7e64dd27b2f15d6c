"""`questree audit`: how guessable a benchmark is from its questions alone."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, SeedOption, WorkersOption, carry_out
from questree.cli.terminal import output
from questree.faults import Fault, refuse
from questree.stages.audit.audited import Audit


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
    found = carry_out("audit", run, benchmark, {"most": most, "seed": seed, "templates": templates}, workers)
    refuse(too_good(found, fail_above))


def too_good(found: Audit, limit: float | None) -> list[Fault]:
    return [
        Fault("audit", f"{name}: {100 * value:.1f} % of all test questions, more than {limit:g} %")
        for name, value in found.guessed().items()
        if limit is not None and 100 * value > limit
    ]
