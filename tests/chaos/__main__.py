"""`make chaos`: try to break everything, print one table (test, tried, failed), keep failing inputs."""

import argparse
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from unittest.mock import patch

from chaos.corruption import COMMANDS, corrupted
from chaos.fuzz import Failure, fuzz
from chaos.kills import SIGNALS, STAGES, kill_points
from chaos.readers import READERS, corpus
from chaos.sameness import same
from worlds.forked import one_thread


def main() -> int:
    options = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    options.add_argument("--inputs", type=int, default=2000, help="damaged files per reader")
    options.add_argument("--first", type=int, default=0, help="seed of the first of them")
    options.add_argument("--every", type=int, default=1, help="kill before every n-th operation on files")
    options.add_argument("--only", default="", help="tests whose name begins so")
    given = options.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="questree-chaos-") as place:
        print(f"{'test':44} {'tried':>7} {'failed':>7}", flush=True)
        for name, results in tests(Path(place), given.inputs, given.first, given.every):
            if not name.startswith(given.only):
                continue
            found = list(results)
            wrong = [failure for failure in found if failure]
            print(f"{name:44} {len(found):7,} {len(wrong):7,}", flush=True)
            for failure in wrong[:20]:
                print(f"    {failure.test}: {failure.input}: {failure.why}", flush=True)
            failed += len(wrong)
    print(f"{failed:,} failures" if failed else "nothing broke")
    return failed > 0


def tests(place: Path, inputs: int, first: int, every: int) -> Iterator[tuple[str, Iterable[Failure | None]]]:
    files = place / "files" / "corpus"
    with patch("questree.workers.ProcessPoolExecutor", one_thread):
        corpus(files)
        for name in READERS:
            yield f"damaged files: {name}", fuzz(files, name, range(first, first + inputs))
        for name in COMMANDS:
            yield f"damaged runs: {name}", corrupted(files, name)
    yield "same bytes", same(place / "same")
    for how in SIGNALS:
        work = place / how / "work"
        work.mkdir(parents=True)
        for command in STAGES:
            yield f"{how}: {command.split(' --')[0]}", kill_points(work, command, how, every)


if __name__ == "__main__":
    os.environ.setdefault("RUST_BACKTRACE", "0")
    sys.exit(main())
