"""FPVG's experiment: does a model that answers right look at what the question is about?"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from questree.api.experiments.findings import Finding, finding
from questree.api.experiments.plan import ExperimentPlan, TrainingJob, learn
from questree.api.experiments.published import numbers
from questree.api.experiments.results import ExperimentResults, ScoredModels, beside, filled, paper_models
from questree.features.making import DETECTED
from questree.features.read import features_folder
from questree.metrics.cells import OVERALL
from questree.metrics.fpvg import CONDITIONS, SIDES, score_fpvg
from questree.metrics.scores import NO_SHARES, Score
from questree.scoring.fpvg_tables import MAIN, RATIOS
from questree.scoring.grounded import Judged, of_run
from questree.show.report.document import Block, ScoreRows
from questree.show.report.tables import by_model
from questree.stages.ground.grounding import GroundOptions
from questree.tables.store import new_file

MODELS = ("updn",)
FAR = 0.2  # FPVG+ is so much below accuracy
PAPER = "UpDn"


def jobs(plan: ExperimentPlan) -> Iterator[TrainingJob]:
    return (TrainingJob(model, model, plan.seeing()) for model in plan.models)


def run(plan: ExperimentPlan) -> ExperimentResults:
    learn(plan, list(jobs(plan)), split=None)
    found = FpvgScores(plan)
    rows = beside("fpvg", found.rows())
    return ExperimentResults(rows, list(filled(found.blocks(rows))), list(found.findings()), [found.judged.said])


@dataclass(frozen=True)
class FpvgScores:
    plan: ExperimentPlan

    @cached_property
    def judged(self) -> Judged:
        """What is relevant: by the evidence of programs, on annotated boxes or on those of the features' detector."""
        file = features_folder(self.plan.run) / self.plan.features / DETECTED
        options = GroundOptions("test", benchmark=self.plan.benchmark)
        return of_run(self.plan.place, options, None, [file] if file.is_file() else [])

    @property
    def relevance(self) -> pl.DataFrame:
        return next(iter(self.judged.found.values()))

    def answers(self, model: str) -> dict[str, pl.DataFrame]:
        """Condition -> id, prediction, probability: with all objects, the relevant and the irrelevant ones."""
        from questree.api.training import predict_questions

        ids, found = self.judged.questions["id"].to_list(), dict[str, pl.DataFrame]()
        for condition, side in zip(CONDITIONS, (None, *SIDES), strict=True):
            keep = dict(zip(ids, self.relevance[side].to_list(), strict=True)) if side else None
            how: dict[str, Any] = {"features": self.plan.features, "benchmark": self.plan.benchmark}
            found[condition] = predict_questions(self.plan.run, model, keep=keep, **how)
        return found

    @cached_property
    def scored(self) -> ScoredModels:
        found = {}
        for model in self.plan.models:
            said = self.answers(model)
            for condition, table in said.items():
                with new_file(said_file(self.plan.run, model, condition)) as path:
                    table.write_ndjson(path)
            found[model] = score_fpvg(self.judged.questions, self.relevance, said)
        return ScoredModels(found, self.plan.resampling)

    def rows(self) -> Iterator[Score]:
        for model, scored in self.scored.scored.items():
            yield from scored.rows(model, self.plan.resampling)

    def blocks(self, rows: list[Score]) -> Iterator[Block]:
        """Tables 2 and 4: models down."""
        found, models = ScoreRows(rows), [*self.plan.models, *paper_models(rows)]
        caption = (
            "Acc over all questions, the rest over those with relevant and irrelevant objects. Below: 95 % interval."
        )
        yield by_model(found, "fpvg", "Grounding", caption, models, MAIN)
        caption = "Right answers per wrong one among well and badly grounded questions."
        yield by_model(found, "fpvg-c2i", "Correct to incorrect answers", caption, models, RATIOS)

    def findings(self) -> Iterator[Finding]:
        known, scored = numbers("fpvg"), self.scored

        def paper(metric: str, group: str = OVERALL) -> float:
            return known[metric, "all", group, PAPER]

        for model in self.plan.models:
            gap = scored(model, "Acc_all", "all") - scored(model, "FPVG+", "all")
            value = round(paper("Acc_all") - paper("FPVG+"), 6)
            claim = "FPVG+ is more than 20 points below accuracy"
            yield finding(f"{model} grounding", claim, gap, "above", FAR, value, "Table 2")
            drop = scored(model, "Acc_all", "all") - scored(model, "Acc_irrel", "all")
            value = round(paper("Acc_all") - paper("Acc_irrel"), 6)
            claim = "answers are worse with irrelevant objects alone"
            yield finding(f"{model} irrelevant", claim, drop, "above", 0.0, value, "Table 2")
            odds = scored(model, "c2i", "all", "FPVG+") - scored(model, "c2i", "all", "FPVG-")
            value = round(paper("c2i", "FPVG+") - paper("c2i", "FPVG-"), 6)
            claim = "well grounded questions have more right answers per wrong one"
            yield finding(f"{model} c2i", claim, odds, "above", 0.0, value, "Table 4", NO_SHARES["c2i"])


def said_file(run: Path, model: str, condition: str) -> Path:
    """As `questree score fpvg` reads it."""
    return run / "experiments" / "fpvg-answers" / f"{model} {condition}.jsonl"
