"""A run made again from its facts with the options it says it was made with: does the same come out?"""

from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from questree.faults import BadInput, Fault
from questree.stages.balance.options import Options as Balancing
from questree.stages.balance.work import balance
from questree.stages.decompose.choose import choose, chosen_file
from questree.stages.decompose.work import Options as Decomposing
from questree.stages.decompose.work import decompose
from questree.stages.generate.work import Options as Asking
from questree.stages.generate.work import generate
from questree.stages.split.work import Options as Splitting
from questree.stages.split.work import split
from questree.tables.lock import changes, options, stage
from questree.tables.nodes import ABSENT
from questree.tables.run import Run

STAGES = ("questions", "balanced", "splits", "decomposed")


def made_again(run: Run, workers: int = 2) -> list[Fault]:
    """Files of questions, selection, splits and DAGs that come out differently; made beside the run and thrown away."""
    if run.images.is_dir() and not run.vocabulary_file.is_file():
        raise BadInput.at(run.folder, "only questions about videos are made again; leave out --again")
    run.vocabulary()
    there = [name for name in STAGES if (run.folder / name).is_dir()]
    with TemporaryDirectory(prefix=".again-", dir=run.folder) as place:
        copy = Run(Path(place))
        copy.vocabulary_file.symlink_to(run.vocabulary_file.resolve())
        copy.facts.symlink_to(run.facts.resolve())
        for name in there:
            make(name, copy, options(run.folder / name), workers, run)
        return [fault for name in there for fault in compared(name, run, copy)]


def make(name: str, run: Run, used: dict[str, object], workers: int, original: Run) -> None:
    if name == "questions":
        generate(run, msgspec.convert(used, Asking), workers)
    elif name == "balanced":
        balance(run, msgspec.convert(used, Balancing), workers)
    elif name == "decomposed":
        labels = ABSENT.read(original.decomposed) if used.get("labels") else None
        decompose(run, msgspec.convert(used, Decomposing), workers, labels=labels)
        if chosen_file(original).is_file():
            choose(run)
    else:
        given = run.folder / "splits.yaml"
        given.write_text(str(used["file"]), "utf-8")
        more = msgspec.convert(used["more steps"], dict[str, int])
        split(run, Splitting(given if used["file"] else None, bool(used["all"]), more), workers)


def compared(name: str, run: Run, copy: Run) -> list[Fault]:
    was, now = (stage(folder / name, "", "").files for folder in (run.folder, copy.folder))
    said = {"is missing": "does not come out again", "is not in the lock file": "comes out, but is not there"}
    return [
        Fault(str(run.folder / name / file), said.get(change, "comes out differently when it is made again"))
        for file, change in changes(was, now)
    ]
