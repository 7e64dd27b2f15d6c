"""The workers of a Dask cluster as an executor; what a lost worker or scheduler took with it is sent again."""

import pickle
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

from distributed import Client, KilledWorker

from questree.clusters.task import on_worker, versions
from questree.extensions import LOADED
from questree.places import forget
from questree.workers import LostTask

Result = TypeVar("Result")
PATIENCE = 120.0  # seconds in which a lost scheduler may come back
LOOK = 0.5  # seconds between two looks for it
NOBODYS = ("cancelled", "lost")  # states of a task that nobody has any more


@dataclass(frozen=True)
class SentTask:
    future: "Future[Any]"  # what the stage waits for
    name: str  # of the function, as Dask's dashboard shows it
    packed: bytes


class ClusterPool(Executor):
    """Tasks and results are small: shards are read and written by the workers."""

    def __init__(self, connection: "Connection"):
        self.connection, self.plugins = connection, {plugin: plugin.digest for plugin in LOADED.values()}
        self.sent = dict[SentTask, Any]()  # what is not done yet, as Dask's client has it
        self.guard, self.closed = threading.RLock(), threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, work: Callable[..., Result], /, *args: Any, **named: Any) -> "Future[Result]":
        task = SentTask(Future(), getattr(work, "__name__", "task"), pickle.dumps((work, args, named)))
        self._send(task)
        return task.future

    def _send(self, task: SentTask) -> None:
        key, client = f"{task.name}-{uuid4().hex}", self.connection.client
        sent = client.submit(on_worker, versions(), self.plugins, task.packed, key=key, pure=False)
        with self.guard:
            self.sent[task] = sent
        sent.add_done_callback(lambda done: self._received(task, done))

    def _received(self, task: SentTask, done: Any) -> None:
        with self.guard:
            known = self.sent.get(task) is done
            if not known or self.closed.is_set() or done.status in NOBODYS:
                return  # `_watch` sends it again
            del self.sent[task]
        forget()  # a worker may have delivered files
        with suppress(InvalidStateError):  # cancelled in the meantime
            if (error := done.exception()) is None:
                task.future.set_result(done.result())
            elif isinstance(error, KilledWorker):
                died = "its workers died, one after the other (killed, perhaps out of memory)"
                task.future.set_exception(LostTask(died))
            else:
                task.future.set_exception(error)

    def _watch(self) -> None:
        """Send again what a scheduler that went away had, or what was taken off a scheduler."""
        while not self.closed.wait(LOOK):
            broken = self.connection.broken()
            with self.guard:
                lost = [task for task, sent in self.sent.items() if broken or sent.status in NOBODYS]
            if not lost:
                continue
            try:
                self.connection.mend(self.closed)
                for task in lost:
                    self._send(task)
            except Exception as error:  # whatever it is, nobody waits for ever
                self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        with self.guard:
            left, self.sent = list(self.sent), {}
        said = " ".join(str(error).split())
        for task in left:
            with suppress(InvalidStateError):
                task.future.set_exception(LostTask(f"the scheduler of the cluster went away ({said})"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self.guard:
            self.closed.set()
            left, self.sent = self.sent, {}
        for task in left:
            task.future.cancel()
        if left and not self.connection.broken():
            self.connection.client.cancel(list(left.values()), force=True)


class Connection:
    """A client of a scheduler, or another one after the scheduler was started again."""

    def __init__(self, connect: Callable[[float], Client]):
        self.connect = connect
        self.client = connect(PATIENCE / 4)

    def broken(self) -> bool:
        comm = self.client.scheduler_comm
        return self.client.status != "running" or comm is None or comm.comm.closed()

    def mend(self, given_up: threading.Event) -> None:
        """Wait until there is a scheduler; the client looks for it itself unless it was told that it ends."""
        until = time.monotonic() + PATIENCE
        while self.client.status == "connecting" and time.monotonic() < until and not given_up.wait(LOOK):
            pass
        if self.broken() and not given_up.is_set():
            old = self.client
            self.client = self.connect(max(until - time.monotonic(), LOOK))
            with suppress(Exception):
                old.close(timeout=LOOK)


@contextmanager
def pool(connection: Connection) -> Iterator[ClusterPool]:
    """For one stage; if it is left by an error, what is not begun is not begun."""
    own = ClusterPool(connection)
    try:
        yield own
    finally:
        own.shutdown()
