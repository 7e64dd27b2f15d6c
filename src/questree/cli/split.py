"""`questree split`: train and test, by video and by what questions are made of."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.benchmarks.agqa.templates import BY_NAME
from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.faults import BadInput
from questree.stages.split.work import Options
from questree.stages.split.work import split as make
from questree.tables.lock import lock
from questree.tables.run import Run


def split(
    run: Path,
    /,
    *,
    splits: Annotated[Path | None, Parameter(help="Your own splits, in a YAML file.")] = None,
    more_steps: Annotated[str, Parameter(help="Most steps in train, as in relTime=5,objWhat=3.")] = "",
    every: Annotated[bool, Parameter(name="--all", help="Every question, not only the balanced selection.")] = False,
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Split a run's questions into train and test in several ways; each split proves itself.

    Parameters
    ----------
    run
        Run folder with questions; the balanced selection is split, if there is one.
    """
    with watching(quiet):
        made = make(Run(run), Options(splits, every, read_steps(more_steps)), workers)
        lock(Run(run), "splits")
    rows = [
        {"split": m.name, "train": m.train, "of videos": m.train_videos, "test": m.test, "videos": m.test_videos}
        for m in made
    ]
    print_table("Splits: questions", rows, quiet)
    for warning in (text for each in made for text in each.warnings):
        say(f"warning: {warning}", quiet)
    say(f"wrote {run / 'splits'}", quiet)
    write_json(json, made)


def read_steps(text: str) -> dict[str, int]:
    found = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if name not in BY_NAME or not number.isdigit():
            raise BadInput.at("--more-steps", f"{part!r}: wanted TEMPLATE=STEPS with one of {', '.join(BY_NAME)}")
        found[name] = int(number)
    return found
