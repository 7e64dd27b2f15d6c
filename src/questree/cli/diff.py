"""`questree diff`: what differs between two runs, causes first."""

from pathlib import Path

from questree.cli.terminal import Json, Quiet, print_table, say, write_json
from questree.tables.lock import differences
from questree.tables.run import Run


def diff(first: Path, second: Path, /, *, json: Json = None, quiet: Quiet = False) -> None:
    """Explain what differs between two runs: code, templates, vocabulary, options, tables, selections.

    Parameters
    ----------
    first
        Run folder.
    second
        Another one.
    """
    found = list(differences(Run(first), Run(second)))
    rows = [{"what": d.place, str(first): d.first, str(second): d.second} for d in found]
    print_table("Differences, causes first", rows, quiet)
    if not found:
        say("the runs are the same", quiet)
    write_json(json, found)
