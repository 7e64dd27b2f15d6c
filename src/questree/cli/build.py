"""`questree build`: every stage from raw files to a decomposed, balanced, split benchmark, with defaults."""

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.benchmarks import BENCHMARKS, COVR, STAGES, Benchmark
from questree.cli.ingest import Settings, settings
from questree.cli.shared_options import (
    ClosedWorldOption,
    PhrasesOption,
    ShardOption,
    WithoutOption,
    WorkersOption,
)
from questree.cli.terminal import is_quiet, output, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.sources.catalogue import SOURCES, kind_of
from questree.tables.run import Run

READ = {  # benchmark -> stages before its questions: files in the run, and the table whose rows are counted
    "agqa": {"ingest": ("raw", "videos"), "augment": ("facts", "actions")},
    "covr": {"ingest": ("images", "images")},
}
COUNTED = {"generate": "questions", "balance": "", "decompose": "nodes"}  # of what a stage makes; "" for all of it


@output
def build(
    folder: Annotated[Path, Parameter(help="Folder with the raw files (json, images: a file or a folder of them).")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Run folder to write.")],
    source: Annotated[
        str | None, Parameter(help="Kind of raw files, as in `ingest`. [default: told by their names]")
    ] = None,
    vocabulary: Annotated[Path | None, Parameter(help="Videos: vocabulary file. [default: AGQA's words]")] = None,
    fps: Annotated[float | None, Parameter(help="Videos: frames per second, as in `ingest`.")] = None,
    set: Settings = None,
    questions: Annotated[
        int | None, Parameter(help="Image sets: largest number of questions, as in `generate`.")
    ] = None,
    without: WithoutOption = (),
    closed_world: ClosedWorldOption = False,
    text: Annotated[
        bool | None, Parameter(help="Videos: write every question's text, or not. [default: --text]")
    ] = None,
    shard: ShardOption = None,
    phrases: PhrasesOption = None,
    as_released: Annotated[
        bool,
        Parameter(negative="", help="Videos: do as AGQA's release does, in `augment` and in `split`."),
    ] = False,
    tables: Annotated[bool, Parameter(negative="", help="Print what each stage's own command prints.")] = False,
    workers: WorkersOption = 2,
) -> None:
    """Raw files of videos or images into a benchmark, every stage with its defaults.

    Videos: ingest, augment, generate, balance, split, decompose. Images: the same without augment.
    """
    from questree.api.augmenting import left_out as rules_left_out
    from questree.tables.lock import rows

    kind = source or kind_of(folder)
    if kind not in SOURCES:
        raise BadInput.at("--source", f"expected a source, got {kind!r}; choose from {', '.join(SOURCES)}")
    given: dict[str, Any] = {"vocabulary": vocabulary, "fps": fps, "set": set, "questions": questions}
    given |= {"without": without or None, "closed_world": closed_world or None}
    given |= {"text": text, "shard": shard, "phrases": phrases, "as_released": as_released or None}
    settings(SOURCES[kind], set or [])
    refuse_foreign(kind, given)
    rules_left_out(out, without or ())
    silent = is_quiet() or not tables
    own = next(one for one in BENCHMARKS.values() if one.domain == SOURCES[kind].medium)
    steps = stages(folder, out, kind, own, workers, given)
    counts = READ[own.name] | {name: (own.locked(STAGES[name][1]), table) for name, table in COUNTED.items()}
    remarks = {name: told for name, told in REMARKS.items() if own is not COVR or name == "ingest"}
    seconds: dict[str, float] = {}
    made: dict[str, int] = {}
    with watching() if silent else nullcontext():  # stages that speak show their own progress
        for number, (name, work) in enumerate(steps.items(), 1):
            begin = time.monotonic()
            if not silent:
                say(f"\n{number}/{len(steps)} {name}")
            work(quiet=silent)
            seconds[name] = round(time.monotonic() - begin, 2)
            said = ""
            if name in counts:
                stage, table = counts[name]
                found = rows(Run(out), stage)
                made[name] = found[table] if table else sum(found.values())
                said = f"{made[name]:,} {table or 'questions kept'}, "
            say(f"{number}/{len(steps)} {name}: {said}{seconds[name]:.1f} s")
            if made.get(name) == 0:
                say(f"    nothing is left here; `questree {name} {out}` says why")
            for line in remarks[name](Run(out)) if name in remarks and silent else ():
                say(f"    {line}")
    say(f"wrote {out}")
    write_json({"out": str(out), "source": kind, "made": made, "seconds": seconds})


def not_read(run: Run) -> Iterator[str]:
    """What ingestion left out or found odd."""
    from questree.sources.runs import left_out

    facts = run.raw if run.raw.is_dir() else run.images
    yield from (
        f"left out or odd: {what} ({'once' if times == 1 else f'{times:,} times'})"
        for what, times in left_out(facts).items()
    )


def cleaned(run: Run) -> Iterator[str]:
    """What cleaning removed, and of which classes it removed much."""
    from questree.api.augmenting import removals, warnings

    record = msgspec.json.decode(run.ledger.read_bytes())
    yield f"removed: {removals(record)}"
    yield from warnings(record)


def not_asked(run: Run) -> Iterator[str]:
    """What videos without annotated relations are not asked."""
    from questree.stages.generate.annotated import told

    yield from told(run)


def odd_splits(run: Run) -> Iterator[str]:
    """Splits there are no words for, and what is odd about the others."""
    from questree.stages.split.recipes import warnings

    report = msgspec.json.decode((run.folder / "splits" / "report.json").read_bytes())
    yield from (f"{name}: {why}" for name, why in report.get("left out", {}).items())
    yield from map(str, warnings(said for made in report["splits"] for said in made["warnings"]))


REMARKS: dict[str, Callable[[Run], Iterator[str]]] = {
    "ingest": not_read,
    "augment": cleaned,
    "generate": not_asked,
    "split": odd_splits,
}


def refuse_foreign(kind: str, given: dict[str, Any]) -> None:
    """Options that say something the raw files say themselves, or that are for the other medium."""
    own = SOURCES[kind]
    if given["fps"] is not None and not own.rated:
        known = ", ".join(name for name, source in SOURCES.items() if source.rated)
        raise BadInput.at("--fps", f"expected raw files without seconds, got {kind}; choose from {known}")
    own_options = ("vocabulary", "without", "closed_world", "text", "shard", "phrases", "as_released")
    media = dict.fromkeys(own_options, "video") | {"questions": "images"}
    wrong = [name for name, medium in media.items() if given[name] is not None and own.medium != medium]
    refuse(
        [
            Fault(f"--{name.replace('_', '-')}", f"expected raw files of {media[name]}, got {own.medium} ({kind})")
            for name in wrong
        ]
    )


def stages(
    folder: Path, out: Path, source: str, own: Benchmark, workers: int, given: dict[str, Any]
) -> dict[str, Callable[..., None]]:
    """Each stage is its command; when they are silent the progress of all of them is shown in one place."""
    from questree.cli.augment import augment
    from questree.cli.ingest import command
    from questree.cli.stages import balance, decompose_command, generate_command, split
    from questree.stages.augment import AugmentOptions

    cleaning = AugmentOptions(as_released=bool(given["as_released"]))
    images = own is COVR
    known = {name: given[name] for name in ("vocabulary", "fps", "set") if given[name] is not None}
    common: dict[str, Any] = {"benchmark": own.name, "workers": workers}
    asked = {"questions": given["questions"]} if images else {name: given[name] for name in ("shard", "phrases")}
    asked |= {} if images else {"text": given["text"] is not False, "closed_world": bool(given["closed_world"])}
    return {
        "ingest": partial(command(SOURCES[source]), folder, out=out, **known),
        **({} if images else {"augment": partial(augment, out, options=cleaning, without=given["without"] or ())}),
        "generate": partial(generate_command, out, **asked, **common),
        "balance": partial(balance, out, **common),
        "split": partial(split, out, as_released=bool(given["as_released"]), **common),
        "decompose": partial(decompose_command, out, train_set=not images, **common),
    }
