"""`questree build`: every stage from raw files to a decomposed, balanced, split benchmark, with defaults."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, say, watching, write_json
from questree.faults import BadInput
from questree.sources.catalogue import SOURCES, kind_of
from questree.tables.run import Run

MADE = {  # stage -> its folder in the run, and what is counted there: a table, or all of them
    "ingest": ("raw", "videos"),
    "augment": ("facts", "actions"),
    "generate": ("questions", "questions"),
    "balance": ("balanced", ""),
    "decompose": ("decomposed", "nodes"),
}


def build(
    folder: Annotated[Path, Parameter(help="Folder with the raw files (json: a file or a folder of them).")],
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Run folder to write.")],
    source: Annotated[
        str | None, Parameter(help="What kind of raw files, as in `ingest`; told by their names without it.")
    ] = None,
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file; AGQA's words without it.")] = None,
    fps: Annotated[float | None, Parameter(name="--fps", help="Frames per second, as in `ingest`.")] = None,
    tables: Annotated[bool, Parameter(negative="", help="Print what each stage's own command prints.")] = False,
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Raw files into a benchmark: ingest, augment, generate, balance, split, decompose; each with its defaults."""
    kind = source or kind_of(folder)
    known = [name for name, own in SOURCES.items() if own.medium == "video"]
    if kind not in known:
        raise BadInput.at("--source", f"expected a source of videos, got {kind!r}; choose from {', '.join(known)}")
    given: dict[str, Any] = {"vocabulary": vocabulary} | ({"fps": fps} if fps is not None else {})
    if fps is not None and not SOURCES[kind].rated:
        raise BadInput.at("--fps", f"raw files of the kind {kind} say their seconds themselves")
    silent = quiet or not tables
    steps = stages(folder, out, kind, workers, given, silent)
    seconds: dict[str, float] = {}
    made: dict[str, int] = {}
    with watching(quiet or not silent):  # stages that speak show their own progress
        for number, (name, work) in enumerate(steps.items(), 1):
            begin = time.monotonic()
            say(f"\n{number}/{len(steps)} {name}", silent)
            work()
            seconds[name] = round(time.monotonic() - begin, 2)
            said = ""
            if name in MADE:
                made[name] = counted(Run(out), *MADE[name])
                said = f"{made[name]:,} {MADE[name][1] or 'questions kept'}, "
            say(f"{number}/{len(steps)} {name}: {said}{seconds[name]:.1f} s", quiet)
    say(f"wrote {out}", quiet)
    write_json(json, {"out": str(out), "source": kind, "made": made, "seconds": seconds})


def counted(run: Run, stage: str, table: str) -> int:
    """Rows a stage made."""
    from questree.tables.lock import rows

    found = rows(run.folder / stage)
    return found[table] if table else sum(found.values())


def stages(
    folder: Path, out: Path, source: str, workers: int, given: dict[str, Any], quiet: bool
) -> dict[str, Callable[[], None]]:
    """Each stage is its command; when they are silent the progress of all of them is shown in one place."""
    from questree.cli.augment import augment
    from questree.cli.balance import balance
    from questree.cli.decompose import decompose_command
    from questree.cli.generate import generate_command
    from questree.cli.ingest import command
    from questree.cli.split import split

    read = command(SOURCES[source])
    return {
        "ingest": lambda: read(folder, out=out, quiet=quiet, **given),
        "augment": lambda: augment(out, quiet=quiet),
        "generate": lambda: generate_command(out, text=True, workers=workers, quiet=quiet),
        "balance": lambda: balance(out, workers=workers, quiet=quiet),
        "split": lambda: split(out, workers=workers, quiet=quiet),
        "decompose": lambda: decompose_command(out, train_set=True, workers=workers, quiet=quiet),
    }
