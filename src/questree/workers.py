"""Worker processes that leave interruptions to their parent, do not outlive it and know its plugins."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, TypeVar

from questree.extensions import LOADED, Plugin, blamed, load
from questree.faults import BadInput, Fault
from questree.progress import Inside

Result = TypeVar("Result")


def nothing_kept() -> str:
    return "nothing is written; rerun, with --workers 1"


@contextmanager
def processes(
    workers: int, given: Executor | None = None, remedy: Callable[[], str] = nothing_kept
) -> Iterator[Executor]:
    """A pool of processes, or the one that is given, which is shut down at the end.

    If the block is left by an error or an interruption, processes of ours are stopped at once. If a process dies, that
    is one line: what is kept of the work and what helps, as `remedy` says then.
    """
    if given is not None:
        Inside.shared = None
        with given:
            yield _Loading(given) if LOADED else given
        return
    context = _Context()
    Inside.shared = context.Value("d", 0.0)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_obey, initargs=(Inside.shared,))
    try:
        yield _Loading(pool) if LOADED else pool
    except BaseException as error:
        for child in multiprocessing.active_children():
            child.terminate()
        pool.shutdown(wait=False, cancel_futures=True)
        if isinstance(error, BrokenExecutor):
            died = f"a worker died (killed, perhaps out of memory); {remedy()}"
            raise BadInput([Fault("", died)]) from error
        raise
    pool.shutdown()


class _Worker(SpawnProcess):
    """Does not run the script it is started from once more: scripts need no `if __name__ == "__main__"`."""

    @staticmethod
    def _Popen(process_obj: Any) -> Any:
        script = sys.modules["__main__"]
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            return SpawnProcess._Popen(process_obj)
        finally:
            sys.modules["__main__"] = script


class _Context(SpawnContext):
    Process = _Worker


class _Loading(Executor):
    """Any executor, whose workers load our plugins before they unpack their work."""

    def __init__(self, inner: Executor):
        self.inner = inner

    def submit(self, work: Callable[..., Result], /, *args: Any, **named: Any) -> "Future[Result]":
        return self.inner.submit(_loaded, tuple(LOADED.values()), pickle.dumps((work, args, named)))


def _loaded(plugins: tuple[Plugin, ...], packed: bytes) -> Any:
    """In a worker: do the work; a fault of a plugin becomes one line here, as tracebacks do not travel."""
    load(plugins)
    work, args, named = pickle.loads(packed)
    try:
        return work(*args, **named)
    except Exception as error:
        raise blamed(error) or error from error


def _obey(shared: Any) -> None:
    """In a worker: Ctrl-C is the parent's business, and without a parent there is no work."""
    Inside.shared = shared
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
