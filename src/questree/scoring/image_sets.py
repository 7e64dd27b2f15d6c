"""COVR's scores: questions about image sets of a run or of files, their baselines, and models trained on splits."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from questree.benchmarks.covr.splits import PATTERNS, TEMPLATE_OF
from questree.faults import BadInput, Fault, refuse
from questree.metrics.scores import Score, Scored
from questree.metrics.sets import majority, score_covr, score_curve, score_generalization
from questree.models.policies import QuestionTexts
from questree.notation.own_shapes import program_shapes
from questree.scoring.compared import (
    LABELS,
    OnePolicy,
    PredictionReader,
    Tell,
    looked_up,
    silent,
)
from questree.sources.covr import (
    CHOOSING,
    EVERY,
    QUESTIONS,
    ROLES,
    CovrRecord,
    SplitPredictions,
    asked_in,
    read_covr_questions,
    read_curve_plan,
    read_plan,
)
from questree.tables.images import IMAGES
from questree.tables.run import Run
from questree.terms import Slot

COLUMNS = list(QUESTIONS.columns)
HELD_OUT = {"dev": "dev held out", "test": "test"}  # side -> the part of a split that is scored


def of_records(records: Sequence[CovrRecord]) -> pl.DataFrame:
    """Columns of sources/covr.QUESTIONS, templates as we name them."""
    return asked_in(records).with_columns(pl.col("template").replace(TEMPLATE_OF))


def known_side(side: str) -> None:
    if side not in HELD_OUT:
        raise BadInput.at("--side", f"expected dev or test, got {side!r}")


def nothing_asked(run: Run, side: str, held_out: str) -> BadInput:
    return BadInput.at(run.folder, f"no questions for {side}{f' in the split {held_out}' if held_out else ''}")


def with_image(run: Run, table: pl.DataFrame) -> pl.DataFrame:
    """With the id of a question's first image, for which it counts, and the options of a choice."""
    image = IMAGES.read(run.images)["id"].gather(table["images"].list.first().fill_null(0))
    return table.with_columns(image=image, options=options_of(table))


def options_of(table: pl.DataFrame) -> pl.Series:
    """[question] the two that its program chooses between, null if it does not."""
    programs = program_shapes(table)
    found: list[list[str] | None] = [None] * len(table)
    for node, at in programs.by_shape:
        places = [int(term.name) for term in node.args[-2:] if isinstance(term, Slot)]
        if node.op.name in CHOOSING:
            for row, words in zip(at.tolist(), programs.filled[at][:, places].tolist(), strict=True):
                found[row] = [programs.words[word] for word in words]
    return pl.Series(found, dtype=pl.List(pl.String))


def baselines(asked: pl.DataFrame, learnt: pl.DataFrame) -> dict[str, Scored]:
    """MAJ and MAJTEMPL, if there is anything to learn from."""
    guesses = majority(learnt, asked) if len(learnt) else {}
    return {name: score_covr(asked, table, list(PATTERNS)) for name, table in guesses.items()}


def texts_of(asked: pl.DataFrame) -> QuestionTexts | None:
    return looked_up(lambda: asked.select("id", "question"))


def generalization(
    questions: Path, plan: Path, how: OnePolicy, say: Tell = silent
) -> tuple[list[Score], list[Score], dict[str, SplitPredictions], dict[str, Scored]]:
    """Scores and accuracies of every split of a plan, rows about coverage, the splits, and models by their labels."""
    asked, splits = read_covr_questions(questions), read_plan(plan)
    held_out = {name: split.questions for name, split in splits.items()}
    files = {name: {role: plan.parent / split.file(role) for role in ROLES} for name, split in splits.items()}
    there(asked, held_out, questions, plan)
    said, about = read_models(asked, held_out, files, LABELS, how, say)
    score, accuracies = score_generalization(asked, held_out, said, how.missing == "skip")
    found = score.rows("split model", how.resampling)
    models = {LABELS[role]: scored for role, scored in accuracies.items()}
    for label, scored in models.items():
        found += scored.rows(label, how.resampling)
    return found, about, splits, models


def learning_curve(
    questions: Path, plan: Path, how: OnePolicy, say: Tell = silent
) -> tuple[list[Score], list[Score], dict[str, Scored]]:
    """Accuracies of every model of a plan, rows about coverage, and models by their numbers of examples, in order."""
    asked, splits = read_covr_questions(questions), read_curve_plan(plan)
    counts = {count for split in splits.values() for count in split.models}
    ordered = sorted(counts, key=lambda count: (count == EVERY, int(count) if count != EVERY else 0))
    labels = {count: f"{count} examples" for count in ordered}
    held_out = {name: split.questions for name, split in splits.items()}
    files = {
        name: {count: plan.parent / split.models[count] for count in ordered if count in split.models}
        for name, split in splits.items()
    }
    there(asked, held_out, questions, plan)
    said, about = read_models(asked, held_out, files, labels, how, say)
    scored = score_curve(asked, held_out, said, how.missing == "skip")
    models = {labels[count]: scored[count] for count in ordered}
    return [row for label, own in models.items() for row in own.rows(label, how.resampling)], about, models


HeldOut = Mapping[str, list[str] | None]  # split -> its questions, None for all


def there(asked: pl.DataFrame, held_out: HeldOut, questions: Path, plan: Path) -> None:
    """Questions of a plan that the file does not have are refused."""
    known = set(asked["id"].to_list())
    missing = [(name, id) for name, ids in held_out.items() for id in ids or [] if id not in known]
    refuse([Fault(f"{plan}, split {name}", f"no question {id} in {questions}") for name, id in missing[:20]])


def read_models(
    asked: pl.DataFrame,
    held_out: HeldOut,
    files: Mapping[str, Mapping[str, Path]],
    labels: Mapping[str, str],
    how: OnePolicy,
    say: Tell,
) -> tuple[dict[str, dict[str, pl.DataFrame]], list[Score]]:
    """Split -> model -> its predictions, and rows about coverage; files: of every model of every split."""
    said, about = dict[str, dict[str, pl.DataFrame]](), list[Score]()
    answers = asked["answer"].unique(maintain_order=True).to_list()
    for name, models in files.items():
        ids = held_out[name]
        own = asked if ids is None else asked.filter(asked["id"].is_in(ids))
        reader = PredictionReader(own["id"], asked["id"], answers, how, say, texts_of(asked))
        for model, file in models.items():
            ((_, table, rows),) = reader.read(file, f"{name}, {labels[model]}")
            said.setdefault(name, {})[model] = table
            about += rows
    return said, about
