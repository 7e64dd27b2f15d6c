"""What a benchmark measures: how long a piece of work takes, how many rows it makes, how much memory it needs."""

import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

EVERY = 0.05  # seconds between two looks at the memory


@dataclass(frozen=True)
class Measurement:
    name: str
    size: int
    seconds: float
    rows: int
    rows_per_second: float
    cpu_seconds: float  # of this process and its children
    peak_rss_bytes: int  # this process and its children together

    def __str__(self) -> str:
        return (
            f"{self.name}: size {self.size:,}, {self.seconds:.2f} s, {self.rows:,} rows, "
            f"{self.rows_per_second:,.0f} rows/s, {1e6 * self.cpu_seconds / max(self.rows, 1):.2f} us CPU per row, "
            f"peak {self.peak_rss_bytes / 2**20:,.0f} MiB"
        )


def measure(name: str, size: int, work: Callable[[], int]) -> Measurement:
    """Do the work, which returns the number of rows it made."""
    with _memory() as peak:
        begin, busy = time.perf_counter(), _busy()
        rows = work()
        seconds, busy = time.perf_counter() - begin, _busy() - busy
    return Measurement(name, size, seconds, rows, rows / seconds, busy, peak[0])


def _busy() -> float:
    """Processor seconds so far, of this process and of the children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def _memory() -> Iterator[list[int]]:
    """The peak so far, in a list of one; looked at all the time where /proc tells, else as the system sums it up."""
    peak, done = [_resident()], threading.Event()

    def look() -> None:
        while not done.wait(EVERY):
            peak[0] = max(peak[0], _resident())

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        done.set()
        watcher.join()
        if not peak[0]:  # no /proc: the system knows the peaks of this process and of its largest child
            peak[0] = _system(resource.RUSAGE_SELF) + _system(resource.RUSAGE_CHILDREN)


def _system(who: int) -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(who).ru_maxrss * unit


def _resident() -> int:
    own = Path("/proc/self/task")
    if not own.is_dir():
        return 0
    children = [pid for task in own.iterdir() for pid in _read(task / "children").split()]
    return sum(_pages(_read(Path(f"/proc/{pid}/statm"))) for pid in ["self", *children])


def _pages(statm: str) -> int:
    return int(statm.split()[1]) * resource.getpagesize() if statm else 0


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended meanwhile
        return ""
