"""Every benchmark a run may hold: its medium, where its tables are in a run, and how each stage does its work."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from questree.extensions import Registry
from questree.faults import BadInput
from questree.tables.run import Run

STAGES = {  # a stage -> the table it needs, and the one it makes
    "generate": ("source", "questions"),
    "balance": ("questions", "balanced"),
    "split": ("questions", "splits"),
    "decompose": ("questions", "decomposed"),
    "audit": ("questions", "audit"),
}
Said = str | tuple[str, Sequence[Mapping[str, Any]]]  # a line, or a table with its title


@dataclass(frozen=True)
class Told:
    """What a stage tells about its work: to a person, and to a program."""

    said: Sequence[Said]
    record: Any  # what is written as JSON
    wrote: bool = True  # what the stage makes; or it only looked
    remarks: Sequence[str] = ()  # what nobody should miss


@dataclass(frozen=True)
class Recipe:
    """How a stage does its work for a benchmark."""

    takes: frozenset[str]  # the options of its command that mean something here
    work: Callable[[Run, Mapping[str, Any], int], Told]  # run, the options that were given, number of processes
    shared: bool = False  # does it share out its work among workers? If not, one worker of a cluster does it all


@dataclass(frozen=True)
class Benchmark:
    name: str  # as --benchmark spells it
    domain: str  # whose operators its programs have: video, images
    scopes: str  # what a question is about
    counted: str  # what intervals are over
    tables: Mapping[str, str]  # what a stage makes -> its file or folder inside a run
    read: Mapping[str, tuple[str, str]]  # stage before its questions -> its files in the lock, and what is counted
    recipes: Mapping[str, str]  # stage -> module:name of its recipe, looked up when it is needed: stages lie above
    parts: Mapping[str, str]  # what else differs between benchmarks -> module:name, looked up likewise

    def place(self, run: Run, made: str) -> Path:
        return run.folder / self.tables[made]

    def has(self, run: Run, made: str) -> bool:
        return self.place(run, made).exists()

    def locked(self, made: str) -> str:
        """What the lock file calls it."""
        return self.tables[made].removesuffix(".parquet")

    @property
    def of_images(self) -> bool:
        return self.domain == "images"

    def recipe(self, stage: str) -> Recipe:
        found = named(self.recipes[stage])
        assert isinstance(found, Recipe)
        return found

    def part(self, name: str) -> Any:
        """What does this for the benchmark, wherever it is defined."""
        return named(self.parts[name])


def named(place: str) -> Any:
    """What module:name names."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


BENCHMARKS = Registry[Benchmark]("benchmark")  # the first one is meant where a run has several and none is named
AGQA = BENCHMARKS.add(
    "agqa",
    Benchmark(
        "agqa",
        "video",
        "videos",
        "videos",
        {name: name for name in ("facts", "questions", "balanced", "splits", "decomposed", "audit")}
        | {"source": "vocabulary.toml"},
        {"ingest": ("raw", "videos"), "augment": ("facts", "actions")},
        {
            "generate": "questree.stages.generate.recipes:RECIPE",
            "balance": "questree.stages.balance.rounds:RECIPE",
            "split": "questree.stages.split.recipes:VIDEOS",
            "decompose": "questree.stages.decompose.recipes:VIDEOS",
            "audit": "questree.stages.audit.recipes:VIDEOS",
        },
        {
            "shards": "questree.stages.decompose.hierarchies:shards",
            "hierarchies": "questree.stages.decompose.hierarchies:run_hierarchies",
            "grounds": "questree.stages.ground.grounding:of_videos",
            "scored questions": "questree.scoring.run_questions:video_questions",
            "DAG shards": "questree.scoring.video_dags:VideoDags",
            "view": "questree.show.video_view:VideoView",
            "scores of questions": "questree.api.score_sets:scored_agqa",
            "question tables": "questree.api.question_tables:VIDEO_QUESTIONS",
            "fact tables": "questree.api.fact_tables:VIDEO_FACTS",
            "splits": "questree.api.splits:VIDEO_SPLITS",
            "shown": "questree.api.shown_videos:SHOWER",
            "steps": "questree.api.video_steps:VideoSteps",
            "found objects": "questree.api.found_objects:of_videos",
            "executed": "questree.api.execution:of_videos",
        },
    ),
)
COVR = BENCHMARKS.add(
    "covr",
    Benchmark(
        "covr",
        "images",
        "image sets",
        "images",
        {"source": "images", "facts": "images", "questions": "covr/questions"}
        | {"balanced": "covr/balanced.parquet", "splits": "covr/splits", "decomposed": "covr/decomposed"}
        | {"audit": "covr/audit"},
        {"ingest": ("images", "images")},
        {
            "generate": "questree.stages.drafts.whole_run:RECIPE",
            "balance": "questree.stages.balance.pairs:RECIPE",
            "split": "questree.stages.split.recipes:IMAGE_SETS",
            "decompose": "questree.stages.decompose.recipes:IMAGE_SETS",
            "audit": "questree.stages.audit.recipes:IMAGE_SETS",
        },
        {
            "shards": "questree.stages.decompose.set_hierarchies:set_shards",
            "hierarchies": "questree.stages.decompose.set_hierarchies:image_hierarchies",
            "grounds": "questree.stages.ground.grounding:of_images",
            "scored questions": "questree.scoring.run_questions:image_questions",
            "DAG shards": "questree.scoring.set_dags:SetDags",
            "view": "questree.show.image_view:ImageView",
            "scores of questions": "questree.api.score_sets:scored_covr",
            "question tables": "questree.api.question_tables:IMAGE_QUESTIONS",
            "fact tables": "questree.api.fact_tables:IMAGE_FACTS",
            "splits": "questree.api.splits:IMAGE_SPLITS",
            "shown": "questree.api.shown_images:SHOWER",
            "steps": "questree.api.image_steps:ImageSteps",
            "found objects": "questree.api.found_objects:of_image_sets",
            "executed": "questree.api.execution:of_images",
        },
    ),
)


def held(run: Run) -> list[Benchmark]:
    """The benchmarks of a run."""
    return [one for one in BENCHMARKS.values() if any(one.has(run, stage) for stage in one.tables)]


def chosen(run: Run, name: str = "", stage: str = "source") -> Benchmark:
    """The benchmark that is named, or else the first that has what a stage made, or else the first there is."""
    there = held(run)
    if name and name not in BENCHMARKS:
        raise BadInput.at("--benchmark", f"expected a benchmark, got {name!r}; choose from {', '.join(BENCHMARKS)}")
    if name and there and BENCHMARKS[name] not in there:
        scopes = ", ".join(one.scopes for one in there)
        raise BadInput.at(run.folder, f"expected a run of {BENCHMARKS[name].scopes} ({name}), got {scopes}")
    if name:
        return BENCHMARKS[name]
    return next((one for one in there if one.has(run, stage)), there[0] if there else AGQA)
