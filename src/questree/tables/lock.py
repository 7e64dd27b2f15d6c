"""What a run was made from and by: digests of its files, vocabulary, templates and code, and its options."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import polars as pl

import questree
from questree.extensions import digests
from questree.faults import UNREADABLE, BadInput, Fault
from questree.places.seen import is_marker
from questree.tables.digests import changed, digest
from questree.tables.image_questions import BALANCED
from questree.tables.predictions import of_image_sets
from questree.tables.questions import read_balanced
from questree.tables.run import SCHEMA, Run
from questree.tables.store import new_file, own_note
from questree.tables.table import rows_in


class StagePlace(NamedTuple):
    """Where the files of a stage are in a run, and which of them say its options."""

    folder: str
    files: tuple[str, ...] = ("**/*",)
    notes: tuple[str, ...] = ("plan.json", "report.json")
    noted_in: str = ""  # where these are, if not in its folder


STAGES = {  # in the order they are made
    **{name: StagePlace(name) for name in ("raw", "truth", "images", "imported")},
    "facts": StagePlace("facts", notes=("ledger.json",), noted_in="."),
    "ledger": StagePlace(".", ("ledger.json",), ()),
    **{name: StagePlace(name) for name in ("questions", "balanced")},
    **{name: StagePlace(name) for name in ("splits", "decomposed", "hierarchies")},
    "covr/questions": StagePlace("covr", ("questions/**/*", "report.json")),
    "covr/balanced": StagePlace("covr", ("balanced.parquet", "balanced.json"), ("balanced.json",)),
    "covr/splits": StagePlace("covr/splits", notes=("report.json",)),
    "covr/decomposed": StagePlace("covr/decomposed"),
    **{name: StagePlace(name) for name in ("audit", "covr/audit")},
}
# what knows its own digests: it comes and goes
NOTED = ("predictions/*/plan.json", "features/*/features.json", "trained/*/history.json")
PACKAGE = Path(questree.__file__).parent
TEMPLATES = PACKAGE / "benchmarks"


class LockedStage(msgspec.Struct, frozen=True):
    files: dict[str, str]  # path inside the stage's folder -> digest
    options: dict[str, Any] = {}
    code: str = ""  # of the whole package when the stage was locked
    templates: str = ""
    plugins: dict[str, str] = {}  # file -> digest, of those that were loaded


class Lock(msgspec.Struct, frozen=True):
    vocabulary: str  # empty for a run of images, which has none
    stages: dict[str, LockedStage] = {}
    schema: int = SCHEMA


def of_code(folder: Path) -> str:
    return digest(*sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".toml")), under=folder)


@cache
def own_code() -> tuple[str, str]:
    """Of the package and of its templates, read once: a process goes on with the code it began with."""
    return of_code(PACKAGE), of_code(TEMPLATES)


def files(run: Run, name: str) -> list[Path]:
    """The files of a stage that are there."""
    place = STAGES[name]
    found = (path for pattern in place.files for path in (run.folder / place.folder).glob(pattern))
    return sorted(path for path in found if path.is_file() and not is_marker(path.name))


def stage(run: Run, name: str, code: str = "", templates: str = "") -> LockedStage:
    folder = run.folder / STAGES[name].folder
    found = {str(path.relative_to(folder)): digest(path) for path in files(run, name)}
    return LockedStage(found, options(run, name), code, templates, digests())


def options(run: Run, name: str) -> dict[str, Any]:
    place = STAGES[name]
    paths = (run.folder / (place.noted_in or place.folder) / note for note in place.notes)
    notes = (own_note(path) for path in paths if path.is_file())
    return next((dict(note["options"]) for note in notes if "options" in note), {})


def state(run: Run, known: dict[str, LockedStage] | None = None) -> Lock:
    """The run as it is now, but for stages that are known."""
    check(run)
    (code, templates), known = own_code(), known or {}
    stages = {name: known.get(name) or stage(run, name, code, templates) for name in STAGES if files(run, name)}
    return Lock(digest(run.vocabulary_file) if run.vocabulary_file.is_file() else "", stages)


def check(run: Run) -> None:
    """Say so if this is no run."""
    if not any(files(run, name) for name in STAGES):
        run.vocabulary()


def lock(run: Run, *made: str) -> Lock:
    """Write the lock file. Stages just made are taken as they are; what was locked before is not looked at again."""
    known = read(run).stages if run.lock_file.is_file() else {}
    found = state(run, {name: own for name, own in known.items() if name not in made})
    with new_file(run.lock_file) as work:
        work.write_bytes(msgspec.json.format(msgspec.json.encode(found), indent=1) + b"\n")
    return found


def read(run: Run) -> Lock:
    check(run)
    path = run.lock_file
    if not path.is_file():
        raise BadInput.at(path, "there is no lock file; `questree verify RUN --write` makes one of the run as it is")
    try:
        return msgspec.json.decode(path.read_bytes(), type=Lock)
    except UNREADABLE as error:
        raise BadInput.at(path, f"not a lock file ({error})") from error


def unfinished(run: Run, name: str) -> bool:
    """Was whoever made this stage killed before it was locked? Without a lock file nobody can tell."""
    return run.lock_file.is_file() and name not in read(run).stages


def verify(run: Run) -> tuple[list[Fault], list[str]]:
    """What is not as the lock file and the notes of predictions, features and trained networks say: data that changed
    are faults, another code or other templates are notes."""
    locked, now = read(run), state(run)
    faults = [] if locked.vocabulary == now.vocabulary else [Fault(str(run.vocabulary_file), "has changed")]
    faults += [Fault(str(run.folder / file), said) for file, said in changes(by_path(locked), by_path(now))]
    notes = sorted(path for pattern in NOTED for path in run.folder.glob(pattern))
    faults += [fault for note in notes for fault in changed(note)]
    others: dict[str, list[str]] = {}  # what is said -> of which stages
    for name, was in locked.stages.items():
        for what in ("code", "templates"):
            if name in now.stages and getattr(was, what) != getattr(now.stages[name], what):
                others.setdefault(f"locked with other {what} ({getattr(was, what)[:8]})", []).append(name)
        for said in other_plugins(was.plugins, now.stages[name].plugins) if name in now.stages else ():
            others.setdefault(said, []).append(name)
    return faults, [f"{', '.join(names)}: {said}" for said, names in others.items()]


def other_plugins(was: dict[str, str], now: dict[str, str]) -> Iterator[str]:
    """Plugins a stage was made with that are others now; one that is only loaded now may not concern it."""
    for plugin, own in was.items():
        if plugin not in now:
            yield f"locked with the plugin {plugin} ({own[:8]}), which is not loaded"
        elif own != now[plugin]:
            yield f"locked with another {plugin} ({own[:8]})"


def by_path(lock: Lock) -> dict[str, str]:
    """Path inside the run -> digest, whatever stage a file was locked with."""
    folders = {name: STAGES[name].folder if name in STAGES else name for name in lock.stages}
    return {f"{folders[name]}/{file}": own for name, stage in lock.stages.items() for file, own in stage.files.items()}


def changes(was: dict[str, str], now: dict[str, str]) -> Iterator[tuple[str, str]]:
    for file in sorted(was.keys() | now.keys()):
        if file not in now:
            yield file, "is missing"
        elif file not in was:
            yield file, "is not in the lock file"
        elif was[file] != now[file]:
            yield file, "has changed"


class RunDifference(msgspec.Struct, frozen=True):
    place: str
    first: str
    second: str


def differences(one: Run, other: Run) -> Iterator[RunDifference]:
    """What differs between two runs, causes first: vocabulary, then stage by stage code, options and tables."""
    a, b = state(one), state(other)
    locked = [read(run) if run.lock_file.is_file() else now for run, now in ((one, a), (other, b))]
    if a.vocabulary != b.vocabulary:
        yield from vocabularies(one, other)
    for name in STAGES:
        was, now = a.stages.get(name), b.stages.get(name)
        if was is None or now is None:
            if was is not now:
                yield RunDifference(name, "there" if was else "not there", "there" if now else "not there")
            continue
        made = [lock.stages.get(name, LockedStage({})) for lock in locked]
        for what in ("code", "templates"):
            first, second = (getattr(stage, what)[:8] for stage in made)
            if first != second:
                yield RunDifference(f"{name}, {what}", first, second)
        yield from told(f"{name}, plugin", *(stage.plugins for stage in made))
        yield from told(f"{name}, option", flat(was.options), flat(now.options))
        if was.files != now.files:
            yield from contents(name, one, other)


def flat(options: dict[str, Any], before: str = "") -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in options.items():
        found |= flat(value, f"{before}{name} ") if isinstance(value, dict) else {before + name: str(value)}
    return found


def told(what: str, a: dict[str, str], b: dict[str, str]) -> Iterator[RunDifference]:
    for name in dict.fromkeys([*a, *b]):
        if a.get(name) != b.get(name):
            yield RunDifference(f"{what} {name}", a.get(name, "not there"), b.get(name, "not there"))


def vocabularies(one: Run, other: Run) -> Iterator[RunDifference]:
    if not (one.vocabulary_file.is_file() and other.vocabulary_file.is_file()):
        there = ["there" if run.vocabulary_file.is_file() else "not there" for run in (one, other)]
        yield RunDifference("vocabulary", *there)
        return
    for words in ("objects", "relations", "actions"):
        first, second = ({w.id: w for w in getattr(run.vocabulary(), words)} for run in (one, other))
        changed = [word for word in dict.fromkeys([*first, *second]) if first.get(word) != second.get(word)]
        if changed:
            few = ", ".join(changed[:5]) + (", ..." if len(changed) > 5 else "")
            yield RunDifference(f"vocabulary, {words}", f"{len(first)} words", f"{len(second)} words; other: {few}")
    if one.vocabulary().lists != other.vocabulary().lists:
        yield RunDifference("vocabulary, lists", "", "other")


def contents(name: str, one: Run, other: Run) -> Iterator[RunDifference]:
    """Rows of each table (all shards together), and how far two selections agree."""
    first, second = rows(one, name), rows(other, name)
    for table in dict.fromkeys([*first, *second]):
        same = first.get(table) == second.get(table)
        said = [f"{n[table]:,} rows" if table in n else "not there" for n in (first, second)]
        yield RunDifference(f"{name}, {table}", said[0], f"{said[1]}, other content" if same else said[1])
    if name in SELECTIONS:
        x, y = (SELECTIONS[name](run) for run in (one, other))
        both = len(x.join(y, on=x.columns, how="semi"))
        yield RunDifference(f"{name}, questions only here", f"{len(x) - both:,}", f"{len(y) - both:,}")


SELECTIONS: dict[str, Callable[[Run], pl.DataFrame]] = {
    "balanced": lambda run: read_balanced(run.balanced),
    "covr/balanced": lambda run: BALANCED.read(run.covr),
}


def rows(run: Run, name: str) -> dict[str, int]:
    """Rows per table of a stage; shards of a table are added up."""
    found: dict[str, int] = {}
    for path in (path for path in files(run, name) if path.suffix == ".parquet"):
        inner = path.relative_to(run.folder / STAGES[name].folder)
        sharded = inner.parent.name.isdigit() or of_image_sets(inner.parent)
        table = inner.stem if sharded else str(inner.with_suffix(""))
        found[table] = found.get(table, 0) + rows_in(path)
    return found
