"""AGQA-Decomp's experiment: are wholes put together of parts, what do sub-questions bring, and does consistency pay?"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from questree.api.experiments.findings import Finding, Statistic, finding, mean
from questree.api.experiments.plan import ExperimentPlan, TrainingJob, answer_bots, learn
from questree.api.experiments.published import numbers, of_paper
from questree.api.experiments.results import ExperimentResults, ScoredModels, beside, filled, paper_models
from questree.benchmarks import AGQA
from questree.metrics.cells import OVERALL
from questree.metrics.scores import CORRELATION, NO_SHARES, Score
from questree.scoring.run_scores import How, ModelScores, RunScores
from questree.show.report.document import Block, ScoreRows
from questree.show.report.tables import by_group, decomp_blocks

MODELS = ("hcrn", "hme", "psac")
BOTS = ("most-likely",)
LOW, COST = 0.65, -0.02  # IC is low below; consistency is cheap above
TRAINED_ON = "trained on"


def parts(model: str) -> str:
    """The model that learnt sub-questions too, as those of the paper's tables did."""
    return f"{model} parts"


def consistent(model: str) -> str:
    """The same with a loss for contradictions."""
    return f"{model} consistency"


def jobs(plan: ExperimentPlan) -> Iterator[TrainingJob]:
    for model in plan.models:
        yield TrainingJob(model, model)
        yield TrainingJob(parts(model), model, {"parts": True})
        yield TrainingJob(consistent(model), model, {"parts": True, "consistency": plan.consistency})


def run(plan: ExperimentPlan) -> ExperimentResults:
    answer_bots(plan, BOTS)
    learn(plan, list(jobs(plan)))
    found = DecompScores(plan)
    rows = beside("decomp", found.rows())
    return ExperimentResults(rows, list(filled(found.blocks(rows))), list(found.findings()))


@dataclass(frozen=True)
class DecompScores:
    plan: ExperimentPlan

    @property
    def names(self) -> list[str]:
        return [name for model in self.plan.models for name in (parts(model), consistent(model))]

    @cached_property
    def found(self) -> dict[str, ModelScores]:
        """Every model on the DAGs and the questions of test."""
        drawn = self.plan.resampling
        how = How(resamples=drawn.resamples, seed=drawn.seed, split="test")
        names = [*self.names, *self.plan.models, *BOTS]
        return {one.model: one for one in RunScores.of(self.plan.place, AGQA, how, names).models}

    @cached_property
    def dags(self) -> ScoredModels:
        return ScoredModels({name: one.scored for name, one in self.found.items()}, self.plan.resampling)

    @cached_property
    def questions(self) -> ScoredModels:
        return ScoredModels({name: one.scored_alone for name, one in self.found.items()}, self.plan.resampling)

    def rows(self) -> Iterator[Score]:
        for name in [*self.names, *BOTS]:
            yield from self.found[name].dags
        for model in self.plan.models:
            for name, group in ((model, "AGQA"), (parts(model), "AGQA-Decomp")):
                own = next(row for row in self.found[name].alone if (row.by, row.group) == ("structural", OVERALL))
                yield Score("accuracy", TRAINED_ON, group, own.value, own.n, own.low, own.high, model)

    def blocks(self, rows: list[Score]) -> Iterator[Block]:
        found, known = ScoreRows(rows), paper_models(rows)
        shown = [self.found[name] for name in self.names]
        yield from decomp_blocks(found, shown, [*self.names, *known], BOTS)
        caption = "Table 10: accuracy on AGQA's questions by what a model was trained on; all answers alike."
        models = [*self.plan.models, *(of_paper(model.upper()) for model in self.plan.models)]
        title = "Accuracy by what a model was trained on"
        yield by_group(found, "decomp-gain", title, caption, TRAINED_ON, {"accuracy": models})

    def consistency(self, *models: str) -> list[Statistic]:
        """IC of each model: the mean over the rules that all of them ever put to the test."""
        rules = [cell.group for cell in self.dags.scored[models[0]].cells if (cell.metric, cell.by) == ("IC", "rule")]
        found = [[self.dags(model, "IC", "rule", rule) for rule in rules if rule != OVERALL] for model in models]
        kept = [at for at in range(len(found[0])) if not any(np.isnan(own[at].value) for own in found)]
        few = f"IC over {len(kept)} rules of"
        return [mean(f"{few} {model}", [own[at] for at in kept]) for model, own in zip(models, found, strict=True)]

    def findings(self) -> Iterator[Finding]:
        for model in self.plan.models:
            yield from self._about(model, model.upper())

    def _about(self, model: str, named: str) -> Iterator[Finding]:
        known, dags, own = numbers("decomp"), self.dags, parts(model)

        def paper(metric: str, by: str, group: str = OVERALL, who: str = named) -> float | None:
            return known.get((metric, by, group, who))

        def apart(one: float | None, other: float | None) -> float | None:
            return None if one is None or other is None else round(one - other, 6)

        contradicts, value = "contradicts itself in more than 35 % of the checks", paper("IC", "rule")
        yield finding(f"{model} IC", contradicts, self.consistency(own)[0], "below", LOW, value, "Table 3")
        value = paper("IC", "composition", "Choose")
        choices = "of its choices not even half agree with its answers to their parts"
        yield finding(
            f"{model} Choose", choices, dags(own, "IC", "composition", "Choose"), "below", 0.5, value, "Table 4"
        )
        less, value = "is right less often where a part is wrong: CA exceeds RWR", paper("Delta", "type")
        yield finding(f"{model} Delta", less, dags(own, "Delta", "type"), "below", 0.0, value, "Table 3")
        weak, value = "its consistent DAGs are not the accurate ones", paper(CORRELATION, "dag")
        digits = NO_SHARES[CORRELATION]
        yield finding(
            f"{model} correlation", weak, dags(own, CORRELATION, "dag"), "below", 0.0, value, "Figure 3", digits
        )
        basic = dags(own, by="type", group="Object Exists") - dags("most-likely", by="type", group="Object Exists")
        value = apart(*(paper("accuracy", "type", "Object Exists", who) for who in (named, "Most-Likely")))
        sees = "does not know better than Most-Likely which objects there are"
        yield finding(f"{model} Object Exists", sees, basic, "below", 0.0, value, "Table 3")
        value = apart(*(paper("accuracy", TRAINED_ON, group) for group in ("AGQA-Decomp", "AGQA")))
        gain = self.questions(own) - self.questions(model)
        yield finding(f"{model} gain", "gains from training on sub-questions", gain, "above", 0.0, value, "Table 10")
        raised, before = self.consistency(consistent(model), own)
        yield finding(f"{model} consistency", "a loss for contradictions raises IC", raised - before, "above")
        cost = self.questions(consistent(model)) - self.questions(own)
        yield finding(f"{model} consistency, cost", "and costs less than 2 points of accuracy", cost, "above", COST)
