"""What was scored, with which choices, and how to make the same again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from shlex import quote

from questree.show.report.bots import called
from questree.show.report.scoring import How, Result
from questree.tables.lock import Stage, flat, lock_file, read
from questree.tables.run import Run

SHORT = 12  # letters of a digest that are shown
Fact = tuple[str, str]


@dataclass(frozen=True)
class Asked:
    """What the reader asked for."""

    run: str  # as it was written
    models: tuple[str, ...]
    bots: tuple[str, ...]
    out: str  # the name of the file


def facts(run: Run, asked: Asked, how: How, results: Sequence[Result]) -> Iterator[Fact]:
    yield "run", asked.run
    yield "models", ", ".join(asked.models) or "none"
    if asked.bots:
        yield "bots", ", ".join(map(called, asked.bots))
    if results:
        yield from scored(how, results)
    yield from locked(run)


def scored(how: How, results: Sequence[Result]) -> Iterator[Fact]:
    sizes = {result.unit: f"{len(result.scored.tallies.total):,} {result.unit}" for result in results}
    yield "scored on", " and ".join(sizes.values()) + (f" of the split {how.split}" if how.split else ", all there are")
    yield "answers read", f"{how.policy}; a question without a prediction: {how.missing}"
    given = {one.model: f"{one.coverage.found:,} of {one.coverage.needed:,}" for one in results}
    yield "questions and sub-questions with a prediction", "; ".join(f"{name} {n}" for name, n in given.items())
    room = f"95 %, from {how.resamples:,} resamples with replacement" if how.resamples else "not asked for"
    yield "intervals", room
    yield "seed", f"{how.seed}, of the resampling and of the choice of failures and texts"


def locked(run: Run) -> Iterator[Fact]:
    """Digests and options of every stage, as locked; `questree verify` says whether they still hold."""
    if not lock_file(run).is_file():
        yield "lock file", "none; `questree verify RUN --write` makes one, and the report can be held against it"
        return
    found = read(run)
    if found.vocabulary:
        yield "vocabulary", found.vocabulary[:SHORT]
    for name, stage in found.stages.items():
        options = ", ".join(f"{option} {value}" for option, value in shown(stage))
        yield name, f"{digest(stage)}{f'; {options}' if options else ''}"
    yield "code when locked", ", ".join(dict.fromkeys(stage.code[:SHORT] for stage in found.stages.values()))


def shown(stage: Stage) -> Iterator[Fact]:
    """Options without the long lists."""
    for option, value in flat(stage.options).items():
        if value and not option.startswith("more steps ") and len(value) <= 80:
            yield option, value


def digest(stage: Stage) -> str:
    """Of all files of a stage."""
    found = blake2b(digest_size=16)
    for name, own in sorted(stage.files.items()):
        found.update(f"{name}\0{own}\0".encode())
    return found.hexdigest()[:SHORT]


def commands(asked: Asked, how: How) -> Iterator[str]:
    """What a reader types to get the same; the run must be the same, which the first line checks."""
    run = quote(asked.run)
    yield f"questree verify {run}"
    models = f"--models {quote(','.join(asked.models))} " if asked.models else ""
    models += f"--bots {quote(','.join(asked.bots) or 'none')} "
    choices = f"--split {how.split or 'all'} --policy {how.policy} --missing {how.missing}"
    drawn = f"--resamples {how.resamples} --seed {how.seed}"
    yield f"questree report {run} {models}{choices} {drawn} --out {quote(asked.out)}"
