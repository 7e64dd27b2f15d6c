"""A run made again from its facts with the options it says it was made with: does the same come out?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from questree.faults import Fault
from questree.places import path_of
from questree.search.word_tables import words_of
from questree.stages.balance import pairs
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rounds import balance
from questree.stages.decompose.choose import choose, chosen_file
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.drafts import whole_run as drafts
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.split.engine import SplitOptions
from questree.stages.split.image_sets import split_run
from questree.stages.split.videos import split
from questree.tables.lock import STAGES, changes, files, options, stage
from questree.tables.nodes import ABSENT
from questree.tables.owners import part
from questree.tables.run import Run

Used = dict[str, Any]  # the options a stage says it was made with


def made_again(run: Run, workers: int = 2) -> list[Fault]:
    """Files of questions, selection, splits and DAGs that come out differently; made beside the run and thrown away."""
    there = [name for name in MAKE if files(run, name)]
    made = [name for name in there if options(run, name)]  # what was imported says none, and is taken as it is
    for questions in (run.questions, run.covr):
        run.require_plugins(questions)
    with part(run.folder / "again", folder=True) as place:
        copy = Run(place)
        for source in (run.vocabulary_file, run.facts, run.images, run.raw, run.truth):
            if source.exists():
                linked(source, run, copy)
        for name in there:
            if name in made:
                MAKE[name](copy, options(run, name), workers, run)
            else:
                for path in files(run, name):
                    linked(path, run, copy)
        return [fault for name in made for fault in compared(name, run, copy)]


def linked(path: Path, run: Run, copy: Run) -> None:
    target = copy.folder / path.relative_to(run.folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.symlink_to(path.resolve())


def decompose_again(run: Run, used: Used, workers: int, original: Run) -> None:
    labels = ABSENT.read(original.decomposed) if used.get("labels") else None
    decompose(run, msgspec.convert(used, DecomposeOptions), workers, labels=labels)
    if chosen_file(original).is_file():
        choose(run)


def split_again(run: Run, used: Used, workers: int, _: Run) -> None:
    more = msgspec.convert(used["more steps"], dict[str, int])
    released = bool(used.get("as released"))
    split(run, SplitOptions(given_file(run, used), bool(used["all"]), more, released), workers)


def split_images_again(run: Run, used: Used, workers: int, _: Run) -> None:
    split_run(run, msgspec.convert(used | {"file": given_file(run, used)}, SplitOptions), workers)


def given_file(run: Run, used: Used) -> Path | None:
    """The user's splits, as a file again."""
    given = run.folder / "splits.yaml"
    given.write_text(used["file"], "utf-8")
    return given if used["file"] else None


def folder_of(used: Used) -> Path | None:
    return path_of(used["words"]) if used["words"] else None


MAKE: dict[str, Callable[[Run, Used, int, Run], object]] = {
    "questions": lambda run, used, workers, _: generate(run, msgspec.convert(used, GenerateOptions), workers),
    "balanced": lambda run, used, workers, _: balance(run, msgspec.convert(used, BalanceOptions), workers),
    "splits": split_again,
    "decomposed": decompose_again,
    "covr/questions": lambda run, used, workers, _: drafts.generate(run, drafts.options_of(used), workers),
    "covr/balanced": lambda run, used, workers, _: pairs.balance(run, pairs.PairsOptions(**used), workers=workers),
    "covr/splits": split_images_again,
    "covr/decomposed": lambda run, used, workers, _: decompose_run(
        run, words_of(folder_of(used)), used["all"], workers, folder_of(used)
    ),
}


def compared(name: str, run: Run, copy: Run) -> list[Fault]:
    was, now = (stage(each, name).files for each in (run, copy))
    said = {"is missing": "does not come out again", "is not in the lock file": "comes out, but is not there"}
    folder = run.folder / STAGES[name].folder
    return [
        Fault(str(folder / file), said.get(change, "comes out differently when it is made again"))
        for file, change in changes(was, now)
    ]
