"""`questree score gain`: what models gain when they are trained on sub-questions too."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.cli.paper import NO_PAPER, Paper, write_paper
from questree.cli.score import COMPARING, FilesOption, there
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference
from questree.metrics.scores import Resampling
from questree.scoring import compared as scoring
from questree.scoring.compared import ComparingOptions
from questree.scoring.grids import percent

BY = ("reasoning", "semantic", "structural")


@output
def gain(
    *,
    questions: Annotated[Path, Parameter(help="AGQA test questions: a JSON file {id: record}.")],
    base: Annotated[FilesOption, Parameter(help="Predictions of a model trained on AGQA; may be given again.")],
    augmented: Annotated[
        FilesOption, Parameter(help="Predictions of the same model trained on sub-questions too, in the same order.")
    ],
    how: Annotated[ComparingOptions, Parameter(name="*")] = COMPARING,
    paper: Paper = NO_PAPER,
) -> None:
    """Accuracy of models trained on AGQA and on AGQA-Decomp, and the difference on the same resampled videos."""
    from questree.metrics.comparison import compare

    there(*base, *augmented)
    paper.check()
    if len(base) != len(augmented):
        raise BadInput.at("--augmented", f"expected as many files as --base, {len(base)}, got {len(augmented)}")
    with watching():
        corpus = scoring.compared(None, questions, None, None, "", how, say)
        scored = [one for _, one, _ in corpus.scored([*base, *augmented])]
        pairs = zip(scored[: len(base)], scored[len(base) :], strict=True)
        found = [compare(a, b, Resampling(how.resamples, how.seed)) for a, b in pairs]
    models = dict(zip(scoring.names(base), ([row for row in rows if row.by in BY] for rows in found), strict=True))
    write_json([{"model": name} | msgspec.structs.asdict(row) for name, rows in models.items() for row in rows])
    print_table("AGQA accuracy by what a model was trained on", table_10(models))
    groups = dict.fromkeys((row.by, row.group) for rows in models.values() for row in rows if row.group != OVERALL)
    lines = [
        {"by": by, "group": group, **{name: difference(cell(rows, by, group)) for name, rows in models.items()}}
        for by, group in groups
    ]
    print_table("Difference by category", lines)
    if paper.wanted:
        from questree.show.paper.grids import gain_grids

        n = {(row.metric, row.by, row.group): row.n for row in scored[0].rows("")}
        write_paper(list(gain_grids(models, n, how.resamples)), paper)


def cell(rows: list[ModelDifference], by: str = BY[0], group: str = OVERALL) -> ModelDifference:
    return next(row for row in rows if (row.metric, row.by, row.group) == ("accuracy", by, group))


def table_10(models: dict[str, list[ModelDifference]]) -> list[dict[str, Any]]:
    """Training sets down, models across."""
    own = {name: cell(rows) for name, rows in models.items()}
    return [
        {"trained on": "AGQA", **{name: percent(row.a) for name, row in own.items()}},
        {"trained on": "AGQA-Decomp", **{name: percent(row.b) for name, row in own.items()}},
        {"trained on": "difference", **{name: difference(row) for name, row in own.items()}},
        {"trained on": "p", **{name: "" if row.p is None else f"{row.p:.4f}" for name, row in own.items()}},
    ]


def difference(row: ModelDifference) -> str:
    room = "" if row.low is None or row.high is None else f" [{percent(row.low)}, {percent(row.high)}]"
    return f"{percent(row.difference)}{room}"
