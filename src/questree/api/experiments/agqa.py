"""AGQA's experiment: models and their blind variants by category and steps, and what they do not generalise to."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import msgspec
import polars as pl

from questree.api.experiments.findings import Finding, finding, slope
from questree.api.experiments.plan import ExperimentPlan, TrainingJob, answer_bots, learn
from questree.api.experiments.published import numbers
from questree.api.experiments.results import ExperimentResults, ScoredModels, beside, filled, paper_models
from questree.api.question_tables import question_table
from questree.benchmarks import AGQA
from questree.formats.agqa_import import records_of
from questree.metrics.answers import MODEL, AnswerCounts, fit_rows, most_likely
from questree.metrics.cells import OVERALL
from questree.metrics.scores import Resampling, Score
from questree.scoring import agqa_questions, question_scores
from questree.scoring.agqa_tables import HARDER
from questree.scoring.compared import Scoring
from questree.show.report.document import Block, ScoreRows
from questree.show.report.tables import agqa_blocks
from questree.tables.scored import QuestionRecords

MODELS = ("psac", "hme", "hcrn")
BOTS = ("most-likely", "blind")  # Most-Likely, and the question-only model of `audit`
QUESTIONS_ONLY = "lstm"
SPLITS = {"novel-compositions": "novel composition", "more-steps": "more steps"}  # split -> what tables call it
LITTLE, SURE = 0.05, 0.85  # a blind model loses less; precision of indirect references is less


def blind(model: str) -> str:
    return f"{model} blind"


def without(model: str, split: str) -> str:
    """The model that was trained on a split."""
    return f"{model} {split}"


def jobs(plan: ExperimentPlan) -> Iterator[TrainingJob]:
    yield TrainingJob(QUESTIONS_ONLY, QUESTIONS_ONLY)
    for model in plan.models:
        yield TrainingJob(model, model)
        yield TrainingJob(blind(model), model, {"blind": True})
        yield from (TrainingJob(without(model, split), model, {"split": f"{split} train"}) for split in SPLITS)


def run(plan: ExperimentPlan) -> ExperimentResults:
    answer_bots(plan, BOTS)
    learn(plan, list(jobs(plan)))
    found = AgqaScores(plan)
    rows = of_one_kind(beside("agqa", found.rows()))
    return ExperimentResults(rows, list(filled(found.blocks(rows))), list(found.findings()))


@dataclass(frozen=True)
class AgqaScores:
    plan: ExperimentPlan

    @property
    def every(self) -> list[str]:
        return [QUESTIONS_ONLY, *(name for model in self.plan.models for name in (blind(model), model))]

    @cached_property
    def asked(self) -> QuestionRecords:
        return agqa_questions.of_run(self.plan.place, "test")

    def _scored(self, asked: QuestionRecords, names: list[str], resampling: Resampling) -> ScoredModels:
        return ScoredModels(question_scores.scored_on(asked, self.plan.place, Scoring(), names), resampling)

    @cached_property
    def whole(self) -> ScoredModels:
        """On all test questions."""
        return self._scored(self.asked, [*self.every, *BOTS], self.plan.resampling)

    @cached_property
    def harder(self) -> dict[str, ScoredModels]:
        """Split -> models trained on it and on everything, on what it tests; drawn apart from the whole."""
        drawn, found = self.plan.resampling, dict[str, ScoredModels]()
        for at, split in enumerate(SPLITS, 1):
            ids = question_table(self.plan.place, AGQA, f"{split} test", columns=["id"])["id"]
            few = records_of(self.asked.table.filter(pl.col("id").is_in(ids.implode())))
            names = [name for model in self.plan.models for name in (model, without(model, split))]
            own = replace(few, texts=self.asked.texts)
            found[split] = self._scored(own, [*names, "most-likely"], replace(drawn, seed=drawn.seed + at))
        return found

    def rows(self) -> Iterator[Score]:
        drawn = self.plan.resampling
        yield from most_likely(AnswerCounts.of(self.asked.table))
        for name in [*self.every, *BOTS]:
            own = self.whole.scored[name]
            yield from (row for row in own.rows(name, drawn) if row.by.partition(",")[0] not in HARDER)
            yield from fit_rows(own.tallies, name, drawn)
        for split, called in SPLITS.items():
            for model in self.plan.models:
                yield from self._harder_rows(split, called, without(model, split), model)
                yield from self._harder_rows(split, called, model, f"{model}, trained on all")

    def _harder_rows(self, split: str, called: str, model: str, label: str) -> Iterator[Score]:
        """Of one model on what a split tests."""
        for row in self.harder[split].scored[model].rows(label, self.harder[split].resampling):
            if row.by.partition(",")[0] == called:
                yield row

    def blocks(self, rows: list[Score]) -> Iterator[Block]:
        trained = [f"{model}, trained on all" for model in self.plan.models]
        return agqa_blocks(ScoreRows(rows), [*self.every, *trained, *paper_models(rows)], BOTS)

    def findings(self) -> Iterator[Finding]:
        for model in self.plan.models:
            yield from self._about(model, model.upper())
        both = self.whole(QUESTIONS_ONLY) - self.whole("blind")
        claim = "a network that reads the question alone gets no more right than the audit's question-only model"
        yield finding("question only", claim, both, "below")

    def _about(self, model: str, named: str) -> Iterator[Finding]:
        """What the paper says about each model; named: as it spells it."""
        known, whole = numbers("agqa"), self.whole
        own = known.get(("accuracy", "structural", OVERALL, named))

        def apart(one: str, by: str = "structural") -> float | None:
            other = known.get(("accuracy", by, OVERALL, one))
            return None if own is None or other is None else round(own - other, 6)

        seen = whole(model) - whole(blind(model))
        yield finding(
            f"{model} sees", "beats its blind variant", seen, "above", 0.0, apart(f"{named} (w/o vision)"), "Table 2"
        )
        lost = "its blind variant loses less than 5 points on balanced data"
        yield finding(f"{model} blind", lost, seen, "below", LITTLE, apart(f"{named} (w/o vision)"), "Table 2")
        likely = whole(model) - whole("most-likely")
        yield finding(f"{model} learns", "beats Most-Likely", likely, "above", 0.0, apart("Most Likely"), "Table 2")
        steps = "accuracy falls with the number of steps"
        yield finding(
            f"{model} steps", steps, slope(whole.scored[model], whole.resampling, model), "below", source="Figure 5"
        )
        kinds = whole(model, by="structural, binary") - whole(model, by="structural, open")
        parts = [known.get(("accuracy", f"structural, {kind}", OVERALL, named)) for kind in ("binary", "open")]
        gap = None if None in parts else round(parts[0] - parts[1], 6)  # type: ignore[operator]
        yield finding(
            f"{model} open", "open questions are harder than binary ones", kinds, "above", 0.0, gap, "Table 2"
        )
        for split, called in SPLITS.items():
            there, learnt = self.harder[split], without(model, split)
            published = known.get(("accuracy", called, OVERALL, named))
            gap = None if own is None or published is None else round(published - own, 6)
            claim = (
                f"trained without them, {called}s are harder than the test set"
                if called[0] == "n"
                else "trained on few steps, more steps are harder than the test set"
            )
            yield finding(f"{model} {split}", claim, there(learnt) - whole(model), "below", 0.0, gap, "Table 3")
            claim = "on these questions it loses to the same model trained on everything"
            yield finding(f"{model} {split}, same questions", claim, there(learnt) - there(model), "below")
        precise = whole(model, "precision", "indirect reference", "Object")
        claim = "fails on more than 15 % of indirect objects whose direct question it answers right"
        value = known.get(("precision", "indirect reference", "Object", named))
        yield finding(f"{model} indirect", claim, precise, "below", SURE, value, "Table 5")


def of_one_kind(rows: list[Score]) -> list[Score]:
    """Where all questions of a category are binary, or all open, what the paper has of the category is of that kind."""
    asked = {(row.by, row.group): row.n or 0 for row in rows if row.model == MODEL}
    more = [
        msgspec.structs.replace(row, by=f"{row.by}, {kind}")
        for row in rows
        if row.n is None and row.value is not None
        for kind, other in (("binary", "open"), ("open", "binary"))
        if asked.get((f"{row.by}, {kind}", row.group)) and not asked.get((f"{row.by}, {other}", row.group))
    ]
    return [*rows, *more]
