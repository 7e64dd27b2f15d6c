"""`questree score generalization`: COVR's table of splits from the predictions of four models per split."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.api.scoring import Reader
from questree.cli.scoring import MissingOption, OnePolicy, Resamples, Seed, VocabularyFile, resampling, shown
from questree.cli.terminal import Json, Quiet, print_table, telling, watching, write_json
from questree.faults import Fault, refuse
from questree.metrics.scores import Score

LABELS = {"text": "text-only", "model": "split model", "iid-size": "iid-size", "iid": "iid"}


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
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """How much of the gap between a text-only model and one trained on everything each split's model closes."""
    from questree.metrics.generalization import score_generalization
    from questree.sources.covr_questions import ROLES, read_covr_questions, read_plan

    how = resampling(resamples, seed)
    with watching(quiet):
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
            reader = Reader(ids, asked["id"], answers, (policy,), missing, vocabulary, telling(quiet))
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
    write_json(json, [*rows, *about])
    filtered = {name: split.filtered for name, split in splits.items()}
    print_splits(rows, filtered, quiet)


def print_splits(rows: list[Score], filtered: dict[str, int | None], quiet: bool) -> None:
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
    print_table("Generalization", lines, quiet)
