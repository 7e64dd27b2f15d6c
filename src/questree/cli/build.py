"""`questree build`: every stage from raw files to a decomposed, balanced, split benchmark, with defaults."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, say, watching, write_json


def build(
    folder: Annotated[Path, Parameter(help="Folder with the raw files (json: a file or a folder of them).")],
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Run folder to write.")],
    source: Annotated[
        Literal["action-genome", "agqa", "star", "json"], Parameter(help="What kind of raw files, as in `ingest`.")
    ] = "action-genome",
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Raw files into a benchmark: ingest, augment, generate, balance, split, decompose; each with its defaults."""
    steps = stages(folder, out, source, workers)
    seconds: dict[str, float] = {}
    with watching(quiet):
        for number, (name, work) in enumerate(steps.items(), 1):
            begin = time.monotonic()
            work()
            seconds[name] = round(time.monotonic() - begin, 2)
            say(f"{number}/{len(steps)} {name}: {seconds[name]:.1f} s", quiet)
    say(f"wrote {out}", quiet)
    write_json(json, {"out": str(out), "seconds": seconds})


def stages(folder: Path, out: Path, source: str, workers: int) -> dict[str, Callable[[], None]]:
    """Each stage is its command, made silent; the progress of all of them is shown in one place."""
    from questree.cli import ingest
    from questree.cli.augment import augment
    from questree.cli.balance import balance
    from questree.cli.decompose import decompose_command
    from questree.cli.generate import generate_command
    from questree.cli.split import split

    read: Callable[..., None] = getattr(ingest, source.replace("-", "_"))
    return {
        "ingest": lambda: read(folder, out=out, quiet=True),
        "augment": lambda: augment(out, quiet=True),
        "generate": lambda: generate_command(out, text=True, workers=workers, quiet=True),
        "balance": lambda: balance(out, workers=workers, quiet=True),
        "split": lambda: split(out, workers=workers, quiet=True),
        "decompose": lambda: decompose_command(out, train_set=True, workers=workers, quiet=True),
    }
