"""What a library prints on its own about a damaged file is not shown: we say it in one line."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

STDERR = 2


class _Silence:
    """Threads read at once; the first one in closes the way out, the last one opens it again."""

    lock = threading.Lock()
    inside = 0
    kept = -1  # where lines went before


@contextmanager
def silence() -> Iterator[None]:
    """Nothing that is written to the standard error within it arrives; Python's own lines are written before."""
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    with _Silence.lock:
        _Silence.inside += 1
        if _Silence.inside == 1:
            with suppress(OSError):  # there is no standard error, or no room for another handle
                _Silence.kept = os.dup(STDERR)
                _point(os.devnull)


def _point(path: str) -> None:
    nowhere = os.open(path, os.O_WRONLY)
    os.dup2(nowhere, STDERR, inheritable=True)
    os.close(nowhere)


def _leave() -> None:
    with _Silence.lock:
        _Silence.inside -= 1
        if not _Silence.inside and _Silence.kept >= 0:
            os.dup2(_Silence.kept, STDERR, inheritable=True)
            os.close(_Silence.kept)
            _Silence.kept = -1
