"""Whole or not at all: output is written under a temporary name and renamed when it is complete."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from questree.faults import BadInput


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill; it takes the place of `target` only when the block ends without an error."""
    if target.exists() and not target.is_dir():
        raise BadInput.at(target, "a folder is wanted here, but a file is in the way")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise BadInput.at(target, f"cannot be written ({error.strerror})") from error
    try:
        yield work
        work.chmod(0o755)  # mkdtemp makes private folders
        if target.exists():
            old = work.with_suffix(".old")
            target.rename(old)
            work.rename(target)
            shutil.rmtree(old)
        else:
            work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """A file to write; it takes the place of `target` only when the block ends without an error."""
    if target.is_dir():
        raise BadInput.at(target, "a file is wanted here, but a folder is in the way")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    except OSError as error:
        raise BadInput.at(target, f"cannot be written ({error.strerror})") from error
    os.close(handle)
    work = Path(name)
    try:
        yield work
        work.chmod(0o644)
        work.replace(target)
    finally:
        work.unlink(missing_ok=True)
