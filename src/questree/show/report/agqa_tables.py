"""The tables of AGQA: categories with binary and open questions apart, generalisation, indirect references, steps."""

from collections.abc import Iterator, Sequence

from questree.metrics.answers.most_likely import MODEL as MOST_LIKELY
from questree.show.report.grid import Column, Entry, Grid, Kind, Line, Rows

KINDS = {"B": ", binary", "O": ", open", "All": ""}
TITLES = {"reasoning": "Reasoning", "semantic": "Semantic class", "structural": "Structure"}
HARDER = {"novel composition": "Novel compositions", "more steps": "More compositional steps"}


def agqa_tables(rows: Rows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Grid]:
    """Tables 2 and 9; 3, 4, 6 and 8; 5 and 7; the numbers of Figure 5. AGQA has a Most-Likely of its own."""
    beside = [MOST_LIKELY, *models, *(bot for bot in bots if bot != MOST_LIKELY.lower())]
    caption = (
        "Per cent of questions answered right; B: two answers on offer, O: open, All: both. A question counts in every "
        "reasoning category it has. A model is worth what it has above Most-Likely. Below each value its 95 % interval."
    )
    yield by_kind(rows, "agqa-categories", "By category", TITLES, ["accuracy"], beside, caption)
    caption = (
        "Questions with compositions held out of training, and with more steps than in training. They say something "
        "about generalisation only if the model was trained on that split."
    )
    yield by_kind(rows, "agqa-generalisation", "Harder than training", HARDER, ["accuracy"], beside, caption)
    caption = (
        "Recall: accuracy on questions with an indirect reference. Precision: the same where the question with direct "
        "references was answered right; n says how many that were."
    )
    titles = {"indirect reference": ""}
    metrics = ["precision", "recall"]
    yield by_kind(rows, "agqa-indirect", "Indirect references", titles, metrics, [*models, *bots], caption)
    yield by_steps(rows, [*models, *bots])


def by_kind(
    rows: Rows,
    name: str,
    title: str,
    tables: dict[str, str],
    metrics: Sequence[str],
    models: Sequence[str],
    caption: str,
) -> Grid:
    """B, O and All under every group, models across; a kind that is all there is of a group stands alone."""
    lines: list[Line] = []
    blocks: dict[int, str] = {}
    pairs = [(model, metric) for model in models for metric in metrics]
    for by, above in tables.items():
        groups = rows.groups(by, metrics)
        if tables is TITLES and by != list(TITLES)[-1]:  # all categories have the same overall value
            groups = [group for group in groups if group != "Overall"]
        if above and groups:
            blocks[len(lines)] = above
        lines += [line for group in groups for line in of_group(rows, by, group, pairs)]
    columns = tuple(Column(metric, model) if len(metrics) > 1 else Column(model) for model, metric in pairs)
    return Grid(name, title, caption, ("", ""), columns, tuple(lines), blocks)


def of_group(rows: Rows, by: str, group: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Line]:
    """The kinds of one group; `pairs` are models and metrics."""
    found = {
        kind: tuple(rows.number(metric, by + suffix, group, model) for model, metric in pairs)
        for kind, suffix in KINDS.items()
    }
    asked = [kind for kind in KINDS if any(one is not None and one.n for one in found[kind])]
    for kind in asked[:1] if len(asked) == 2 else asked or ["All"]:  # one kind alone is all there is
        yield Line((group, kind), found[kind], group == "Overall")


def by_steps(rows: Rows, models: Sequence[str]) -> Grid:
    """Accuracy and the fitted line at every number of steps; slope and R² below."""
    fitted = [model for model in models if rows.find("R^2", "steps", "Overall", model)]
    columns = [
        *(Column(model, "Accuracy") for model in models),
        *(Column(model, "Fit, 80 % band") for model in fitted),
    ]
    lines = []
    for group in rows.groups("steps", ["accuracy"]):
        found: list[Entry] = [rows.number("accuracy", "steps", group, model) for model in models]
        found += [rows.number("fit, 80 % band", "steps", group, model) for model in fitted]
        lines.append(Line((group,), tuple(found), group == "Overall"))
    for metric, name in (("slope", "slope per step"), ("R^2", "R²")):
        kind: Kind = "plain" if metric == "R^2" else "per cent"
        told = [rows.number(metric, "steps", "Overall", model, kind) for model in fitted]
        if fitted:
            lines.append(Line((name,), (*[None] * len(models), *told)))
    caption = (
        "Accuracy against the number of reasoning steps. The line is fitted by least squares weighted with n; its band "
        "holds 80 % of the lines fitted to resampled videos."
    )
    return Grid("agqa-steps", "By number of steps", caption, ("Steps",), tuple(columns), tuple(lines))
