"""What a report was made from: digests and options of every stage, and the commands that make it again."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from shlex import quote

from questree.scoring.run_scores import How
from questree.tables.lock import LockedStage, flat, read
from questree.tables.run import Run

SHORT = 12  # letters of a digest that are shown
Fact = tuple[str, str]


@dataclass(frozen=True)
class ReportRequest:
    """What the reader asked for."""

    run: str  # as it was written
    models: tuple[str, ...]
    bots: tuple[str, ...]
    out: str  # the name of the file
    benchmark: str = ""  # only this one; without it all that the run holds
    named: bool = True  # were the models asked for by name? others are left out where they cannot be scored
    media: str = ""  # folder of pictures
    unscored: str = ""  # file of types that are not scored, instead of those of the paper
    left_out: tuple[str, ...] = ()  # what is not told, and why


def locked(run: Run) -> Iterator[Fact]:
    """Digests and options of every stage, as locked; `questree verify` says whether they still hold."""
    if not run.lock_file.is_file():
        yield "lock file", "none; `questree verify RUN --write` makes one, and the report can be held against it"
        return
    found = read(run)
    if found.vocabulary:
        yield "vocabulary", found.vocabulary[:SHORT]
    for name, stage in found.stages.items():
        options = ", ".join(f"{option} {value}" for option, value in shown(stage))
        yield name, f"{digest(stage)}{f'; {options}' if options else ''}"
    yield "code when locked", ", ".join(dict.fromkeys(stage.code[:SHORT] for stage in found.stages.values()))


def shown(stage: LockedStage) -> Iterator[Fact]:
    """Options without the long lists."""
    for option, value in flat(stage.options).items():
        if value and not option.startswith("more steps ") and len(value) <= 80:
            yield option, value


def digest(stage: LockedStage) -> str:
    """Of all files of a stage."""
    found = blake2b(digest_size=16)
    for name, own in sorted(stage.files.items()):
        found.update(f"{name}\0{own}\0".encode())
    return found.hexdigest()[:SHORT]


def commands(run: Run, asked: ReportRequest, how: How) -> Iterator[str]:
    """What a reader types to get the same; the run must be the same, which the first line checks if it is locked."""
    name = quote(asked.run)
    if run.lock_file.is_file():
        yield f"questree verify {name}"
    models = f"--models {quote(','.join(asked.models))} " if asked.models else ""
    models += f"--benchmark {asked.benchmark} " if asked.benchmark else ""
    models += f"--bots {quote(','.join(asked.bots) or 'none')} "
    models += f"--media {quote(asked.media)} " if asked.media else ""
    models += f"--unscored {quote(asked.unscored)} " if asked.unscored else ""
    choices = f"--split {how.split or 'all'} --policy {how.policy} --missing {how.missing}"
    drawn = f"--resamples {how.resamples} --seed {how.seed}"
    yield f"questree report {name} {models}{choices} {drawn} --out {quote(asked.out)}"
