"""Is a run still what its lock file says, and what differs between two."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from questree.faults import BadInput, Fault
from questree.tables import lock as locks
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.api.runs import StrPath


class Verified(NamedTuple):
    """What is not as the lock file says: data that changed are faults, another code or other templates are notes."""

    faults: list[Fault]
    notes: list[str]


def verify(run: "StrPath", *, again: bool = False, workers: int = 2) -> Verified:
    """Recompute the digests of a run's files and hold them against its lock file, as `questree verify` does.

    Parameters
    ----------
    run
        Run folder.
    again
        Also make questions, selection, splits and DAGs again and compare.
    workers
        Number of processes.

    >>> questree.verify("images").faults
    []
    """
    place = Run.at(run)
    faults, notes = locks.verify(place)
    if again:
        from questree.stages.again import made_again

        faults += made_again(place, workers)
    return Verified(faults, notes)


def changed_among(words: Iterable[str]) -> list[Fault]:
    """What changed in the runs among the words of a command after they were locked."""
    there = [Path(word) for word in words if os.path.isdir(word)]  # also says so of words that no path can be
    folders = {folder for folder in there if Run(folder).lock_file.is_file()}
    faults = list[Fault]()
    for folder in sorted(folders):
        try:
            faults += locks.verify(Run(folder))[0]
        except BadInput as bad:
            faults += bad.faults
    return faults


def write_lock(run: "StrPath") -> tuple[Path, locks.Lock]:
    """Lock a run as it is now: the file, and what it says."""
    place = Run.at(run)
    return place.lock_file, locks.lock(place, *locks.STAGES)


def diff(first: "StrPath", second: "StrPath") -> list[locks.RunDifference]:
    """What differs between two runs, causes first: code, templates, vocabulary, options, tables, selections.

    >>> questree.diff("run", "run")
    []
    """
    return list(locks.differences(Run.at(first), Run.at(second)))
