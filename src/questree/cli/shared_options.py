"""Options that several commands share, and which of them fit the benchmark of a run."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from questree.benchmarks import BENCHMARKS, STAGES, Benchmark, Said, chosen
from questree.cli.terminal import print_table, say, watching, write_json
from questree.faults import Fault, refuse
from questree.tables.lock import lock
from questree.tables.run import Run


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """A number as it was given: 1.5 is refused, not rounded; the command line adds the name of the option."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, got {tokens[0].value!r}") from None


Whole = Annotated[int, Parameter(converter=whole)]
BenchmarkOption = Annotated[
    str,
    Parameter(
        name="--benchmark", help="Benchmark of a run with both: agqa (videos, the default) or covr (image sets)."
    ),
]
OnlyBenchmark = Annotated[
    str, Parameter(name="--benchmark", help="Of a run with both: only agqa (videos) or covr (image sets).")
]
WordsOption = Annotated[
    Path | None, Parameter(name="--words", help="Image sets: folder of word tables. [default: the shipped ones]")
]
SeedOption = Annotated[int, Parameter(name="--seed", help="Seed of the draws.")]
WorkersOption = Annotated[int, Parameter(name="--workers", help="Number of processes.")]
EveryOption = Annotated[
    bool, Parameter(name="--all", negative="", help="Take every question, not only the balanced selection.")
]


def carry_out(stage: str, run: Path, benchmark: str, given: Mapping[str, object], workers: int) -> Any:
    """Let a stage do its work by the recipe of the run's benchmark, lock what it made, tell about it and return it."""
    needs, makes = STAGES[stage]
    place = Run(run)
    own = chosen(place, benchmark, needs)
    used = {flag: value for flag, value in given.items() if value is not None and value is not False}
    refuse(foreign(own, stage, used))
    with watching():
        told = own.recipe(stage).work(place, used, workers)
        if makes:
            lock(place, own.locked(makes))
    tell(told.said)
    write_json(told.record)
    return told.record


def tell(said: Iterable[Said]) -> None:
    for each in said:
        if isinstance(each, str):
            say(each)
        else:
            print_table(*each)


def foreign(own: Benchmark, stage: str, used: Mapping[str, object]) -> list[Fault]:
    """Options that mean something for other benchmarks only."""
    faults = []
    for flag in sorted(used.keys() - own.recipe(stage).takes, key=list(used).index):
        scopes = " or ".join(one.scopes for one in BENCHMARKS.values() if flag in one.recipe(stage).takes)
        faults.append(Fault(f"--{flag.replace('_', '-')}", f"expected a run of {scopes}, got {own.scopes}"))
    return faults


def fitting(own: Benchmark, domain: str, given: Mapping[str, object]) -> dict[str, Any]:
    """The options that were given (not None, not False), by their names; refused if they are for another medium."""
    used = {flag: value for flag, value in given.items() if value is not None and value is not False}
    scopes = next(one.scopes for one in BENCHMARKS.values() if one.domain == domain)
    wrong = f"expected a run of {scopes}, got {own.scopes}"
    refuse([Fault(f"--{flag.replace('_', '-')}", wrong) for flag in used if own.domain != domain])
    return used


def at_least(low: float, given: Mapping[str, float | None]) -> list[Fault]:
    """Numbers that are too small."""
    return [
        Fault(f"--{flag.replace('_', '-')}", f"expected at least {low:g}, got {value:g}")
        for flag, value in given.items()
        if value is not None and value < low
    ]
