"""Every benchmark a run may hold: its medium, what its questions are about, and where its tables are in a run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from questree.extensions import Registry
from questree.faults import BadInput
from questree.tables.run import Run


@dataclass(frozen=True)
class Benchmark:
    name: str  # as --benchmark spells it
    domain: str  # whose operators its programs have: video, images
    scopes: str  # what a question is about
    tables: Mapping[str, str]  # stage -> its file or folder inside a run

    def place(self, run: Run, stage: str) -> Path:
        return run.folder / self.tables[stage]

    def has(self, run: Run, stage: str) -> bool:
        return self.place(run, stage).exists()


BENCHMARKS = Registry[Benchmark]("benchmark")  # the first one is meant where a run has several and none is named
AGQA = BENCHMARKS.add(
    "agqa",
    Benchmark(
        "agqa",
        "video",
        "videos",
        {name: name for name in ("facts", "questions", "balanced", "splits", "decomposed")}
        | {"source": "vocabulary.toml"},
    ),
)
COVR = BENCHMARKS.add(
    "covr",
    Benchmark(
        "covr",
        "images",
        "image sets",
        {"source": "images", "facts": "images", "questions": "covr/questions.parquet"}
        | {"balanced": "covr/balanced.parquet", "splits": "covr/splits", "decomposed": "covr/decomposed"},
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
