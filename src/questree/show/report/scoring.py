"""Every model of a run scored once: the rows of all tables, and per DAG how accurate and how consistent it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.api.scoring import IDS, ComparedQuestions, Scoring, of_run
from questree.faults import Fault, refuse
from questree.metrics.answered import Missing, ModelAnswers, answered
from questree.metrics.cells import Floats
from questree.metrics.dags import dag_scores, score_answered
from questree.metrics.scores import Coverage, Resampling, Score, Scored
from questree.models.bots import BOTS, BotCorpus, BotOptions
from questree.models.predictions import Policy
from questree.models.stored import covered, said
from questree.show.report.questions import ImageQuestions, RunQuestions, questions_of
from questree.show.views import View
from questree.tables.predictions import Stored, answers_images, answers_videos
from questree.tables.run import Run


@dataclass(frozen=True)
class Computed(Stored):
    """Answers in memory, to be read like stored ones."""

    answers: dict[str, NDArray[np.int32]] = field(default_factory=dict)  # shard -> [node]

    def shard(self, name: str, nodes: int) -> NDArray[np.int32]:
        return self.answers[name]

    def asked(self, name: str, predicted: NDArray[np.int32]) -> NDArray[np.int32]:
        return predicted


def answers_of(view: View, name: str) -> Stored:
    """What is stored under this name goes before a bot of that name."""
    if has_answered(view.run, name, view.images) or name not in BOTS:
        return Stored.of(view.run, name)
    asked = BotCorpus(view.run, BotOptions(name), view.images)
    return Computed(Path(), list(asked.number), dict(asked.answers()))


def has_answered(run: Run, name: str, images: bool) -> bool:
    return (answers_images if images else answers_videos)(run.predictions / name)


def called(name: str) -> str:
    """A bot with what it does."""
    return f"{name} ({BOTS[name].says})" if name in BOTS else name


@dataclass(frozen=True)
class How:
    """The choices behind the numbers."""

    split: str | None = "test"  # of which videos; None for all
    missing: Missing = "error"
    policy: Policy = "exact"
    resamples: int = 1000  # behind the intervals; 0 for none
    seed: int = 0  # of the resampling, and of the choice of failures and texts

    @property
    def resampling(self) -> Resampling | None:
        return Resampling(self.resamples, self.seed) if self.resamples else None


@dataclass(frozen=True)
class Result:
    model: str
    scored: Scored  # of the DAGs
    rows: list[Score]  # of the DAGs, then of the questions alone
    dags: tuple[Floats, Floats]  # [dag] accuracy, [dag] consistency
    coverage: Coverage
    unit: str  # what was resampled: videos or images


@dataclass(frozen=True)
class Judge:
    """The questions and DAGs of a run, read once for all models."""

    view: View
    how: How
    corpus: ComparedQuestions
    questions: RunQuestions | ImageQuestions

    @classmethod
    def of(cls, view: View, how: How) -> "Judge":
        corpus = of_run(view.run, how.split, view.benchmark.name, Scoring(how.missing, policy=how.policy))
        return cls(view, how, corpus, questions_of(view, how.split))

    def score(self, model: str) -> Result:
        stored, how = answers_of(self.view, model), self.how
        dags = self.corpus.asked
        assert dags is not None
        given = said(dags, stored)
        found = covered(dags, given)
        words = self.understood(stored.words)
        beside = answered(dags.hierarchies, ModelAnswers(words, given.by_key), how.missing)
        scored = score_answered(beside)
        alone = self.questions.rows(model, stored, words, how.missing, how.resampling)
        unit = self.questions.unit
        return Result(model, scored, [*scored.rows(model, how.resampling), *alone], dag_scores(beside), found, unit)

    def understood(self, words: Sequence[str]) -> list[str]:
        """[word] the answer it means under the policy."""
        table = pl.DataFrame({"id": words, "prediction": words}, schema=dict.fromkeys(IDS, pl.String))
        return self.corpus.reader.understood(table, self.how.policy).table["prediction"].to_list()


def refuse_gaps(results: Sequence[Result], missing: Missing) -> None:
    """All models that lack predictions at once, unless a missing one is wrong or left out."""
    refuse(
        [
            Fault(
                f"model {one.model}",
                f"no prediction for {one.coverage.missing:,} of {one.coverage.needed:,} questions, for example "
                f"{', '.join(one.coverage.examples)}; give them, or choose --missing wrong or --missing skip",
            )
            for one in results
            if missing == "error" and one.coverage.missing
        ]
    )
