"""`make chaos`: try to break everything, print one table (test, tried, failed), keep failing inputs."""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from chaos import pages
from chaos.at_once import at_once
from chaos.bombs import bombs
from chaos.corruption import COMMANDS, corrupted
from chaos.full_disk import full_disk
from chaos.fuzz import KEPT, Failure, fuzz
from chaos.hostile import hostile
from chaos.kills import SIGNALS, STAGES, kill_points, made
from chaos.readers import READERS, corpus
from chaos.sameness import same
from chaos.stores import killed_in_stores
from worlds import forked

Tests = Iterator[tuple[str, Iterable[Failure | None]]]


@dataclass(frozen=True)
class Extent:
    """How much is tried."""

    inputs: int
    first: int
    every: int
    only: tuple[str, ...]
    keep: Path
    kills: int  # of parts of a cluster
    pythons: tuple[str, ...] = ()
    ways: tuple[str, ...] = ("",)

    def wants(self, name: str) -> bool:
        return name.startswith(self.only)


def main() -> int:
    options = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    options.add_argument("--inputs", type=int, default=2000, help="damaged files per reader")
    options.add_argument("--first", type=int, default=0, help="seed of the first of them")
    options.add_argument("--every", type=int, default=1, help="kill before every n-th operation on files")
    options.add_argument("--only", nargs="+", default=("",), help="tests whose name begins so")
    options.add_argument("--kills", type=int, default=50, help="kills of workers and schedulers of a cluster")
    options.add_argument("--keep", type=Path, default=KEPT, help="where files that break a reader are kept")
    options.add_argument("--pythons", nargs="+", default=(), help="other interpreters that must make the same bytes")
    options.add_argument("--ways", nargs="+", default=("",), help="ways to make the same bytes whose name begins so")
    given = options.parse_args()
    extent = Extent(
        given.inputs,
        given.first,
        given.every,
        tuple(given.only),
        given.keep,
        given.kills,
        tuple(given.pythons),
        tuple(given.ways),
    )
    failed = 0
    with tempfile.TemporaryDirectory(prefix="questree-chaos-") as place:
        print(f"{'test':48} {'tried':>7} {'failed':>7}", flush=True)
        for group in (damaged, page_attacks, same_bytes, full, together, cluster, kills, stores):
            for name, results in group(Path(place), extent):
                failed += told(name, results)
    print(f"{failed:,} failures" if failed else "nothing broke")
    return failed > 0


def told(name: str, results: Iterable[Failure | None]) -> int:
    """The row of a test, how many failed; who interrupts it is told how far it came."""
    tried, wrong = 0, list[Failure]()
    try:
        for failure in results:
            tried += 1
            wrong += [failure] if failure else []
    finally:
        print(f"{name:48} {tried:7,} {len(wrong):7,}", flush=True)
        for failure in wrong[:20]:
            print(f"    {failure.test}: {failure.input}: {failure.why}", flush=True)
    return len(wrong)


def damaged(place: Path, extent: Extent) -> Tests:
    readers = {f"damaged files: {name}": name for name in READERS}
    runs = {f"damaged runs: {name}": name for name in COMMANDS}
    wanted = [title for title in (*readers, *runs, "bombs") if extent.wants(title)]
    files, seeds = place / "files" / "corpus", range(extent.first, extent.first + extent.inputs)
    with patch("questree.workers.ProcessPoolExecutor", forked.one_thread):
        if wanted:
            corpus(files)
        for title in wanted:
            if title in readers:
                yield title, fuzz(files, readers[title], seeds, extent.keep)
            elif title == "bombs":
                yield title, bombs(files)
            else:
                yield title, corrupted(files, runs[title])


def page_attacks(place: Path, extent: Extent) -> Tests:
    folder, seeds = place / "pages" / "runs", range(extent.first, extent.first + extent.inputs)
    tests: dict[str, Callable[[], Iterable[Failure | None]]] = {
        "page attacks: pages": lambda: pages.page(folder),
        "page attacks: people": lambda: pages.people(folder),
        "page attacks: bots": lambda: pages.bots(folder),
        "page attacks: hostile names": lambda: pages.names(folder, most=1000),
        "page attacks: hostile names in a browser": lambda: pages.in_browser(folder, most=12),
        "page attacks: slow clients": lambda: pages.slow(folder),
        "page attacks: damaged requests": lambda: pages.damaged_requests(folder, seeds),
    }
    wanted = [title for title in tests if extent.wants(title)]
    if wanted:
        hostile(folder)
    for title in wanted:
        yield title, tests[title]()


def same_bytes(place: Path, extent: Extent) -> Tests:
    if extent.wants("same bytes"):
        yield "same bytes", same(place / "same", extent.pythons, extent.ways)


def full(place: Path, extent: Extent) -> Tests:
    """Commands before a wanted one are done, with all the room there is."""
    wanted = [command for command in STAGES if extent.wants(f"full disk: {command.split(' --')[0]}")]
    if wanted:
        before = STAGES[: STAGES.index(wanted[-1]) + 1]
        for command, found in full_disk(place / "full" / "work", before, wanted):
            yield f"full disk: {command.split(' --')[0]}", found


def together(place: Path, extent: Extent) -> Tests:
    for title, results in at_once(place / "at once"):
        if extent.wants(title):
            yield title, results


def cluster(place: Path, extent: Extent) -> Tests:
    title = "cluster: killed and stopped workers, schedulers"
    if extent.wants(title):
        from chaos.cluster import cluster_kills  # needs Dask

        yield title, cluster_kills(place / "cluster", extent.kills)


def kills(place: Path, extent: Extent) -> Tests:
    """Stages that are not wanted are made once, for those that are."""
    for how in SIGNALS:
        titles = {f"{how}: {command.split(' --')[0]}": command for command in STAGES}
        work, left = place / how / "work", sum(map(extent.wants, titles))
        for title, command in titles.items():
            work.mkdir(parents=True, exist_ok=True)
            if extent.wants(title):
                left -= 1
                yield title, kill_points(work, command, how, extent.every)
            elif left:
                made(work, command)


def stores(place: Path, extent: Extent) -> Tests:
    if extent.wants("killed in a store"):
        yield "killed in a store", killed_in_stores(place / "stores", extent.every)


if __name__ == "__main__":
    os.environ.setdefault("RUST_BACKTRACE", "0")
    sys.exit(main())
