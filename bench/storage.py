"""`make bench NAME=storage`: what stages cost at a URL beside a disk: processor time, requests, bytes moved."""

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any
from unittest.mock import patch
from uuid import uuid4

from cyclopts import Parameter

from bench.runs import aside, cleaned
from bench.stages import Seed, Videos
from questree.cli.terminal import output, print_table, watching, write_json
from questree.places import fetched, forget, moved, path_of
from questree.tables.facts import Facts
from questree.tables.run import Run
from questree.tables.store import new_folder


@output
def storage(
    *,
    at: Annotated[str, Parameter(help="URL to write a run below, which is removed at the end.")] = "memory://bench",
    videos: Videos = 100,
    seed: Seed = 1,
) -> None:
    """Make a run on a disk and at a URL, a thread for the shards, and fetch it as another machine would."""
    place = TemporaryDirectory(prefix="questree-bench-")
    with watching(), place, patch.dict(os.environ, QUESTREE_CACHE=f"{place.name}/mirror"):
        folder = Path(place.name)
        source = aside(cleaned, folder, videos, seed)
        runs = (folder / "first", folder / "disk", path_of(f"{at}/{uuid4().hex}/run"))
        rows = list(compared(source, *map(Run, runs)))
    print_table(f"{videos:,} videos", rows)
    write_json(rows)


def compared(source: Run, first: Run, disk: Run, store: Run) -> Iterator[dict[str, Any]]:
    """A line per stage; `first` is not measured, as code is loaded and compiled there."""
    for name, work in STAGES.items():
        work(source, first)
        on_disk, before = busy(work, source, disk), moved()
        there, after = busy(work, source, store), moved()
        yield told(name, on_disk, there, before, after)
    forget()
    before = moved()
    with TemporaryDirectory(prefix="questree-bench-") as other, patch.dict(os.environ, QUESTREE_CACHE=other):
        run = path_of(str(store.folder))
        seconds = busy(lambda *_: fetched(run), source, store)
        yield told("fetch all of it", 0.0, seconds, before, moved())
        run.remove()  # type: ignore[attr-defined]


def busy(work: Callable[[Run, Run], object], source: Run, run: Run) -> float:
    """Processor seconds."""
    begin = time.process_time()
    work(source, run)
    return time.process_time() - begin


def told(name: str, disk: float, there: float, before: Any, after: Any) -> dict[str, Any]:
    sizes = {f"MB {way}": round((getattr(after, way) - getattr(before, way)) / 1e6, 2) for way in ("up", "down")}
    seconds = {"CPU s, disk": round(disk, 2), "CPU s, store": round(there, 2)}
    return {"stage": name, **seconds, "requests": after.requests - before.requests, **sizes}


def facts(source: Run, run: Run) -> None:
    with new_folder(run.folder) as work:
        Run(work).vocabulary_file.write_bytes(source.vocabulary_file.read_bytes())
    with new_folder(run.facts) as work:
        Facts.load(source.facts).save(work)


def generated(_: Run, run: Run) -> None:
    from questree.stages.generate.shards import GenerateOptions, generate

    generate(run, GenerateOptions(shard=16), pool=ThreadPoolExecutor(1))


def balanced(_: Run, run: Run) -> None:
    from questree.stages.balance.levelling import BalanceOptions
    from questree.stages.balance.rounds import balance

    balance(run, BalanceOptions(), 1)


def decomposed(_: Run, run: Run) -> None:
    from questree.stages.decompose.dag_shards import DecomposeOptions, decompose

    decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))


def locked(_: Run, run: Run) -> None:
    from questree.tables.lock import lock

    lock(run)


STAGES: dict[str, Callable[[Run, Run], None]] = {
    "facts": facts,
    "generate": generated,
    "balance": balanced,
    "decompose": decomposed,
    "lock": locked,
}
