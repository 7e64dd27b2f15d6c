"""The cluster that somebody names: a scheduler's address, or so many workers on this machine."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from distributed import Client
from distributed.utils import silence_logging_cmgr

from questree.clusters.local import local_cluster
from questree.clusters.pool import Connection, pool
from questree.clusters.task import check
from questree.faults import BadInput
from questree.workers import elsewhere

LOCAL = re.compile(r"local:([1-9]\d{0,3})")
ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://\S+")


@dataclass(frozen=True)
class Connected:
    connection: Connection

    @property
    def address(self) -> str:
        return str(self.connection.client.scheduler.address)

    @property
    def workers(self) -> int:
        return self.connection.insist(lambda client: len(client.scheduler_info(n_workers=-1)["workers"]))

    @property
    def watched_at(self) -> str:
        """Dask's dashboard."""
        return self.connection.insist(lambda client: str(client.dashboard_link))


@contextmanager
def connected(name: str) -> Iterator[Connected]:
    """Inside, stages work there."""
    local = LOCAL.fullmatch(name)
    if not local and not ADDRESS.fullmatch(name):
        wanted = "expected local:N or the address of a Dask scheduler as tcp://HOST:8786"
        raise BadInput.at("--cluster", f"{wanted}, got {name!r}")
    with ExitStack() as stack:
        where = stack.enter_context(local_cluster(int(local[1]))) if local else name
        stack.enter_context(silence_logging_cmgr("CRITICAL"))  # a scheduler that went away is waited for, or told
        found = stack.enter_context(_connection(name, where, compare=not local))
        stack.enter_context(elsewhere(partial(pool, found)))
        yield Connected(found)


@contextmanager
def _connection(name: str, where: Any, compare: bool) -> Iterator[Connection]:
    def connect(seconds: float) -> Client:
        return Client(where, timeout=seconds, set_as_default=False)

    try:
        found = Connection(connect)
        if compare:
            found.insist(check)
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput.at("--cluster", f"expected a scheduler that answers, got none at {name} ({said})") from error
    try:
        yield found
    finally:
        with suppress(Exception):  # whatever became of the cluster, the work is done or told
            found.client.close()
