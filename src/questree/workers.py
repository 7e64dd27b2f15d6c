"""Who does the work of a stage: worker processes that end with their parent, or workers elsewhere."""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from multiprocessing import Value
from multiprocessing.context import SpawnContext, SpawnProcess
from types import ModuleType
from typing import Any, NoReturn, TypeVar

from questree.extensions import LOADED, Plugin, blamed, load, told
from questree.faults import BadInput, Fault
from questree.progress import Inside, finished, watch

Result = TypeVar("Result")
Given = TypeVar("Given")
Name = TypeVar("Name")
Pools = Callable[[], AbstractContextManager[Executor]]
MANY = 2  # tasks, where nobody says how many
SHOWN = 5  # failed tasks that are named
HOPELESS = 8  # tasks that failed before any was done: the others would fail as well
STOPPING = 5.0  # seconds until a worker that was told to stop has
_elsewhere: ContextVar[Pools | None] = ContextVar("_elsewhere", default=None)


@contextmanager
def elsewhere(pools: Pools) -> Iterator[None]:
    """Inside, stages work with these executors and not with processes of ours."""
    token = _elsewhere.set(pools)
    try:
        yield
    finally:
        _elsewhere.reset(token)


def in_parallel(workers: int) -> bool:
    """Is there anybody beside this process to work?"""
    return workers > 1 or _elsewhere.get() is not None


def nothing_kept() -> str:
    return "nothing is written; rerun, with --workers 1"


@contextmanager
def processes(
    workers: int, given: Executor | None = None, remedy: Callable[[], str] = nothing_kept, tasks: int = MANY
) -> Iterator[Executor]:
    """Workers elsewhere if there are any, or else a pool of processes; or the one that is given, shut down at the end.
    A thread does a single task, as a process takes a while to start.

    If the block is left by an error or an interruption, processes of ours are stopped at once. If a process dies, that
    is one line: what is kept of the work and what helps, as `remedy` says then.
    """
    if given is not None:
        Inside.shared = None
        with given:
            yield _Loading(given) if LOADED else given
        return
    if pools := _elsewhere.get():
        Inside.shared = None
        with pools() as pool:
            yield pool
        return
    pool = _thread() if tasks < 2 else _processes(workers)
    try:
        yield _Loading(pool) if LOADED else pool
    except BaseException as error:
        children = multiprocessing.active_children()
        for child in children:
            child.terminate()
        for child in children:  # whoever comes after us removes what they were writing
            child.join(STOPPING)
        # a broken pool is waited for: its thread must not be cut off while it gives its locks back
        pool.shutdown(wait=isinstance(error, BrokenExecutor), cancel_futures=True)
        if isinstance(error, BrokenExecutor):
            died = f"a worker died (killed, perhaps out of memory); {remedy()}"
            raise BadInput([Fault("", died)]) from error
        raise
    pool.shutdown()


def _thread() -> Executor:
    Inside.shared, Inside.told = Value("d", 0.0), 0.0
    return ThreadPoolExecutor(1)


def _processes(workers: int) -> Executor:
    context = _Context()
    Inside.shared = context.Value("d", 0.0)
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_obey, initargs=(Inside.shared,))


def whole(work: Callable[..., Result], *args: Any) -> Result:
    """What is not shared out is done by one worker elsewhere, if there are any, or else here."""
    if _elsewhere.get() is None:
        return work(*args)
    with processes(1) as pool:
        return results({work.__name__.strip("_"): pool.submit(work, *args)}, "on a worker")[0]


def results(
    tasks: Mapping[str, "Future[Result]"], label: str, remedy: Callable[[], str] = nothing_kept
) -> list[Result]:
    """What named tasks give, in their order. If some fail the others are finished all the same, and each is told."""
    names, errors, done = {future: name for name, future in tasks.items()}, dict[str, Exception](), 0
    for future in finished([*names], label):
        try:
            future.result()
            done += 1
        except BrokenExecutor:
            raise
        except Exception as error:
            errors[names[future]] = error
            if len(errors) == HOPELESS and not done:
                break
    if errors:
        _tell_failed(errors, done, len(tasks), remedy)
    return [future.result() for future in tasks.values()]


def over(
    pool: Executor, label: str, kind: str, names: Iterable[object], work: Callable[..., Result], task: Any, *more: Any
) -> list[Result]:
    """What the work gives for each of these, in their order; `task` is what it is done with."""
    return results({f"{kind} {name}": pool.submit(work, task, name, *more) for name in names}, label)


@contextmanager
def shared_out(workers: int, tasks: int) -> Iterator[Executor | None]:
    """Who works on tasks, in as many rounds as they take; nobody but this process if that is all there is, or one
    task."""
    if tasks < 2 or not in_parallel(workers):
        yield None
        return
    with processes(workers) as pool:
        yield pool


def each(
    pool: Executor | None,
    label: str,
    kind: str,
    names: Sequence[Name],
    work: Callable[[Given, Name], Result],
    task: Given,
) -> list[Result]:
    """What the work gives for each of these, in their order: in this process, if there is nobody else."""
    if pool is None:
        return [work(task, name) for name in watch(names, label, len(names))]
    return over(pool, label, kind, names, work, task)


def _tell_failed(errors: Mapping[str, Exception], done: int, tasks: int, remedy: Callable[[], str]) -> NoReturn:
    """Faults of the input as they are, each once; then which tasks failed."""
    faults, names = dict[Fault, None](), sorted(errors)
    for name in names:
        error = errors[name]
        if isinstance(error, BadInput):
            faults |= dict.fromkeys(error.faults)
        elif isinstance(error, OSError | MemoryError | LostTask):
            faults[Fault(name, str(error) if isinstance(error, LostTask) else told(error))] = None
        else:
            raise RuntimeError(f"{name}: {told(error)}") from error
    if done:
        more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
        faults[Fault(", ".join(names[:SHOWN]) + more, f"failed, {done:,} of {tasks:,} are finished; {remedy()}")] = None
    raise BadInput(faults)


class LostTask(Exception):
    """A task that whoever worked on it did not survive, again and again."""


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
        return self.inner.submit(loaded, tuple(LOADED.values()), pickle.dumps((work, args, named)))


def loaded(plugins: tuple[Plugin, ...], packed: bytes) -> Any:
    """In a worker: do the work; a fault of a plugin becomes one line here, as tracebacks do not travel."""
    load(plugins)
    work, args, named = pickle.loads(packed)
    try:
        return work(*args, **named)
    except Exception as error:
        if own := blamed(error):
            raise own from error
        raise


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
