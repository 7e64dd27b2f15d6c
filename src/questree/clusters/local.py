"""A Dask cluster on this machine: a scheduler in this process, workers in processes that end with it."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Scheduler, SpecCluster
from distributed.deploy.subprocess import SubprocessWorker
from distributed.system import MEMORY_LIMIT

HERE = "127.0.0.1"
SILENT = {"DASK_LOGGING__DISTRIBUTED": "critical"}  # what matters is said by the stage, in one line
UNWATCHED = {"DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False"}  # a look at the stack every 10 ms, for a dashboard
READY = ("numba", "questree.stages.generate.shards")  # imported while the client still reads what there is to do
APART = {"distributed.scheduler.worker-saturation": 1.0}  # a shard waits for no worker that another one may kill
THREADS = ("OMP", "OPENBLAS", "MKL", "NUMBA")
ONE_EACH = {"POLARS_MAX_THREADS": "1"} | {f"{name}_NUM_THREADS": "1" for name in THREADS}  # a worker is a core


class LocalWorker(SubprocessWorker):  # type: ignore[misc]
    """A worker under a nanny that starts it again if it dies; Ctrl-C is the parent's business."""

    async def _start(self) -> None:
        given = json.dumps({"cls": self.worker_class, "opts": self.worker_kwargs})
        command = [sys.executable, "-m", "dask", "spec", self.scheduler, "--spec", given]
        quiet = asyncio.subprocess.DEVNULL
        self.process = await asyncio.create_subprocess_exec(
            *command, env=ONE_EACH | UNWATCHED | os.environ | SILENT, start_new_session=True, stdout=quiet, stderr=quiet
        )


@contextmanager
def local_cluster(workers: int) -> Iterator[Any]:
    own = {"nthreads": 1, "memory_limit": MEMORY_LIMIT // workers, "host": HERE, "dashboard": False, "preload": READY}
    with dask.config.set(APART):
        cluster = SpecCluster(
            scheduler={"cls": Scheduler, "options": {"host": HERE, "dashboard_address": f"{HERE}:0"}},
            workers={at: {"cls": LocalWorker, "options": {"worker_kwargs": own}} for at in range(workers)},
            silence_logs="critical",
            name="questree",
        )
    with cluster:
        yield cluster
