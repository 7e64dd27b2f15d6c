"""`questree score covr` and `score generalization`: COVR's tables, of a run or of files."""

from itertools import chain
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.api.scoring import PredictionReader, names
from questree.cli.scoring import (
    MissingOption,
    OnePolicy,
    PolicyOption,
    Resamples,
    Seed,
    VocabularyFile,
    policies,
    print_metrics,
    print_policies,
    resampling,
    shown,
    there,
)
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.metrics.scores import Score
from questree.models.predictions import Predictions
from questree.tables.run import Run


@output
def covr(
    run: Annotated[Path | None, Parameter(help="Run folder with image questions.")] = None,
    /,
    *,
    questions: Annotated[
        Path | None, Parameter(name="--questions", help="COVR questions: a JSON list or JSON lines.")
    ] = None,
    train: Annotated[
        Path | None, Parameter(name="--train", help="COVR questions of the training set, for the baselines.")
    ] = None,
    predictions: Annotated[
        list[Path] | None,
        Parameter(name="--predictions", help="Predictions of one model; may be given again.", negative=""),
    ] = None,
    model: Annotated[
        list[str] | None, Parameter(name="--model", help="Model stored in the run; may be given again.", negative="")
    ] = None,
    side: Annotated[str, Parameter(name="--side", help="With a run: split to score, dev or test.")] = "test",
    held_out: Annotated[
        str,
        Parameter(
            name="--held-out", help="With a run: score what this split holds out; baselines learn from its train."
        ),
    ] = "",
    every: Annotated[
        bool, Parameter(name="--all", help="With a run: score every question, not only the balanced selection.")
    ] = False,
    missing: MissingOption = "error",
    policy: PolicyOption = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> None:
    """Accuracy by template with intervals over images; MAJ and MAJTEMPL as two more models."""
    from questree.benchmarks.covr.splits import PATTERNS
    from questree.metrics.sets import majority, score_covr

    how, files = resampling(resamples, seed), predictions or []
    there(*files)
    if run is None and model:
        raise BadInput.at("--model", "goes with a run; of files, give --predictions FILE")
    with watching():
        asked, learnt = of_files(questions, train) if run is None else of_run(run, side, held_out, every)
        templates, skip = list(PATTERNS), missing == "skip"
        rows, about = list[Score](), list[Score]()
        for name, table in (majority(learnt, asked) if len(learnt) else {}).items():
            rows += score_covr(asked, table, templates).rows(name, how)
        answers = asked["answer"].unique(maintain_order=True).to_list()
        reader = PredictionReader(asked["id"], asked["id"], answers, policies(policy), missing, vocabulary, say)
        kept = stored(run, model or [], asked["id"]) if run else []
        found = [reader.readings(run, each) for each in kept]
        found += [reader.read(file, name) for file, name in zip(files, names(files), strict=True)]
        for each, reading, said in chain.from_iterable(found):
            rows += score_covr(asked, reading.table, templates, skip).rows(each, how)
            about += said
    write_json([*rows, *about])
    if not len(learnt):
        say("no training questions: no baselines; give them with --train FILE")
    print_templates(rows)
    print_metrics(rows)
    print_policies([*rows, *about], [("accuracy", "template")])


def stored(run: Path, models: list[str], ids: Any) -> list[Predictions]:
    """Of the models that were named, each once: their answers to these questions."""
    from questree.models.stored import image_predictions

    return [image_predictions(Run(run), name, ids) for name in dict.fromkeys(models)]


def print_templates(rows: list[Score]) -> None:
    """Templates down, models across, as COVR's Table 13; intervals while there is room."""
    at = {(row.group, row.model): row for row in rows if (row.metric, row.by) == ("accuracy", "template")}
    models = list(dict.fromkeys(row.model for row in rows))
    lines = [
        {"Template": group, "n": at[group, models[0]].n}
        | {model: shown(at[group, model], len(models) < 5) for model in models}
        for group in dict.fromkeys(group for group, _ in at)
    ]
    print_table("Accuracy by template", lines)


def of_files(questions: Path | None, train: Path | None) -> tuple[Any, Any]:
    """Evaluated and training questions: id, answer, image, template."""
    import polars as pl

    from questree.benchmarks.covr.splits import TEMPLATE_OF
    from questree.sources.covr import QUESTIONS, read_templates

    if questions is None:
        raise BadInput.at("", "expected either a run folder or --questions FILE")
    found = read_templates(questions), QUESTIONS.empty() if train is None else read_templates(train)
    asked, learnt = (table.with_columns(pl.col("template").replace(TEMPLATE_OF)) for table in found)
    return asked, learnt


def of_run(run: Path, side: str, held_out: str, every: bool) -> tuple[Any, Any]:
    import polars as pl

    from questree.stages.split.image_sets import read_split, selected
    from questree.tables.images import IMAGES

    here = Run(run)
    if side not in ("dev", "test"):
        raise BadInput.at("--side", f"expected dev or test, got {side!r}")
    table = selected(here, every)
    ids = IMAGES.read(here.images)["id"]
    first = table["images"].list.first()
    table = table.with_columns(image=ids.gather(first.fill_null(0)))
    asked, learnt = table.filter(pl.col("split") == side), table.filter(pl.col("split") == "train")
    if held_out:
        parts = read_split(here, held_out)
        asked = asked.filter(pl.col("id").is_in(parts["test" if side == "test" else "dev held out"].implode()))
        learnt = learnt.filter(pl.col("id").is_in(parts["train"].implode()))
    if asked.is_empty():
        raise BadInput.at(run, f"no questions for {side}{f' in the split {held_out}' if held_out else ''}")
    columns = ["id", "answer", "image", "template"]
    return asked.select(columns), learnt.select(columns)


LABELS = {"text": "text-only", "model": "split model", "iid-size": "iid-size", "iid": "iid"}


@output
def generalization(
    *,
    questions: Annotated[Path, Parameter(name="--questions", help="COVR questions: qid, answer, scenes.")],
    plan: Annotated[
        Path,
        Parameter(
            name="--plan", help="JSON {split: {text, model, iid-size, iid: files of predictions, questions: ids}}."
        ),
    ],
    missing: MissingOption = "error",
    policy: OnePolicy = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> None:
    """How much of the gap between a text-only model and one trained on everything each split's model closes."""
    from questree.metrics.sets import score_generalization
    from questree.sources.covr import ROLES, read_covr_questions, read_plan

    how = resampling(resamples, seed)
    with watching():
        asked, splits = read_covr_questions(questions), read_plan(plan)
        known = set(asked["id"].to_list())
        refuse(
            [
                Fault(f"{plan}, split {name}", f"no question {id} in {questions}")
                for name, split in splits.items()
                for id in split.questions or []
                if id not in known
            ][:20]
        )
        answers = asked["answer"].unique(maintain_order=True).to_list()
        said, about = dict[str, Any](), list[Score]()
        for name, split in splits.items():
            ids = asked["id"] if split.questions is None else asked["id"].filter(asked["id"].is_in(split.questions))
            reader = PredictionReader(ids, asked["id"], answers, (policy,), missing, vocabulary, say)
            for role in ROLES:
                label = f"{name}, {LABELS[role]}"
                ((_, reading, rows),) = reader.read(plan.parent / split.file(role), label)
                said.setdefault(name, {})[role] = reading.table
                about += rows
        held_out = {name: split.questions for name, split in splits.items()}
        score, accuracies = score_generalization(asked, held_out, said, missing == "skip")
        rows = score.rows("split model", how)
        for role, scored in accuracies.items():
            rows += scored.rows(LABELS[role], how)
    write_json([*rows, *about])
    filtered = {name: split.filtered for name, split in splits.items()}
    print_splits(rows, filtered)


def print_splits(rows: list[Score], filtered: dict[str, int | None]) -> None:
    """Split, Filtered, text-only, model, score, iid-size, iid: the columns of COVR's Tables 7 and 8."""
    at = {(row.metric, row.group, row.model): row for row in rows}
    lines = []
    for split in [*filtered, "Overall"]:
        accuracy = {label: shown(at["accuracy", split, label], False) for label in LABELS.values()}
        score = shown(at["generalization score", split, "split model"], True)
        count = filtered.get(split)
        lines.append(
            {
                "Split": split,
                "Filtered": "" if count is None else f"{count:,}",
                "text-only": accuracy["text-only"],
                "split model": accuracy["split model"],
                "Gen. score": score,
                "iid-size": accuracy["iid-size"],
                "iid": accuracy["iid"],
            }
        )
    print_table("Generalization", lines)
