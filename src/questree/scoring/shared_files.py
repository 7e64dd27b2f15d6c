"""When files without a run are scored by parts, anywhere, and where workers then lay down what others read."""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from questree.faults import BadInput, Fault, refuse
from questree.tables.shard_folders import where_workers_see
from questree.tables.store import is_packed
from questree.workers import in_parallel, whole

LARGE = 1_000_000_000  # bytes of files about videos; read at once, so many take 1 to 2 GiB


def worth_parting(file: Path, few: int, large: int) -> bool:
    """Has a file more than so many bytes; or, if there are workers elsewhere, more than few? One that is packed may
    hold anything."""
    size = file.stat().st_size
    return size > large or (in_parallel(1) and (size > few or is_packed(file)))


@contextmanager
def seen_beside(source: Path) -> Iterator[Path]:
    """A folder for what is needed on the way; gone at the end."""
    with ExitStack() as left:
        try:
            place = left.enter_context(where_workers_see(source))
        except BadInput as bad:
            wanted = "expected to write a folder beside it for workers elsewhere, which"
            raise BadInput.at(source, f"{wanted} {bad.faults[0].message}; choose a copy, or --cluster none") from bad
        yield place


def look_over(files: Iterable[Path], read: Callable[[Path], object], bad: BadInput) -> None:
    """Parts of some of these files have faults, perhaps: one worker then says what is wrong with all of such a file."""
    for file in files:
        if any(fault.place.startswith((str(file), os.path.abspath(str(file)))) for fault in bad.faults):
            refuse([Fault(f"{file}{fault.place}", fault.message) for fault in whole(_faults, read, file)])


def _faults(read: Callable[[Path], object], file: Path) -> list[Fault]:
    """In a worker: told from the file on, which may have another name elsewhere."""
    try:
        read(file)
    except BadInput as bad:
        return [Fault(fault.place.removeprefix(str(file)), fault.message) for fault in bad.faults]
    return []
