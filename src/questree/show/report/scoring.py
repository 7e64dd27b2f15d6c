"""Every model of a run scored once: the rows of all tables, and per DAG how accurate and how consistent it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.faults import Fault, refuse
from questree.metrics.bootstrap import Resampling
from questree.metrics.coverage import Coverage
from questree.metrics.dags.answered import Missing, Said, answered
from questree.metrics.dags.correlation import dag_scores
from questree.metrics.dags.report import score_answered
from questree.metrics.scores import Score, Scored
from questree.metrics.tallies import Floats
from questree.models.bots import BOTS, NOT_SEEN, Corpus, Options
from questree.models.image_bots import BOTS as IMAGE_BOTS
from questree.models.policies import Policy, read_answers
from questree.models.stored import covered, said
from questree.progress import watch
from questree.show.report.questions import ImageQuestions, RunQuestions, image_questions, run_questions
from questree.show.views import View
from questree.stages.decompose.hierarchies import RunHierarchies, run_hierarchies
from questree.stages.decompose.image_hierarchies import image_hierarchies, node_columns
from questree.stages.decompose.image_sets import read_sets, spoken_sets
from questree.tables.predictions import IMAGE_SETS, Stored, answers_images, answers_videos
from questree.tables.run import Run
from questree.vocabulary.load import default


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
    return (image_answers if view.images else video_answers)(view.run, name)


def video_answers(run: Run, name: str) -> Stored:
    """What is stored under this name goes before a bot of that name."""
    if answered_videos(run, name) or name not in BOTS:
        return Stored.of(run, name)
    corpus = Corpus(run, Options(name))
    found = {
        folder.name: BOTS[name].answers(corpus, corpus.shard(folder)).astype(np.int32)
        for folder in watch(corpus.folders, name, len(corpus.folders))
    }
    return Computed(Path(), [*corpus.words.number, NOT_SEEN], found)


def image_answers(run: Run, name: str) -> Stored:
    """The same for questions about image sets."""
    if answered_images(run, name) or name not in IMAGE_BOTS:
        return Stored.of(run, name)
    nodes = spoken_sets(read_sets(run.covr / "decomposed"))
    said = nodes.with_columns(answer=IMAGE_BOTS[name].answers(nodes, 0))
    words, columns = node_columns(said)
    return Computed(Path(), words, {IMAGE_SETS: columns.answer})


def answered_videos(run: Run, name: str) -> bool:
    return answers_videos(run.predictions / name)


def answered_images(run: Run, name: str) -> bool:
    return answers_images(run.predictions / name)


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

    run: Run
    how: How
    dags: RunHierarchies
    questions: RunQuestions | ImageQuestions
    answers: Callable[[Run, str], Stored]

    @classmethod
    def of_videos(cls, run: Run, how: How, workers: int = 2) -> "Judge":
        return cls(run, how, run_hierarchies(run, how.split, workers), run_questions(run, how.split), video_answers)

    @classmethod
    def of_images(cls, run: Run, how: How) -> "Judge":
        return cls(run, how, image_hierarchies(run, how.split), image_questions(run, how.split), image_answers)

    def score(self, model: str) -> Result:
        stored, how = self.answers(self.run, model), self.how
        given = said(self.dags, stored)
        found = covered(self.dags, given)
        words = self.understood(stored.words)
        beside = answered(self.dags.hierarchies, Said(words, given.by_key), how.missing)
        scored = score_answered(beside, how.missing == "skip")
        alone = self.questions.rows(model, stored, words, how.missing, how.resampling)
        unit = self.questions.unit
        return Result(model, scored, [*scored.rows(model, how.resampling), *alone], dag_scores(beside), found, unit)

    def understood(self, words: Sequence[str]) -> list[str]:
        """[word] the answer it means under the policy."""
        table = pl.DataFrame({"id": words, "prediction": words}, schema={"id": pl.String, "prediction": pl.String})
        known = self.dags.hierarchies.words
        own = self.run.vocabulary() if self.run.vocabulary_file.is_file() else default()
        return read_answers(table, known, self.how.policy, own).table["prediction"].to_list()


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
