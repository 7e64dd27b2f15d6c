"""`questree covr balance`: a selection with as many questions of every template, and even answers."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.stages.balance.pairs import balance
from questree.tables.run import Run


def balance_command(
    run: Path,
    /,
    *,
    questions: Annotated[
        int | None, Parameter(help="N of S = N / T, over all splits. [default: all questions there are]")
    ] = None,
    seed: int = 1,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Select questions about sets of images: templates, answers and structures as even as can be, each split apart.

    Parameters
    ----------
    run
        Run folder with questions (`questree covr generate` writes them); the selection goes to its folder `covr`.
    """
    with watching(quiet):
        rows = balance(Run(run), questions, seed)
    for split in dict.fromkeys(row.split for row in rows):
        own = [
            {
                "template": row.template,
                "before": row.before,
                "text with two answers": row.two_answers,
                "room": row.room,
                "kept": row.kept,
            }
            for row in rows
            if row.split == split
        ]
        print_table(f"{split}: questions", own, quiet)
    before, kept = sum(row.before for row in rows), sum(row.kept for row in rows)
    say(f"kept {kept:,} of {before:,} in {run / 'covr'}", quiet)
    write_json(json, rows)
