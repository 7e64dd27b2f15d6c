"""Raw files into a benchmark in one go: every stage with its defaults."""

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from questree.api.augmenting import augment, left_out
from questree.api.catalogue import SOURCES, source_of
from questree.api.ingesting import ingest
from questree.api.made import Made
from questree.api.made_up import synthesize
from questree.api.runs import Run, StrPath
from questree.api.runs import open as open_run
from questree.api.stages import balance, decompose, generate, split
from questree.benchmarks import BENCHMARKS, STAGES, Benchmark, held
from questree.faults import BadInput, Fault, refuse
from questree.places import path_of
from questree.tables import run as tables
from questree.tables.lock import rows

COUNTED = {"generate": "questions", "balance": "", "decompose": "nodes"}  # of what a stage makes; "" for all of it
VIDEO_OPTIONS = ("vocabulary", "without", "closed_world", "text", "shard", "phrases", "most_per_video", "as_released")
MEDIA = {  # options of one medium only
    **dict.fromkeys(VIDEO_OPTIONS, "video"),
    "questions": "images",
}


@dataclass(frozen=True)
class BuiltStage:
    """A stage of a build that is done."""

    name: str
    made: Made
    count: int | None  # of what it made
    counted: str
    seconds: float


@dataclass(frozen=True)
class Building:
    """What is to be done, stage by stage."""

    out: Path
    source: str
    benchmark: Benchmark
    steps: Mapping[str, Callable[[], Made]]

    def do(self, name: str) -> BuiltStage:
        begin = time.monotonic()
        made = self.steps[name]()
        count, counted = self._count(name)
        return BuiltStage(name, made, count, counted, round(time.monotonic() - begin, 2))

    def _count(self, name: str) -> tuple[int | None, str]:
        made, table = self.benchmark.read.get(name) or (self.benchmark.locked(STAGES[name][1]), COUNTED.get(name))
        if table is None:
            return None, ""
        found = rows(tables.Run(self.out), made)
        return found[table] if table else sum(found.values()), table or "questions kept"


def building(world: Path, out: Path, source: str | None, seed: int, workers: int, given: Mapping[str, Any]) -> Building:
    """Options that do not fit are refused before anything is done; of `given` counts what says something."""
    said = {name: value for name, value in given.items() if name == "text" or value not in (False, ())}
    given = {name: value for name, value in said.items() if value is not None}
    kind, own_source = source_of(source, world)
    refuse_foreign(kind, given)
    left_out(out, given.get("without", ()))
    own = next(one for one in BENCHMARKS.values() if one.domain == own_source.medium)

    def some(*names: str) -> dict[str, Any]:
        return {name: given[name] for name in names if name in given}

    def taken(stage: str, *names: str) -> dict[str, Any]:
        return some(*(name for name in names if name in own.recipe(stage).takes)) | common

    common: dict[str, Any] = {"benchmark": own.name, "workers": workers}
    subquestions: dict[str, Any] = {"train_set": True} if "train_set" in own.recipe("decompose").takes else {}
    asked = taken("generate", "questions", "shard", "phrases", "most_per_video", "closed_world", "as_released")
    asked |= {"text": given.get("text", True)} if "text" in own.recipe("generate").takes else {}
    read = some("fps", "vocabulary", "settings")
    steps = {
        "ingest": partial(ingest, world, out=out, source=kind, workers=workers, **read),
        "augment": partial(augment, out, workers=workers, **some("without", "as_released")),
        "generate": partial(generate, out, seed=seed, **asked),
        "balance": partial(balance, out, seed=seed, **taken("balance", "as_released")),
        "split": partial(split, out, **taken("split", "as_released")),
        "decompose": partial(decompose, out, **subquestions, **common),
    }
    return Building(out, kind, own, {name: step for name, step in steps.items() if name in {*own.read, *STAGES}})


def refuse_foreign(kind: str, given: Mapping[str, Any]) -> None:
    """Options that say something the raw files say themselves, or that are for the other medium."""
    own = SOURCES[kind]
    if "fps" in given and not own.rated:
        known = ", ".join(name for name, source in SOURCES.items() if source.rated)
        raise BadInput.at("--fps", f"expected raw files without seconds, got {kind}; choose from {known}")
    wrong = [name for name, medium in MEDIA.items() if name in given and own.medium != medium]
    told = f"got {own.medium} ({kind})"
    refuse([Fault(f"--{name.replace('_', '-')}", f"expected raw files of {MEDIA[name]}, {told}") for name in wrong])


def build(
    world: StrPath | None = None,
    *,
    out: StrPath,
    overwrite: bool = False,
    videos: int | None = None,
    images: int | None = None,
    seed: int = 1,
    source: str | None = None,
    vocabulary: StrPath | None = None,
    fps: float | None = None,
    settings: Mapping[str, Any] | None = None,
    questions: int | None = None,
    without: Sequence[str] = (),
    closed_world: bool = False,
    text: bool | None = None,
    shard: int | None = None,
    phrases: int | None = None,
    most_per_video: int | None = None,
    as_released: bool = False,
    workers: int = 2,
) -> Run:
    """Make a benchmark of raw files, as `questree build` does: ingest, augment, generate, balance, split, decompose.

    Parameters
    ----------
    world
        The raw files; without them a made-up world of so many videos or images.
    out
        Run folder to write.
    overwrite
        May a run that is there already be replaced?
    videos, images
        Size of a made-up world. As in Charades, some videos have no annotated frames: left out, with a warning.
    seed
        Seed of a made-up world, of the questions and of their selection.
    source, vocabulary, fps, settings
        As of `ingest`.
    questions
        Image sets: largest number of questions.
    without
        Videos: as of `augment`.
    as_released
        Videos: as of `augment`, `generate`, `balance` and `split`.
    closed_world, text, shard, phrases, most_per_video
        Videos: as of `generate`; texts are written if nothing is said.
    workers
        Number of processes.

    >>> questree.build(out="small", images=40, questions=12, workers=1)
    <Run small: 40 images, 13 questions, 13 balanced, 62 nodes>
    """
    given = dict(locals())
    place = path_of(out)
    if not overwrite and held(tables.Run(place)):
        raise BadInput.at(place, "a run is there already; give overwrite=True to replace it, or choose another folder")
    if world is None:
        if (videos is None) == (images is None):
            raise BadInput.at("build", "expected a world, or one of videos= and images= for a made-up one")
        with TemporaryDirectory(prefix="questree-") as folder:
            synthesize(Path(folder) / "world", videos=videos, images=images, seed=seed, workers=workers)
            sizes = {"world": Path(folder) / "world", "videos": None, "images": None}
            return told_of_size(build(**{**given, **sizes}), videos or images or 0)
    if videos is not None or images is not None:
        raise BadInput.at("videos", "expected no world beside it: raw files are as many as they are")
    plan = building(path_of(world), place, source, seed, workers, given)
    for name in plan.steps:
        plan.do(name)
    return open_run(place, benchmark=plan.benchmark.name)


def told_of_size(run: Run, wanted: int) -> Run:
    """The run; whoever wanted more scopes than it has is told why."""
    name, there = next(iter(run.counts.items()))
    if there < wanted:
        why = f"{wanted - there:,} have no annotated frames, as some of Charades, and are left out"
        warnings.warn(f"the run has {there:,} of {wanted:,} made-up {name}: {why}", stacklevel=3)
    return run
