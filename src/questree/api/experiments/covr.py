"""COVR's experiment: a model that sees, one that does not, and models that never saw some kinds of questions."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from questree.api.experiments.findings import Finding, finding, score
from questree.api.experiments.plan import ExperimentPlan, TrainingJob, learn
from questree.api.experiments.published import numbers
from questree.api.experiments.results import ExperimentResults, ScoredModels, beside, filled, paper_models
from questree.api.splits import declared, parts
from questree.benchmarks import COVR
from questree.faults import Fault, refuse
from questree.metrics.cells import OVERALL
from questree.metrics.scores import Score, Scored
from questree.metrics.sets import NAME as GENERALIZATION
from questree.metrics.sets import score_generalization
from questree.models.stored import image_predictions
from questree.scoring.compared import LABELS, Scoring, silent
from questree.scoring.run_questions import image_questions
from questree.scoring.set_scores import baselines, sets_together
from questree.show.report.document import Block, ScoreRows
from questree.show.report.tables import by_group, covr_blocks

MODELS = ("transformer",)
LITTLE = 0.05  # what reading questions alone brings over MAJTEMPL


def blind(model: str) -> str:
    return f"{model} blind"


def roles(model: str, split: str) -> dict[str, str]:
    """Who is who in the generalization score of a split."""
    own = f"{model} {split}"
    return {"text": blind(model), "model": own, "iid-size": f"{own} iid-size", "iid": model}


def splits_of(plan: ExperimentPlan) -> list[str]:
    """Those that were asked for, or all that were made and hold something out of test."""
    made = declared(plan.place, COVR)
    strange = [name for name in plan.splits if name not in made]
    known = f"choose from {', '.join(made) or 'none, `questree split` makes them'}"
    refuse([Fault("--splits", f"expected a split of the run, got {name!r}; {known}") for name in strange])
    return [name for name in plan.splits or made if len(parts(plan.place, COVR, name).get("test", ()))]


def jobs(plan: ExperimentPlan) -> Iterator[TrainingJob]:
    for model in plan.models:
        yield TrainingJob(model, model, plan.seeing())
        yield TrainingJob(blind(model), model, plan.seeing(blind=True))
        for split in splits_of(plan):
            who, sees = roles(model, split), plan.seeing()
            yield TrainingJob(who["model"], model, sees | {"split": f"{split} train", "validation": f"{split} dev"})
            yield TrainingJob(who["iid-size"], model, sees | {"split": f"{split} iid-size", "validation": "dev"})


def run(plan: ExperimentPlan) -> ExperimentResults:
    learn(plan, list(jobs(plan)))
    found = CovrScores(plan)
    shown = {*splits_of(plan), OVERALL}
    rows = [row for row in beside("covr", found.rows()) if row.by != "split" or row.group in shown]
    return ExperimentResults(rows, list(filled(found.blocks(rows))), list(found.findings()))


@dataclass(frozen=True)
class CovrScores:
    plan: ExperimentPlan

    @cached_property
    def asked(self) -> pl.DataFrame:
        """Questions of test."""
        return image_questions(self.plan.place, "test").asked

    @cached_property
    def whole(self) -> ScoredModels:
        """On all test questions, beside the baselines."""
        names = [name for model in self.plan.models for name in (blind(model), model)]
        counted = sets_together(self.plan.place, names, "test", "", False, Scoring(), 1)
        found = {name: one for name, one, _ in counted.scored((), silent)}
        return ScoredModels(baselines(counted) | found, self.plan.resampling)

    @cached_property
    def generalized(self) -> dict[str, tuple[Scored, Mapping[str, Scored]]]:
        """Model -> its generalization scores, and the accuracies of all four behind them; on what splits hold out."""
        held_out = {name: self._test(name) for name in splits_of(self.plan)}
        found = dict[str, tuple[Scored, Mapping[str, Scored]]]()
        for model in self.plan.models if held_out else ():
            said = {
                split: {role: self._said(name, ids) for role, name in roles(model, split).items()}
                for split, ids in held_out.items()
            }
            found[model] = score_generalization(self.asked, held_out, said)
        return found

    def _test(self, split: str) -> list[str]:
        return parts(self.plan.place, COVR, split)["test"]["id"].to_list()

    def _said(self, model: str, ids: list[str]) -> pl.DataFrame:
        return image_predictions(self.plan.place, model, pl.Series(ids, dtype=pl.String)).table

    def rows(self) -> Iterator[Score]:
        for name, scored in self.whole.scored.items():
            yield from scored.rows(name, self.plan.resampling)
        for model, (scores, accuracies) in self.generalized.items():
            yield from scores.rows(f"{model} {LABELS['model']}", self.plan.resampling)
            for role, scored in accuracies.items():
                yield from scored.rows(f"{model} {LABELS[role]}", self.plan.resampling)

    def blocks(self, rows: list[Score]) -> Iterator[Block]:
        found, names = ScoreRows(rows), [name for name in self.whole.scored if name not in ("MAJ", "MAJTEMPL")]
        yield from covr_blocks(found, [*names, *paper_models(rows)], ())
        caption = (
            "Tables 7 and 8: accuracy on what a split holds out, of the model that never saw it (few-shot: hardly), of "
            "one that saw as many examples of everything (iid-size), of one that saw all, and of one that reads the "
            "question alone. Generalization score: the part of the gap from text-only to iid-size that is closed."
        )
        who = [f"{model} {label}" for model in (*self.plan.models, "VB") for label in LABELS.values()]
        who = [f"{name} (paper)" if name.startswith("VB ") else name for name in who]
        wanted = {"accuracy": who, GENERALIZATION: [f"{m} {LABELS['model']}" for m in self.plan.models]}
        yield by_group(found, "covr-splits", "What splits hold out", caption, "split", wanted)

    def findings(self) -> Iterator[Finding]:
        known, whole = numbers("covr"), self.whole
        text, seen, likely = (known["accuracy", "template", OVERALL, name] for name in ("VB text", "VB", "MAJTEMPL"))
        for model in self.plan.models:
            more = whole(model, by="template") - whole(blind(model), by="template")
            yield finding(
                f"{model} sees", "beats its text-only variant", more, "above", 0.0, round(seen - text, 6), "Table 6"
            )
            alone = whole(blind(model), by="template") - whole("MAJTEMPL", by="template")
            claim = "reading questions alone brings less than 5 points over MAJTEMPL"
            yield finding(f"{model} blind", claim, alone, "below", LITTLE, round(text - likely, 6), "Table 6")
            yield from self._about_splits(model)

    def _about_splits(self, model: str) -> Iterator[Finding]:
        if model not in self.generalized:
            return
        scores, accuracies = self.generalized[model]
        drawn, known = self.plan.resampling, numbers("covr")
        claim = "what was never seen is answered worse than by a model that saw as many examples of everything"
        for split in [*splits_of(self.plan), OVERALL]:
            own, other = (
                score(accuracies[role], "accuracy", "split", split, drawn, f"{model} {LABELS[role]}")
                for role in ("model", "iid-size")
            )
            paper = [known.get(("accuracy", "split", split, f"VB {LABELS[role]}")) for role in ("model", "iid-size")]
            gap = None if None in paper else round(paper[0] - paper[1], 6)  # type: ignore[operator]
            yield finding(f"{model} {split}", claim, own - other, "below", 0.0, gap, "Tables 7, 8")
        closed = score(scores, GENERALIZATION, "split", OVERALL, drawn, f"{model} split models")
        claim = "split models close less than the whole gap between text-only and iid-size"
        yield finding(f"{model} generalization", claim, closed, "below", 1.0)
