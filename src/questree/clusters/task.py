"""What happens on a worker: is it like the client, in versions and plugins? Then the work is done."""

import ctypes
import pickle
import resource
import sys
import time
import zlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from platform import node
from typing import Any, NamedTuple

import questree
from questree.extensions import LOADED, Plugin
from questree.faults import Fault, refuse
from questree.places import delivering
from questree.tables.lock import own_code
from questree.tables.store import unpacking
from questree.workers import loaded

LIBRARIES = ("numpy", "polars", "pyarrow", "numba", "msgspec", "distributed")  # what bytes depend on
Versions = dict[str, str]
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # as malloc.h numbers what `mallopt` sets


@cache
def versions() -> Versions:
    """Of this process: Python, questree and its code, the libraries."""
    python = ".".join(map(str, sys.version_info[:3]))
    found = {"Python": python, "questree": questree.__version__, "code of questree": own_code()[0][:8]}
    return found | {name: _version(name) for name in LIBRARIES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


def unlike(place: str, wanted: Versions, got: Versions) -> list[Fault]:
    """A line about a worker that is not as the client is."""
    other = [f"{name} {got.get(name, 'none')} for {own}" for name, own in wanted.items() if got.get(name) != own]
    return [Fault(f"worker {place}", f"expected the versions of the client, got {', '.join(other)}")] if other else []


def strange_plugins(place: str, wanted: dict[Plugin, str]) -> list[Fault]:
    """Plugins that an earlier command left on a worker, and that are not the client's."""
    names = {plugin.file: digest for plugin, digest in wanted.items()}
    other = [plugin.name for file, plugin in LOADED.items() if names.get(file) != _loaded_digest(plugin)]
    wrong = f"expected the plugins of the client, got also {', '.join(other)} of an earlier command; restart the worker"
    return [Fault(f"worker {place}", wrong)] if other else []


@cache
def _loaded_digest(plugin: Plugin) -> str:
    """Of the file as it was when this process first looked at it, right after it was loaded."""
    return plugin.digest


@cache
def keep_memory() -> None:
    """Let this process use the memory of arrays again, as glibc comes to do by itself where nobody set a threshold.

    Dask's nannies set one, for columns that workers hold. Ours are gone after a step: to give each back and to fetch it
    page by page again takes a third of the time of generation.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None and sys.platform == "linux":
        mallopt(MMAP_THRESHOLD, 32 << 20)
        mallopt(TRIM_THRESHOLD, 64 << 20)


class WorkDone(NamedTuple):
    packed: bytes  # what the work gave
    seconds: float
    cpu_seconds: float
    peak: int  # bytes of memory that the worker ever had


def on_worker(packed: bytes, wanted: Versions, plugins: dict[Plugin, str], times: str = "") -> WorkDone:
    """Do packed work, as `questree.workers` packs it; workers may join at any time, so each task looks. `times`: as in
    --unpack-times."""
    keep_memory()
    refuse([*unlike(node(), wanted, versions()), *strange_plugins(node(), plugins)])
    begun, busy = time.perf_counter(), time.process_time()
    try:
        with delivering(), unpacking(times):
            found = zlib.compress(pickle.dumps(loaded(tuple(plugins), packed)), 1)  # counts are mostly zeros
        return WorkDone(found, time.perf_counter() - begun, time.process_time() - busy, _peak())
    finally:
        for plugin in LOADED.values():
            _loaded_digest(plugin)


def _peak() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def check(client: Any) -> None:
    """Hold the versions of all workers that are there against ours, before work starts."""
    found: dict[str, Versions] = client.run(versions, on_error="return")
    faults = [fault for place, got in found.items() for fault in _said(place, got)]
    refuse(faults)


def _said(place: str, got: Any) -> list[Fault]:
    if isinstance(got, OSError):  # it died just now
        return []
    if isinstance(got, BaseException):  # it cannot even import us
        text = " ".join(str(got).split())
        return [Fault(f"worker {place}", f"expected questree {questree.__version__}, got {type(got).__name__}: {text}")]
    return unlike(place, versions(), got)
