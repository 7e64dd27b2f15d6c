"""A Dask cluster in processes of its own, as somebody's `dask scheduler` and `dask worker`, to be killed."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from distributed import Client

HERE = "127.0.0.1"
PATIENCE = 10  # seconds after which the scheduler gives up a worker that says nothing
QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "critical",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": f"{PATIENCE}s",
    "PYTHONPATH": os.pathsep.join(sys.path),
}


class DaskProcesses:
    def __init__(self, workers: int, folder: Path):
        with socket.socket() as free:
            free.bind((HERE, 0))
            self.port = free.getsockname()[1]
        self.workers, self.folder, self.running = workers, folder, list[subprocess.Popen[bytes]]()
        self.start()

    @property
    def address(self) -> str:
        return f"tcp://{HERE}:{self.port}"

    def start(self) -> None:
        scheduler = ["scheduler", "--host", HERE, "--port", str(self.port), "--no-dashboard"]
        own = ["--nworkers", str(self.workers), "--nthreads", "1", "--no-dashboard", "--local-directory", self.folder]
        self.folder.mkdir(parents=True, exist_ok=True)
        how: dict[str, Any] = {"env": os.environ | QUIET, "cwd": self.folder, "start_new_session": True}
        for words in (scheduler, ["worker", self.address, *map(str, own)]):
            command, quiet = [sys.executable, "-m", "dask", *words], subprocess.DEVNULL
            self.running.append(subprocess.Popen(command, stdout=quiet, stderr=quiet, **how))

    def client(self) -> Any:
        return Client(self.address, timeout=60, set_as_default=False)

    def pids(self) -> list[int]:
        """Of the processes that work, when all are there."""
        with self.client() as client:
            try:
                while True:  # one that was killed is known for a moment
                    client.wait_for_workers(self.workers, timeout=60)
                    found = client.run(os.getpid, on_error="ignore")
                    if len(found) == self.workers:
                        return sorted(found.values())
                    time.sleep(0.2)
            except TimeoutError:  # a nanny gives up a worker that takes long to start, as on a busy machine
                pass
        self.stop()
        self.start()
        return self.pids()

    def stop(self) -> None:
        """Whole groups of processes: a worker is the child of its nanny."""
        for process in self.running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.running.clear()


@contextmanager
def dask_processes(workers: int, folder: Path) -> Iterator[DaskProcesses]:
    found = DaskProcesses(workers, folder)
    try:
        yield found
    finally:
        found.stop()
