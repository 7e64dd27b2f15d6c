"""What an experiment trains: each model by name, with what it learns from; what is trained is not trained again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from questree.metrics.scores import Resampling
from questree.models.bots import BOTS
from questree.progress import finished
from questree.tables.run import Run
from questree.workers import processes

PaperName = Literal["agqa", "decomp", "covr", "fpvg"]


@dataclass(frozen=True)
class TrainingJob:
    """A model to train, and what its training is."""

    name: str  # of the trained model
    network: str
    options: Mapping[str, Any] = field(default_factory=dict)  # of `train`


@dataclass(frozen=True)
class ExperimentPlan:
    """What was asked for."""

    run: Path
    benchmark: str
    models: tuple[str, ...]
    features: str
    common: Mapping[str, Any]  # options of every training: size, epochs, sample, seed, ...
    resampling: Resampling
    splits: tuple[str, ...] = ()
    consistency: float = 0.0
    parts: bool = False
    guided: float = 0.0
    workers: int = 2

    @property
    def place(self) -> Run:
        return Run(self.run)

    def seeing(self, blind: bool = False) -> dict[str, Any]:
        """What a network of objects learns besides questions; nobody who is blind can be told what to look at."""
        return {"parts": self.parts} | ({"blind": True} if blind else {"guided": self.guided})


def learn(plan: ExperimentPlan, jobs: Sequence[TrainingJob], split: str | None = "test") -> None:
    """Train every model that is not, and let it answer a split; several at a time."""
    with processes(plan.workers, None, lambda: f"{_kept(plan, jobs)}, with --workers 1") as executor:
        futures = [executor.submit(learnt, plan, job, split) for job in jobs]
        try:
            for future in finished(futures, "models"):
                future.result()
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(_kept(plan, jobs)) from stop


def _kept(plan: ExperimentPlan, jobs: Sequence[TrainingJob]) -> str:
    from questree.api.training import trained

    done = sum(trained(plan.run, job.name) for job in jobs)
    return f"{done} of {len(jobs)} models are trained and kept; rerun"


def learnt(plan: ExperimentPlan, job: TrainingJob, split: str | None) -> None:
    """Train one model, and store its answers unless they are there."""
    from questree.api.training import predict, train

    how: dict[str, Any] = {"features": plan.features, "benchmark": plan.benchmark}
    train(plan.run, model=job.network, name=job.name, **{**plan.common, **job.options}, **how)
    if split is not None and not _answered(plan, job.name):
        predict(plan.run, model=job.name, split=split, **how)


def _answered(plan: ExperimentPlan, name: str) -> bool:
    """Has it answered since it was trained?"""
    said, weights = plan.place.predictions / name, plan.run / "trained" / name / "weights.safetensors"
    return said.is_dir() and weights.is_file() and said.stat().st_mtime_ns >= weights.stat().st_mtime_ns


def answer_bots(plan: ExperimentPlan, names: Sequence[str]) -> None:
    """Bots that have not answered yet do."""
    from questree.api.answering import answer

    for name in names:
        if name in BOTS and not (plan.place.predictions / name).is_dir():
            answer(plan.run, name, benchmark=plan.benchmark)
