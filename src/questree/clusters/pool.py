"""The workers of a Dask cluster as an executor; what a lost worker or scheduler took with it is sent again."""

import asyncio
import io
import os
import pickle
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future, InvalidStateError
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from distributed import Client, KilledWorker

from questree.clusters.task import WorkDone, on_worker, versions
from questree.extensions import LOADED
from questree.places import forget
from questree.tables.store import TIMES
from questree.workers import LostTask

Result = TypeVar("Result")
Thing = TypeVar("Thing")
PATIENCE = 120.0  # seconds in which a lost scheduler may come back
LOOK = 0.5  # seconds between two looks for it
BATCH = 1000  # tasks in a message to the scheduler
NOBODYS = ("cancelled", "lost")  # states of a task that nobody has any more
AWAY = (OSError, TimeoutError, CancelledError, asyncio.CancelledError)  # a result whose worker or scheduler went away


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
    """Tasks and results are small: shards are read and written by the workers.

    One thread sends what is new and receives what is done, as much at once as there is: a request per task would cost
    the scheduler more than the task.
    """

    def __init__(self, connection: "Connection"):
        self.connection, self.plugins = connection, {plugin: plugin.digest for plugin in LOADED.values()}
        self.new, self.done = list[SentTask](), list[tuple[SentTask, Any]]()  # since the thread last looked
        self.sent = dict[SentTask, Any]()  # what is not done yet, as Dask's client has it; none if it could not be sent
        self.news, self.closed = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def submit(self, work: Callable[..., Result], /, *args: Any, **named: Any) -> "Future[Result]":
        task = SentTask(Future(), getattr(work, "__name__", "task"), _packed((work, args, named)))
        self.new.append(task)
        self.news.set()
        return task.future

    def _serve(self) -> None:
        looked = time.monotonic()
        while not self.closed.is_set():
            self.news.wait(LOOK)
            self.news.clear()
            try:
                self._send(_taken(self.new))
                self._receive(_taken(self.done))
                if time.monotonic() > looked + LOOK:
                    self._send_lost()
                    looked = time.monotonic()
            except Exception as error:  # whatever it is, nobody waits for ever
                self._give_up(error)

    def _send(self, tasks: list[SentTask]) -> None:
        self.sent |= dict.fromkeys(tasks)
        if not tasks or self.connection.broken():
            return
        keys, packed = [f"{task.name}-{uuid4().hex}" for task in tasks], [task.packed for task in tasks]
        same = {"wanted": versions(), "plugins": self.plugins, "times": os.environ.get(TIMES, "")}
        found = self.connection.client.map(on_worker, packed, key=keys, pure=False, batch_size=BATCH, **same)
        for task, sent in zip(tasks, found, strict=True):
            self.sent[task] = sent
            self._call_back(task, sent)

    def _call_back(self, task: SentTask, sent: Any) -> None:
        def note(done: Any) -> None:
            self.done.append((task, done))
            self.news.set()

        sent.add_done_callback(note)

    def _receive(self, done: list[tuple[SentTask, Any]]) -> None:
        known = [(task, sent) for task, sent in done if self._awaited(task, sent)]
        if known:
            forget()  # a worker may have delivered files
        for task, sent in known:
            if sent.status == "error":
                self._failed(task, sent.exception())
        ready = {task: sent for task, sent in known if sent.status == "finished"}
        for task, found in zip(ready, self._fetched(list(ready.values())), strict=False):
            del self.sent[task]
            self.connection.costs.append(TaskCost(task.name, len(task.packed), len(found.packed), *found[1:]))
            with suppress(InvalidStateError):  # cancelled in the meantime
                task.future.set_result(pickle.loads(zlib.decompress(found.packed)))
        for task, sent in known:
            if self._awaited(task, sent):  # lost again with the worker that had it
                self._call_back(task, sent)

    def _awaited(self, task: SentTask, sent: Any) -> bool:
        """What nobody has any more is sent again by `_send_lost`."""
        return sent.status not in NOBODYS and self.sent.get(task) is sent

    def _fetched(self, ready: list[Any]) -> list[WorkDone]:
        """Nothing, if they are lost again."""
        client = self.connection.client
        try:
            return list(client.sync(client._gather, ready, callback_timeout=PATIENCE)) if ready else []
        except (Exception, *AWAY) as error:
            if not isinstance(error, AWAY) and all(sent.status == "finished" for sent in ready):
                raise
        self.closed.wait(LOOK)
        return []

    def _failed(self, task: SentTask, error: BaseException) -> None:
        del self.sent[task]
        if isinstance(error, KilledWorker) and task.lives:  # it may have waited for workers that others killed
            self._send([replace(task, lives=task.lives - 1)])
            return
        died = LostTask("its workers died, one after the other (killed, perhaps out of memory)")
        with suppress(InvalidStateError):
            task.future.set_exception(died if isinstance(error, KilledWorker) else error)

    def _send_lost(self) -> None:
        """Send again what a scheduler that went away had, or what was taken off a scheduler."""
        broken = self.connection.broken()
        lost = [task for task, sent in self.sent.items() if broken or sent is None or sent.status in NOBODYS]
        if lost:
            self.connection.mend(self.closed)
            self._send(lost)

    def _give_up(self, error: Exception) -> None:
        left, self.sent = [*self.sent, *_taken(self.new)], {}
        said = " ".join(str(error).split())
        for task in left:
            with suppress(InvalidStateError):
                task.future.set_exception(LostTask(f"the scheduler of the cluster went away ({said})"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.closed.set()
        self.news.set()
        self.thread.join(LOOK)
        for task in [*self.sent, *self.new]:
            task.future.cancel()
        left = [sent for sent in self.sent.values() if sent is not None]
        if left and not self.connection.broken():
            self.connection.client.cancel(left, force=True)


def _taken(things: list[Thing]) -> list[Thing]:
    """All that is in a list to which others add, and which is without it then."""
    found = things[:]
    del things[: len(found)]
    return found


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
        self.client = self._reached(PATIENCE / 4)

    def _reached(self, seconds: float) -> Client:
        """A client; a scheduler may also go away while it greets us."""
        until = time.monotonic() + seconds
        while True:
            try:
                return self.connect(max(until - time.monotonic(), LOOK))
            except OSError:
                if time.monotonic() > until:
                    raise
            time.sleep(LOOK)

    def broken(self) -> bool:
        comm = self.client.scheduler_comm
        return self.client.status != "running" or comm is None or comm.comm.closed()

    def insist(self, ask: Callable[[Client], Result]) -> Result:
        """What the scheduler says; if it goes away meanwhile, what another one at its address says."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return ask(self.client)
            except OSError:
                if time.monotonic() > until:
                    raise
            time.sleep(LOOK)
            self.mend(threading.Event())

    def mend(self, given_up: threading.Event) -> None:
        """Wait until there is a scheduler; the client looks for it itself unless it was told that it ends."""
        until = time.monotonic() + PATIENCE
        while self.client.status == "connecting" and time.monotonic() < until and not given_up.wait(LOOK):
            pass
        if self.broken() and not given_up.is_set():
            old = self.client
            self.client = self._reached(until - time.monotonic())
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
