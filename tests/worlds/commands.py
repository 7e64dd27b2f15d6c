"""A command as a shell would see it, in this process: starting others costs more than most commands do."""

import io
import os
import shlex
import signal
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from questree.cli.app import main


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


def questree(*words: object, folder: Path | None = None) -> Done:
    """`questree WORDS` in a folder."""
    out, err, handler = io.StringIO(), io.StringIO(), signal.getsignal(signal.SIGTERM)
    with (
        patch.object(sys, "argv", ["questree", *map(str, words)]),
        chdir(folder or os.curdir),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            return Done(int(end.code or 0), out.getvalue(), err.getvalue())
        finally:
            signal.signal(signal.SIGTERM, handler)
    raise AssertionError("a command ends with an exit code")


def run(line: str, folder: Path) -> None:
    """A line of a page works in this folder."""
    done = questree(*shlex.split(line)[1:], folder=folder)
    assert done.returncode == 0, f"{line}\n{done.stderr}"
