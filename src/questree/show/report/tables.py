"""The tables and plots of scores as in the papers of AGQA and AGQA-Decomp, in the order they are read."""

from collections.abc import Iterator, Sequence

from questree.metrics.answers import MODEL as MOST_LIKELY
from questree.metrics.dags import NAME as CORRELATION
from questree.metrics.sets import BASELINES
from questree.show.report.charts import composition_plot, dags_plot, models_plot, steps_plot
from questree.show.report.document import Block, Column, Entry, Figure, Grid, Kind, Line, ScoreRows
from questree.show.report.scoring import Result, called

KINDS = {"B": ", binary", "O": ", open", "All": ""}
TITLES = {"reasoning": "Reasoning", "semantic": "Semantic class", "structural": "Structure"}
HARDER = {"novel composition": "Novel compositions", "more steps": "More compositional steps"}


def agqa_tables(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Grid]:
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
    rows: ScoreRows,
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


def of_group(rows: ScoreRows, by: str, group: str, pairs: Sequence[tuple[str, str]]) -> Iterator[Line]:
    """The kinds of one group; `pairs` are models and metrics."""
    found = {
        kind: tuple(rows.number(metric, by + suffix, group, model) for model, metric in pairs)
        for kind, suffix in KINDS.items()
    }
    asked = [kind for kind in KINDS if any(one is not None and one.n for one in found[kind])]
    for kind in asked[:1] if len(asked) == 2 else asked or ["All"]:  # one kind alone is all there is
        yield Line((group, kind), found[kind], group == "Overall")


def by_steps(rows: ScoreRows, models: Sequence[str]) -> Grid:
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


BASELINE = "most-likely"  # the bot that the paper has beside its models
MAIN = ("accuracy", "CA", "RWR", "Delta", "IC")
SPELLED = {"accuracy": "Accuracy"}
READ = (
    "CA: right wholes among those whose parts are all right. RWR: right wholes among those with a wrong part. "
    "Delta = RWR − CA; above zero, wrong parts do no harm, so the whole was not made of them. IC: consistency checks "
    "passed, without the truth. Below each value its 95 % interval (videos, or images, resampled) and n."
)


def decomp_tables(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Grid]:
    """Tables 3, 4, 6, 7, 8, 9, 11 and 12; bots beside the models where the paper has its baseline."""
    main = list(models) or list(bots)
    shown = [*main, *(bot for bot in bots if models and bot == BASELINE)]
    own = {"accuracy": shown} | dict.fromkeys(MAIN[1:], main)
    yield by_group(rows, "decomp-type", "By question type", "type", "Question type", own, READ)
    compositions = dict.fromkeys(MAIN[1:], main)
    caption = "The same by the rule that puts parts together; a repeated part counts each time."
    yield by_group(rows, "decomp-composition", "By composition", "composition", "Composition", compositions, caption)
    caption = "RWR-n: right wholes among those with exactly n wrong parts. It should fall as n grows."
    for by, corner in (("type", "Question type"), ("composition", "Composition")):
        wanted = dict.fromkeys(several_wrong(rows, by, main), main)
        yield by_group(rows, f"decomp-rwr-{by}", f"RWR-n by {corner.lower()}", by, corner, wanted, caption)
    caption = "Checks passed of checks applied. Yes: the whole is said to be so; No: it is said not to be so."
    yield by_group(rows, "decomp-rules", "Internal consistency per rule", "rule", "Rule", {"IC": shown}, caption)
    caption = "Accuracy for each true answer. Far apart values of one type are a bias towards an answer."
    yield by_truth(rows, shown, caption)
    if models and bots:
        caption = f"What must come out for answers that are known beforehand: {', '.join(map(called, bots))}."
        wanted = {metric: list(bots) for metric in MAIN}
        yield by_group(rows, "decomp-bots-type", "Bots by question type", "type", "Question type", wanted, caption)
        del wanted["accuracy"]
        title = "Bots by composition"
        yield by_group(rows, "decomp-bots-composition", title, "composition", "Composition", wanted, caption)


def several_wrong(rows: ScoreRows, by: str, models: Sequence[str]) -> list[str]:
    """RWR-1, RWR-2, ... as far as these models got so many parts wrong."""
    own = (row for row in rows.all if row.by == by and row.model in models and row.n)
    return sorted({row.metric for row in own if row.metric[:4] == "RWR-"}, key=lambda name: int(name[4:]))


def by_group(
    rows: ScoreRows, name: str, title: str, by: str, corner: str, wanted: dict[str, list[str]], caption: str
) -> Grid:
    """Groups down; metrics across, under each its models."""
    columns = [(metric, model) for metric, models in wanted.items() for model in models]
    lines = [
        Line((group,), tuple(rows.number(metric, by, group, model) for metric, model in columns), group == "Overall")
        for group in rows.groups(by, list(wanted))
    ]
    heads = tuple(Column(model, SPELLED.get(metric, metric)) for metric, model in columns)
    return Grid(name, title, caption, (corner,), heads, tuple(lines))


def by_truth(rows: ScoreRows, models: Sequence[str], caption: str) -> Grid:
    """Type and true answer down, models across; types with open answers have too many to list."""
    groups = rows.groups("answer", ["accuracy"])
    types = rows.groups("type", ["accuracy"])
    named = [(type, group) for group in groups for type in [_type_of(group, types)] if type != "Overall"]
    short = {type for type, _ in named if sum(own == type for own, _ in named) <= FEW}
    lines = [
        Line((type, group[len(type) + 1 :]), tuple(rows.number("accuracy", "answer", group, m) for m in models))
        for type, group in named
        if type in short
    ]
    left = [type for type in dict.fromkeys(type for type, _ in named) if type not in short]
    more = f" Left out, as they have more than {FEW} answers: {', '.join(left)}." if left else ""
    columns = tuple(Column(model) for model in models)
    corners = ("Question type", "Truth")
    return Grid("decomp-truth", "Accuracy per ground truth", caption + more, corners, columns, tuple(lines))


FEW = 4  # answers of a type that are listed


def _type_of(group: str, types: Sequence[str]) -> str:
    """A group is `<type>-<answer>`; a type may have a hyphen itself."""
    return max((type for type in types if group.startswith(f"{type}-")), key=len, default=group)


def decomp_blocks(
    rows: ScoreRows, results: Sequence[Result], models: Sequence[str], bots: Sequence[str]
) -> Iterator[Block]:
    shown, below = (models, bots) if models else (bots, ())
    by_type, by_composition, *others = decomp_tables(rows, models, bots)
    yield by_type
    yield by_composition
    caption = (
        "How often a whole is right when its parts are (CA), when a part is wrong (RWR), and the difference (Delta). "
        "Whiskers are 95 % intervals; dashed ticks are bots. A model that reasons has a high CA and a low Delta."
    )
    plot = composition_plot(rows, shown, below)
    yield from figure("composition-plot", "CA, RWR and Delta by composition", caption, plot)
    caption = (
        "First every model's overall accuracy and internal consistency with 95 % intervals, bots in grey. Then, per "
        "model, how many DAGs have which accuracy and consistency; darker is more, each shade a constant factor. "
        "If answers were reasoned, consistent DAGs would be the accurate ones."
    )
    own = [result for result in results if result.model in shown]
    plots = [models_plot(rows, shown, below), *(dags_plot(one.model, *one.dags) for one in own)]
    yield from figure("consistency-plot", "Consistency against accuracy", caption, *plots)
    yield correlations(rows, [*models, *bots])
    yield from others


def correlations(rows: ScoreRows, models: Sequence[str]) -> Grid:
    entries = tuple(rows.number(CORRELATION, "dag", "Overall", model, "plain") for model in models)
    caption = "Pearson correlation over DAGs of accuracy and consistency, with 95 % interval and the number of DAGs."
    columns = tuple(Column(model) for model in models)
    title = "Consistency and accuracy of DAGs"
    return Grid("decomp-correlation", title, caption, ("",), columns, (Line(("correlation",), entries),))


def agqa_blocks(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Block]:
    categories, *others = agqa_tables(rows, models, bots)
    yield categories
    caption = (
        "Dots are as large as their number of questions; lines are weighted fits with their 80 % bands; bots are "
        "dashed. A falling line says that longer reasoning is harder for the model; bots do not reason."
    )
    shown, below = (models, bots) if models else (bots, ())
    yield from figure("steps-plot", "Accuracy against steps", caption, steps_plot(rows, shown, below))
    yield from others


def covr_blocks(rows: ScoreRows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Block]:
    """COVR's Tables 6 and 12: accuracy by template beside the baselines."""
    shown = [name for name in (*BASELINES, *models, *bots) if rows.find("accuracy", "template", "Overall", name)]
    lines = [
        Line((name,), tuple(rows.number("accuracy", "template", name, model) for model in shown), name == "Overall")
        for name in rows.groups("template", ["accuracy"])
    ]
    caption = (
        "Per cent right by template. MAJ says the most common answer of train, MAJTEMPL that of the template. Below: "
        "95 % interval (images resampled)."
    )
    columns = tuple(Column(name) for name in shown)
    yield Grid("accuracy", "Accuracy by template", caption, ("Template",), columns, tuple(lines))


def figure(name: str, title: str, caption: str, *pictures: str) -> Iterator[Figure]:
    """Nothing where nothing could be drawn."""
    drawn = tuple(filter(None, pictures))
    if drawn:
        yield Figure(name, title, caption, drawn)
