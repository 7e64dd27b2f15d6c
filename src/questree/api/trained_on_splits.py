"""COVR's scores of models that were trained on splits: generalization, and the learning curve of what is held out."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from questree.api.score_tables import Telling, curve_table, split_table
from questree.metrics.scores import Score, Scored
from questree.scoring import image_sets
from questree.scoring.compared import OnePolicy, Tell, silent


@dataclass(frozen=True)
class Generalization:
    """How much of the gap between a text-only model and one trained on everything each split's model closes."""

    rows: list[Score]
    about: list[Score]  # coverage
    models: dict[str, Scored]
    filtered: dict[str, int | None]  # split -> number of questions held out

    def told(self) -> Telling:
        return split_table(self.rows, self.filtered)


def generalization(questions: Path, plan: Path, how: OnePolicy, say: Tell = silent) -> Generalization:
    rows, about, splits, models = image_sets.generalization(questions, plan, how, say)
    return Generalization(rows, about, models, {name: split.filtered for name, split in splits.items()})


@dataclass(frozen=True)
class LearningCurve:
    """Accuracy on what splits hold out, of models trained with more and more examples of it."""

    rows: list[Score]
    about: list[Score]  # coverage
    models: dict[str, Scored]  # by number of examples, in order

    def told(self) -> Telling:
        return curve_table(self.rows, list(self.models))

    def plots(self, width: float) -> Iterator[tuple[str, str]]:
        from questree.show.report.charts import curve_plot

        yield "curve", curve_plot(self.rows, list(self.models), width)


def learning_curve(questions: Path, plan: Path, how: OnePolicy, say: Tell = silent) -> LearningCurve:
    return LearningCurve(*image_sets.learning_curve(questions, plan, how, say))
