"""The workers of a Dask cluster as an executor; what a lost worker or scheduler took with it is sent again."""

import io
import pickle
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
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
    lives: int = 1  # how often it is sent again after Dask has given it up


class TaskCost(NamedTuple):
    """What a task moved and took."""

    name: str
    sent: int  # bytes
    received: int
    seconds: float  # on the worker
    cpu_seconds: float
    peak: int  # bytes of memory that the worker ever had


class ClusterPool(Executor):
    """Tasks and results are small: shards are read and written by the workers."""

    def __init__(self, connection: "Connection"):
        self.connection, self.plugins = connection, {plugin: plugin.digest for plugin in LOADED.values()}
        self.sent = dict[SentTask, Any]()  # what is not done yet, as Dask's client has it
        self.guard, self.closed = threading.RLock(), threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def submit(self, work: Callable[..., Result], /, *args: Any, **named: Any) -> "Future[Result]":
        task = SentTask(Future(), getattr(work, "__name__", "task"), _packed((work, args, named)))
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
                found = done.result()
                self.connection.costs.append(TaskCost(task.name, len(task.packed), len(found.packed), *found[1:]))
                task.future.set_result(pickle.loads(zlib.decompress(found.packed)))
            elif isinstance(error, KilledWorker) and task.lives:  # it may have waited for workers that others killed
                self._send(replace(task, lives=task.lives - 1))
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


class _Packer(pickle.Pickler):
    """Paths are sent whole: workers are in folders of their own."""

    def reducer_override(self, thing: Any) -> Any:
        relative = type(thing) is type(Path()) and not thing.is_absolute()
        return (Path, (str(thing.absolute()),)) if relative else NotImplemented


def _packed(work: Any) -> bytes:
    with io.BytesIO() as found:
        _Packer(found).dump(work)
        return found.getvalue()


class Connection:
    """A client of a scheduler, or another one after the scheduler was started again."""

    def __init__(self, connect: Callable[[float], Client]):
        self.connect, self.costs = connect, list[TaskCost]()
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
