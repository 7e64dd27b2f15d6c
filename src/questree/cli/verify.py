"""`questree verify` and `questree diff`: is a run still what its lock file says, and what differs between two."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api import locks
from questree.cli.clusters import clustered
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import refuse


@output
@clustered
def verify(
    run: Path,
    /,
    *,
    write: Annotated[bool, Parameter(help="Write the lock file of the run as it is now.")] = False,
    again: Annotated[
        bool, Parameter(help="Also make questions, selection, splits and DAGs again and compare.")
    ] = False,
    workers: WorkersOption = 2,
) -> None:
    """Recompute the digests of a run's files and hold them against its lock file; exit with 1 if one differs.

    Parameters
    ----------
    run
        Run folder; `questree balance` and `questree split` lock what they make.
    """
    if write:
        file, found = locks.write_lock(run)
        count = sum(len(stage.files) for stage in found.stages.values())
        say(f"wrote {file}: {count:,} files of {', '.join(found.stages)}")
        write_json(found)
        return
    with watching():
        faults, notes = locks.verify(run, again=again, workers=workers)
    write_json({"faults": [str(fault) for fault in faults], "notes": notes})
    for note in notes:
        say(f"note: {note}")
    refuse(faults)
    say(f"{run}: every file is as locked{', and comes out the same again' if again else ''}")


@output
def diff(first: Path, second: Path, /) -> None:
    """Explain what differs between two runs: code, templates, vocabulary, options, tables, selections.

    Parameters
    ----------
    first
        Run folder.
    second
        Another one.
    """
    found = locks.diff(first, second)
    rows = [{"what": d.place, str(first): d.first, str(second): d.second} for d in found]
    print_table("Differences, causes first", rows)
    if not found:
        say("the runs are the same")
    write_json(found)
