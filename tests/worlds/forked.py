"""Commands in processes of their own, forked from one that has imported libraries and nothing of questree.

Libraries take half the time of a short command; what questree imports, and when, is as in a process from a shell.
"""

import concurrent.futures
import json
import os
import runpy
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "numba", "msgspec", "cyclopts", "rich.table", "jinja2", "yaml")  # polars starts threads: no fork
LEARNING = ("train", "predict", "experiment")  # commands that need PyTorch, which takes longer than what they do here
CHANGES = ("open", "os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.truncate", "os.chmod", "os.symlink")
SECONDS = 300  # after which a command is taken for stuck and killed


class Pools:
    real = False  # processes, or a thread in their place


def one_thread(workers: int, **how: Any) -> concurrent.futures.Executor:
    """In place of a pool of processes, as starting them takes longer than most tests' work."""
    return concurrent.futures.ThreadPoolExecutor(1)


def questree(
    *words: object, folder: Path, killed_at: int = 0, by: int = signal.SIGKILL
) -> "subprocess.CompletedProcess[str]":
    """`questree WORDS` in a folder; if told so, killed before its n-th operation on files there."""
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        line = [*map(str, words)]
        order = {"words": line, "folder": str(folder), "out": str(out), "err": str(err), "processes": Pools.real}
        order |= {"killed_at": killed_at, "by": int(by)}
        asked, told = server().stdin, server().stdout
        assert asked is not None and told is not None
        print(json.dumps(order), file=asked, flush=True)
        return subprocess.CompletedProcess(line, int(told.readline()), out.read_text(), err.read_text())


@cache
def server() -> "subprocess.Popen[str]":
    return subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def stop() -> None:
    """End the server if there is one."""
    if server.cache_info().currsize:
        server().communicate()
        server.cache_clear()


def serve() -> None:
    """Fork for each line of orders and say how the child ended; a child returns from here as the command."""
    for line in sys.stdin:
        order = json.loads(line)
        if order["words"][0] in LEARNING and find_spec("torch"):
            import_module("torch")
        child = os.fork()
        if not child:
            return become(**order)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    sys.exit()


def become(words: list[str], folder: str, out: str, err: str, processes: bool, killed_at: int, by: int) -> None:
    for number, path, how in ((0, os.devnull, os.O_RDONLY), (1, out, os.O_WRONLY), (2, err, os.O_WRONLY)):
        os.dup2(os.open(path, how | os.O_CREAT), number)
    os.chdir(folder)
    sys.path.insert(0, folder)  # as `python -m` does
    sys.argv = ["questree", *words]
    if not processes:
        concurrent.futures.ProcessPoolExecutor = one_thread  # type: ignore[assignment,misc]
    signal.alarm(SECONDS)
    if killed_at:
        killer = Killer(os.path.realpath(folder), killed_at, by)
        sys.addaudithook(killer)
        sqlite3.connect = partial(traced, sqlite3.connect, killer)


def traced(connect: Callable[..., sqlite3.Connection], killer: "Killer", *given: Any, **more: Any) -> Any:
    """A book: every statement is an operation on files."""
    book = connect(*given, **more)
    book.set_trace_callback(lambda statement: killer.count())
    return book


@dataclass
class Killer:
    """Sends itself a signal before an operation that changes files of a folder."""

    folder: str
    left: int
    by: int

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if not self.left or event not in CHANGES or (event == "open" and not given[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        names = [os.path.realpath(os.fsdecode(name)) for name in given if isinstance(name, str | bytes | os.PathLike)]
        if any(name.startswith(self.folder + os.sep) for name in names):
            self.count()

    def count(self) -> None:
        self.left -= 1
        if not self.left:
            os.kill(os.getpid(), self.by)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file
    for name in LIBRARIES:
        import_module(name)
    cpu_target = import_module("numba.core.registry").cpu_target
    cpu_target.typing_context.refresh()  # what numba loads before the first kernel
    cpu_target.target_context.refresh()
    serve()
    runpy.run_module("questree", run_name="__main__", alter_sys=True)
