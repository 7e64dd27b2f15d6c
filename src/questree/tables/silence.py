"""What a library prints on its own about a damaged file is not shown: we say it in one line."""

import io
import os
import sys
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
    """Nothing that libraries write to the standard error within it arrives; Python's own lines do, of any thread."""
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
                _set_apart()
                _Silence.kept = os.dup(STDERR)
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, STDERR, inheritable=True)
                os.close(nowhere)


def _set_apart() -> None:
    """Python writes through a handle of its own from now on, as an error may be told while another thread reads."""
    own = sys.stderr
    if own is sys.__stderr__ and isinstance(own, io.TextIOWrapper) and own.fileno() == STDERR:
        sys.stderr = io.TextIOWrapper(
            os.fdopen(os.dup(STDERR), "wb", 0), own.encoding, own.errors, line_buffering=True, write_through=True
        )


def _leave() -> None:
    with _Silence.lock:
        _Silence.inside -= 1
        if not _Silence.inside and _Silence.kept >= 0:
            os.dup2(_Silence.kept, STDERR, inheritable=True)
            os.close(_Silence.kept)
            _Silence.kept = -1
