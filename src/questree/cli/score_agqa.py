"""`questree score agqa`: the tables of the AGQA paper from its question files and predictions."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.scoring import ComparedQuestions
from questree.cli.scoring import (
    Files,
    MissingOption,
    PolicyOption,
    Resamples,
    Seed,
    VocabularyFile,
    policies,
    print_grid,
    print_metrics,
    print_policies,
    resampling,
    shown,
    there,
)
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.metrics.scores import Score

KINDS = {"B": ", binary", "O": ", open", "All": ""}


@output
def agqa(
    *,
    questions: Annotated[Path, Parameter(name="--questions", help="AGQA questions: a JSON file {id: record}.")],
    predictions: Files,
    missing: MissingOption = "error",
    policy: PolicyOption = "exact",
    vocabulary: VocabularyFile = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> None:
    """AGQA: accuracy per category, novel compositions, indirect references, more steps, accuracy against steps."""
    from questree.formats.agqa_scored import read_questions
    from questree.metrics.answers import baseline, fit_rows, groups, most_likely

    how = resampling(resamples, seed)
    there(*predictions)
    with watching():
        asked = read_questions(questions)
        corpus = ComparedQuestions.of_asked(asked, missing, policies(policy), vocabulary, say)
        rows = most_likely(baseline(asked), groups(asked))
        for model, scored, about in corpus.scored(predictions):
            rows += [*scored.rows(model, how), *fit_rows(scored.tallies, model, how), *about]
    write_json(rows)
    print_agqa(rows)
    print_metrics(rows)
    print_policies(rows, [("accuracy", "reasoning")])


def print_agqa(rows: list[Score]) -> None:
    """Tables 2 and 9, 3, 4 and 6, 8, 5 and 7, and the numbers of Figure 5."""
    titles = {
        "reasoning": "By reasoning",
        "semantic": "By semantics",
        "structural": "By structure",
        "novel composition": "Novel compositions",
        "more steps": "More compositional steps",
    }
    for by, title in titles.items():
        print_kinds(title, rows, by, ["accuracy"])
    print_kinds("Indirect references", rows, "indirect reference", ["precision", "recall"])
    print_grid("By steps", "Steps", rows, "steps", ["accuracy", "fit, 80 % band"], count=True)
    for row in (row for row in rows if row.metric == "R^2"):
        slope = next(r for r in rows if r.metric == "slope" and r.model == row.model)
        told = ["N/A" if r.value is None else f"{r.value:.4f}" for r in (slope, row)]
        say(f"{row.model}: accuracy changes by {told[0]} per step, R^2 {told[1]}")


def print_kinds(title: str, rows: list[Score], by: str, metrics: list[str]) -> None:
    """B, O and All under every group, models across; kinds a group has none of are left out."""
    at = {(row.metric, row.by, row.group, row.model): row for row in rows}
    models = list(dict.fromkeys(row.model for row in rows if row.by == by and row.metric in metrics))
    groups = list(dict.fromkeys(row.group for row in rows if row.by == by and row.metric in metrics))
    lines = []
    for group in groups:
        for kind, suffix in KINDS.items():
            found = [at.get((metric, by + suffix, group, model)) for model in models for metric in metrics]
            if kind != "All" and not any(row is not None and row.n for row in found):
                continue
            names = [model if len(metrics) == 1 else f"{metric} {model}" for model in models for metric in metrics]
            cells = {name: shown(row, len(models) <= 2) for name, row in zip(names, found, strict=True)}
            lines.append({"": group, " ": kind, **cells})
    print_table(title, lines)
