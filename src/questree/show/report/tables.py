"""The tables and plots of scores as in the papers of AGQA, AGQA-Decomp and COVR, in the order they are read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from questree.metrics.answers import MODEL as MOST_LIKELY
from questree.metrics.catalogue import ALL, METRICS
from questree.metrics.errors import BY as ERROR
from questree.metrics.errors import KINDS as ERRORS
from questree.metrics.scores import CORRELATION, titled
from questree.metrics.sets import BASELINES
from questree.models.bots import BOTS
from questree.scoring.agqa_tables import KINDS, KindTable, agqa_tables
from questree.scoring.run_scores import ModelScores
from questree.show.report.charts import composition_plot, dags_plot, models_plot, steps_plot
from questree.show.report.document import Block, Column, Figure, Grid, Line, ScoreLine, ScoreRows

Names = Sequence[str]  # of models or bots
Cell = tuple[str, str, str]  # metric, by, group
FEW = 4  # answers of a type that are listed
BASELINE = "most-likely"  # the bot that the AGQA-Decomp paper has beside its models
MAIN = ("accuracy", "CA", "RWR", "Delta", "IC")
BY = {"type": "Question type", "composition": "Composition", "rule": "Rule", ERROR: "Composition"}
READ = (
    "CA: right wholes among those whose parts are all right. RWR: right wholes among those with a wrong part. "
    "Delta = RWR − CA; above zero, wrong parts do no harm, so the whole was not made of them. IC: consistency checks "
    "passed, without the truth. Below each value its 95 % interval (videos, or images, resampled) and n."
)


def called(name: str) -> str:
    """A bot with what it does."""
    return f"{name} ({BOTS[name].says})" if name in BOTS else name


QUESTIONS = {  # table -> what to see
    "agqa-categories": "Per cent of questions answered right; B: two answers on offer, O: open, All: both. A question "
    "counts in every reasoning category it has. A model is worth what it has above Most-Likely. Below each value its "
    "95 % interval.",
    "agqa-generalisation": "Questions with compositions held out of training, and with more steps than in training. "
    "They say something about generalisation only if the model was trained on that split.",
    "agqa-novel-all": "The same by what is held out; a question may hold out several.",
    "agqa-novel": "The same by what is held out, binary and open questions apart.",
    "agqa-indirect": "Recall: accuracy on questions with an indirect reference. Precision: the same where the question "
    "with direct references was answered right; its n says how many that were.",
}


def agqa_blocks(rows: ScoreRows, models: Names, bots: Names) -> Iterator[Block]:
    """Tables 2 and 9, Figure 5; 3, 4, 6 and 8; 5 and 7; the numbers of Figure 5."""
    first, *rest = agqa_grids(rows, models, bots)
    yield first
    caption = (
        "Dots are as large as their number of questions; lines are weighted fits with their 80 % bands; bots are "
        "dashed. A falling line says that longer reasoning is harder for the model; bots do not reason."
    )
    yield from figure("steps-plot", "Accuracy against steps", caption, partial(steps_plot, rows, *shown(models, bots)))
    yield from rest


def agqa_grids(rows: ScoreRows, models: Names, bots: Names = ()) -> Iterator[Grid]:
    """The tables among them."""
    every = [*models, *bots]
    beside = [MOST_LIKELY, *(name for name in every if name != MOST_LIKELY.lower())]  # AGQA has its own
    for table in agqa_tables(rows.all):
        yield by_kind(rows, table, QUESTIONS[table.name], beside if table.metrics == ("accuracy",) else every)
    yield by_steps(rows, every)


def by_kind(rows: ScoreRows, table: KindTable, caption: str, models: Names) -> Grid:
    """Models across; a kind of answers that is all there is of a group stands alone, if not all kinds are wanted."""
    pairs = [(metric, model) for model in models for metric in table.metrics]
    corners = ("",) if len(table.kinds) == 1 else ("", "")  # the only kind needs no name
    lines: list[ScoreLine] = []
    blocks: dict[int, str] = {}
    for name, by, group, above in table.groups:
        if above not in ("", *blocks.values()):
            blocks[len(lines)] = above
        found = {kind: [rows.number(m, by + more, group, model) for m, model in pairs] for kind, more in KINDS.items()}
        asked = [kind for kind, own in found.items() if any(one is not None and one.n for one in own)]
        kinds = table.kinds or (asked[:1] if len(asked) == 2 else asked or ["All"])  # one kind alone is all there is
        lines += [((name, kind)[: len(corners)], by + KINDS[kind], group) for kind in kinds]
    heads = [Column(metric, model) if len(table.metrics) > 1 else Column(model) for metric, model in pairs]
    columns = [(head, *pair) for head, pair in zip(heads, pairs, strict=True)]
    return rows.grid(table.name, table.title, caption, corners, columns, lines, blocks)


def by_steps(rows: ScoreRows, models: Names) -> Grid:
    """Accuracy and the fitted line at every number of steps; slope and R² below."""
    fitted = [model for model in models if rows.find("R^2", "steps", "Overall", model)]
    columns = [(Column(model, "Accuracy"), "accuracy", model) for model in models]
    columns += [(Column(model, "Fit, 80 % band"), "fit, 80 % band", model) for model in fitted]
    caption = (
        "Accuracy against the number of reasoning steps. The line is fitted by least squares weighted with n; its band "
        "holds 80 % of the lines fitted to resampled videos."
    )
    steps: list[ScoreLine] = [((group,), "steps", group) for group in rows.groups("steps", ["accuracy"])]
    grid = rows.grid("agqa-steps", "By number of steps", caption, ("Steps",), columns, steps)
    below = [
        Line((name,), (*[None] * len(models), *(rows.number(metric, "steps", "Overall", model) for model in fitted)))
        for metric, name in (("slope", "slope per step"), ("R^2", "R²"))
        if fitted
    ]
    return replace(grid, lines=(*grid.lines, *below))


def decomp_blocks(rows: ScoreRows, scores: Sequence[ModelScores], models: Names, bots: Names) -> Iterator[Block]:
    """Tables 3, 4, 6, 7, 8, 9, 11 and 12, Figure 11; bots beside the models where the paper has its baseline."""
    drawn, below = shown(models, bots)
    by_type, by_composition, *rest = decomp_grids(rows, drawn, [bot for bot in below if bot == BASELINE])
    yield from (by_type, by_composition)
    caption = (
        "How often a whole is right when its parts are (CA), when a part is wrong (RWR), and the difference (Delta). "
        "Whiskers are 95 % intervals; dashed ticks are bots. A model that reasons has a high CA and a low Delta."
    )
    plot = partial(composition_plot, rows, drawn, below)
    yield from figure("composition-plot", "CA, RWR and Delta by composition", caption, plot)
    caption = (
        "First every model's overall accuracy and internal consistency with 95 % intervals, bots in grey. Then, per "
        "model, how many DAGs have which accuracy and consistency; darker is more, each shade a constant factor. "
        "If answers were reasoned, consistent DAGs would be the accurate ones."
    )
    plots: list[Callable[[float], str]] = [partial(models_plot, rows, drawn, below)]
    plots += [partial(dags_plot, one.model, one.per_dag) for one in scores if one.model in drawn]
    yield from figure("consistency-plot", "Consistency against accuracy", caption, *plots)
    yield correlation_grid(rows, [*models, *bots])
    yield from rest
    if models and bots:
        caption = f"What must come out for answers that are known beforehand: {', '.join(map(called, bots))}."
        yield from by_metric(rows, "decomp-bots", "Bots", caption, bots)
    yield from added_metrics(rows, "decomp", [*models, *bots])


def correlation_grid(rows: ScoreRows, models: Names) -> Grid:
    caption = "Pearson correlation over DAGs of accuracy and consistency, with 95 % interval and the number of DAGs."
    columns, line = [(Column(model), CORRELATION, model) for model in models], ("correlation",)
    title = "Consistency and accuracy of DAGs"
    return rows.grid("decomp-correlation", title, caption, ("",), columns, [(line, "dag", "Overall")])


def decomp_grids(rows: ScoreRows, models: Names, baselines: Names = ()) -> Iterator[Grid]:
    """Tables 3, 4, 6 to 9, the errors of Figure 11: metrics across, under each its models."""
    beside = [*models, *baselines]
    main = dict.fromkeys(MAIN, models) | {"accuracy": beside}
    yield by_group(rows, "decomp-type", "By question type", READ, "type", main)
    caption = "The same by the rule that puts parts together; a repeated part counts each time."
    compositions = dict.fromkeys(MAIN[1:], models)
    yield by_group(rows, "decomp-composition", "By composition", caption, "composition", compositions)
    caption = "RWR-n: right wholes among those with exactly n wrong parts. It should fall as n grows."
    for by in ("type", "composition"):
        wrong = dict.fromkeys(several_wrong(rows, by, models), models)
        yield by_group(rows, f"decomp-rwr-{by}", f"RWR-n by {BY[by].lower()}", caption, by, wrong)
    caption = "Checks passed of checks applied. Yes: the whole is said to be so; No: it is said not to be so."
    yield by_group(rows, "decomp-rules", "Internal consistency per rule", caption, "rule", {"IC": beside})
    caption = "Accuracy for each true answer. Far apart values of one type are a bias towards an answer."
    yield by_truth(rows, beside, caption)
    if rows.groups(ERROR, [f"{kind} error" for kind in ERRORS]):
        caption = (
            "Wrong answers to which of two actions took longer or shorter, where the model knows that both happen. "
            "Valid: the other option; related: no option, but about the object of one; unrelated: anything else."
        )
        kinds = {f"{kind} error": models for kind in ERRORS}
        yield by_group(rows, "decomp-errors", "Kinds of errors", caption, ERROR, kinds)


def by_metric(rows: ScoreRows, name: str, title: str, caption: str, models: Names) -> Iterator[Grid]:
    """Tables 11 and 12: what Tables 3 and 4 have, of others."""
    for by, metrics in (("type", MAIN), ("composition", MAIN[1:])):
        yield by_group(
            rows, f"{name}-{by}", f"{title} by {BY[by].lower()}", caption, by, dict.fromkeys(metrics, models)
        )


def several_wrong(rows: ScoreRows, by: str, models: Names) -> list[str]:
    """RWR-1, RWR-2, ... as far as these models got so many parts wrong."""
    own = (row for row in rows.all if row.by == by and row.model in models and row.n)
    return sorted({row.metric for row in own if row.metric[:4] == "RWR-"}, key=lambda name: int(name[4:]))


def by_group(rows: ScoreRows, name: str, title: str, caption: str, by: str, wanted: Mapping[str, Names]) -> Grid:
    """Groups down; metrics across, under each its models."""
    titles = {metric: titled(metric, by) for metric in wanted} | {"accuracy": titled("accuracy", by).capitalize()}
    columns = [(Column(m, titles[metric]), metric, m) for metric, models in wanted.items() for m in models]
    lines = [((group,), by, group) for group in rows.groups(by, list(wanted))]
    return rows.grid(name, title, caption, (BY.get(by, by.capitalize()),), columns, lines)


def by_model(
    rows: ScoreRows, name: str, title: str, caption: str, models: Names, columns: Mapping[tuple[str, str], Cell]
) -> Grid:
    """Models down; `columns`: what stands above it and its title -> its score."""
    lines = [Line((model,), tuple(rows.number(*cell, model) for cell in columns.values())) for model in models]
    kept = tuple(line for line in lines if any(entry is not None for entry in line.entries))
    return Grid(name, title, caption, ("Model",), tuple(Column(own, over) for over, own in columns), kept)


def by_truth(rows: ScoreRows, models: Names, caption: str) -> Grid:
    """Type and true answer down, models across; types with open answers have too many to list."""
    types = rows.groups("type", ["accuracy"])
    every = [(_type_of(group, types), group) for group in rows.groups("answer", ["accuracy"])]
    named = [(type, group) for type, group in every if type != "Overall"]
    listed: dict[str, list[str]] = {}
    for type, group in named:
        listed.setdefault(type, []).append(group)
    left = [type for type, groups in listed.items() if len(groups) > FEW]
    more = f" Left out, as they have more than {FEW} answers: {', '.join(left)}." if left else ""
    lines = [((type, group[len(type) + 1 :]), "answer", group) for type, group in named if type not in left]
    columns = [(Column(model), "accuracy", model) for model in models]
    corners = (BY["type"], "Truth")
    return rows.grid("decomp-truth", "Accuracy per ground truth", caption + more, corners, columns, lines)


def _type_of(group: str, types: Names) -> str:
    """A group is `<type>-<answer>`; a type may have a hyphen itself."""
    return max((type for type in types if group.startswith(f"{type}-")), key=len, default=group)


def covr_blocks(rows: ScoreRows, models: Names, bots: Names) -> Iterator[Block]:
    """COVR's Tables 6 and 12: accuracy by template beside the baselines."""
    every = [name for name in (*BASELINES, *models, *bots) if rows.find("accuracy", "template", "Overall", name)]
    caption = (
        "Per cent right by template. MAJ says the most common answer of train, MAJTEMPL that of the template. Below: "
        "95 % interval (images resampled)."
    )
    columns = [(Column(name), "accuracy", name) for name in every]
    lines = [((name,), "template", name) for name in rows.groups("template", ["accuracy"])]
    yield rows.grid("accuracy", "Accuracy by template", caption, ("Template",), columns, lines)
    caption = "Dots are as large as their number of questions; bots are dashed."
    draw = partial(steps_plot, rows, *shown(models, bots), by="images")
    yield from figure("size-plot", "Accuracy by number of images", caption, draw)


def added_metrics(rows: ScoreRows, section: str, models: Names) -> Iterator[Grid]:
    """A table for every metric that a plugin adds."""
    for name, metric in METRICS.items():
        by = metric.by or ALL
        if rows.groups(by, [name]):
            place = f"{section}-{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}"
            caption = f"{name} = {metric.formula}. Of a plugin; below each value its 95 % interval and n."
            yield by_group(rows, place, name, caption, by, {name: models})


def shown(models: Names, bots: Names) -> tuple[list[str], list[str]]:
    """Who is plotted as a model, and who beside: without models the bots are looked at."""
    return (list(models), list(bots)) if models else (list(bots), [])


def figure(name: str, title: str, caption: str, *draw: Callable[[float], str]) -> Iterator[Figure]:
    """Nothing where nothing could be drawn."""
    made = Figure.drawn(name, title, caption, *draw)
    if made.pictures:
        yield made
