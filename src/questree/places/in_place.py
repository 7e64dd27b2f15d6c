"""Files that are changed in place, as SQLite's: worked at on this machine, in the store when the work ends."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from questree.faults import BadInput
from questree.places.lease import lease
from questree.places.mirror import CHANGING, make_folder
from questree.places.place import PART, Place
from questree.places.publish import published_file
from questree.places.seen import forget


@contextmanager
def changed(target: Path, wait: bool = True) -> Iterator[Path]:
    """The file to change, by one at a time; who does not `wait` is told of another by Held.

    What a killed process left here is gone on with, unless the store has another file by now.
    """
    if not isinstance(target, Place) or target.work is not None:
        yield target
        return
    if target.url in CHANGING:
        yield CHANGING[target.url]
        return
    with lease(f"{target.parent}/.{target.name}.lock", "changing", wait):
        forget(target.url)
        work = CHANGING[target.url] = _copied(target)
        try:
            yield work
        finally:
            del CHANGING[target.url]
            if work.is_file():
                published_file(work, target.url)


def _copied(target: Place) -> Path:
    begun = target.stat().st_ino if target.is_file() else 0
    make_folder(target.local.parent)
    work = target.local.with_name(f".{target.name}.{begun}{PART}")
    others = [path for path in work.parent.glob(f".{target.name}.*{PART}") if path != work]
    if others:
        told = f"changed elsewhere since a command was killed here; look at {others[0]}, and remove it to go on without"
        raise BadInput.at(target, told)
    if begun and not work.is_file():
        drawn = work.with_suffix(".copied")
        shutil.copyfile(os.fspath(target), drawn)
        drawn.replace(work)
    return work
