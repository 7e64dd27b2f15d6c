"""Workers and schedulers of a Dask cluster killed or stopped at random moments: the files are those of one process."""

import os
import random
import shlex
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from chaos.fuzz import Failure
from chaos.kills import content
from worlds.commands import questree, run
from worlds.dask_processes import PATIENCE, DaskProcesses, dask_processes

BEFORE = (
    "questree synth --out world --videos 6 --workers 1 --quiet",
    "questree ingest action-genome world --out run --quiet",
    "questree augment run --quiet",
)
STAGES = (  # each begins with what the ones before it wrote
    "generate run --shard 1 --phrases 9",
    "decompose run --all",
    "answer run --model composition-noise",
    "score run --resamples 0 --json scores.json",
    "export decomp run --out decomp",
)
WORKERS = 2
LONGEST = 2 * PATIENCE  # seconds a worker is stopped; the scheduler gives it up on the way, or does not


def cluster_kills(place: Path, kills: int, seed: int = 0, stages: int = len(STAGES)) -> Iterator[Failure | None]:
    """One item per kill: of ten about seven are of workers, two of the scheduler, and a worker is stopped for a while;
    what went wrong, or nothing."""
    drawn, states, seconds = random.Random(seed), list[Path](), list[float]()
    work = place / "0"
    work.mkdir(parents=True)
    for line in BEFORE:
        run(line, work)
    states.append(work)
    with dask_processes(WORKERS, place / "scratch") as cluster:
        cluster.pids()
        for at, command in enumerate(STAGES[:stages]):
            states.append(shutil.copytree(states[at], place / str(at + 1)))
            run(f"questree {command} --quiet", states[-1])
            begun = time.monotonic()
            again = shutil.copytree(states[at], place / "warm")  # what is compiled once is not what is killed
            run(f"questree {command} --quiet --cluster {cluster.address}", again)
            seconds.append(time.monotonic() - begun)
            shutil.rmtree(again)
        for number in range(kills):
            at = number % stages
            (kill,) = drawn.choices((_kill_worker, _kill_scheduler, _stop_worker), (7, 2, 1))
            moment = drawn.random() * seconds[at]
            yield _killed(place / "again", states[at : at + 2], STAGES[at], cluster, kill, moment, drawn)


def _killed(
    folder: Path,
    states: list[Path],
    command: str,
    cluster: DaskProcesses,
    kill: Callable[[DaskProcesses, random.Random], None],
    moment: float,
    drawn: random.Random,
) -> Failure | None:
    shutil.copytree(states[0], folder)
    cluster.pids()  # all workers are there
    timer = threading.Timer(moment, kill, (cluster, drawn))
    timer.start()
    done = questree(*shlex.split(command), "--quiet", "--cluster", cluster.address, folder=folder)
    timer.join()
    found, wanted = content(folder), content(states[1])
    shutil.rmtree(folder)
    why = f"says {done.stderr.strip()[:200]}" if done.returncode else ""
    other = [name for name in sorted(found.keys() | wanted.keys()) if found.get(name) != wanted.get(name)]
    why = why or (f"{other[0]} is another" if other else "")
    return Failure(f"{command.split(' --')[0]}, {kill.__name__}", f"after {moment:.2f} s", why) if why else None


def _kill_worker(cluster: DaskProcesses, drawn: random.Random) -> None:
    with suppress(ProcessLookupError):
        os.kill(drawn.choice(cluster.pids()), signal.SIGKILL)


def _stop_worker(cluster: DaskProcesses, drawn: random.Random) -> None:
    """As a slow one: it goes on when others may have done its work."""
    worker = drawn.choice(cluster.pids())
    with suppress(ProcessLookupError):
        os.kill(worker, signal.SIGSTOP)
        time.sleep(drawn.random() * LONGEST)
        os.kill(worker, signal.SIGCONT)


def _kill_scheduler(cluster: DaskProcesses, drawn: random.Random) -> None:
    """And start another one at the same address, with new workers."""
    cluster.stop()
    cluster.start()
