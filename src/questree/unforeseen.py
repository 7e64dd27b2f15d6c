"""Errors that nobody foresaw: one line for whoever sees it happen, and a log file for whoever can mend it."""

import sys


def unforeseen(error: BaseException) -> str:
    """The line; it names the log."""
    return f"error: unforeseen: {_first_line(error)}; {_logged(error)}"


def _first_line(error: BaseException) -> str:
    from questree.places.addresses import redacted

    return redacted(f"{type(error).__name__}: {error}".splitlines()[0])[:200]


def _logged(error: BaseException) -> str:
    import shlex
    import tempfile
    import traceback
    from platform import platform

    from questree import __version__
    from questree.places.addresses import redacted

    told = [f"questree {__version__}, Python {sys.version.split()[0]}, {platform()}", shlex.join(sys.argv)]
    try:
        with tempfile.NamedTemporaryFile("w", prefix="questree-", suffix=".log", delete=False, encoding="utf-8") as log:
            log.write(redacted("\n".join([*told, "", *traceback.format_exception(error)])))
    except OSError:
        return "no place to write the details down"
    return f"this is a bug of questree, please report it with {log.name}"
