"""The tables of AGQA-Decomp: by question type, by composition, RWR-n, IC per rule, accuracy per ground truth."""

from collections.abc import Iterator, Sequence

from questree.show.report.bots import called
from questree.show.report.grid import Column, Grid, Line, Rows

BASELINE = "most-likely"  # the bot that the paper has beside its models
MAIN = ("accuracy", "CA", "RWR", "Delta", "IC")
SPELLED = {"accuracy": "Accuracy"}
READ = (
    "CA: right wholes among those whose parts are all right. RWR: right wholes among those with a wrong part. "
    "Delta = RWR − CA; above zero, wrong parts do no harm, so the whole was not made of them. IC: consistency checks "
    "passed, without the truth. Below each value its 95 % interval (videos, or images, resampled) and n."
)


def decomp_tables(rows: Rows, models: Sequence[str], bots: Sequence[str]) -> Iterator[Grid]:
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


def several_wrong(rows: Rows, by: str, models: Sequence[str]) -> list[str]:
    """RWR-1, RWR-2, ... as far as these models got so many parts wrong."""
    own = (row for row in rows.all if row.by == by and row.model in models and row.n)
    return sorted({row.metric for row in own if row.metric[:4] == "RWR-"}, key=lambda name: int(name[4:]))


def by_group(
    rows: Rows, name: str, title: str, by: str, corner: str, wanted: dict[str, list[str]], caption: str
) -> Grid:
    """Groups down; metrics across, under each its models."""
    columns = [(metric, model) for metric, models in wanted.items() for model in models]
    lines = [
        Line((group,), tuple(rows.number(metric, by, group, model) for metric, model in columns), group == "Overall")
        for group in rows.groups(by, list(wanted))
    ]
    heads = tuple(Column(model, SPELLED.get(metric, metric)) for metric, model in columns)
    return Grid(name, title, caption, (corner,), heads, tuple(lines))


def by_truth(rows: Rows, models: Sequence[str], caption: str) -> Grid:
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
