"""FPVG's scores as tables laid out as in its paper: models down, in the order of FPVG+."""

from collections.abc import Mapping, Sequence
from functools import partial

from questree.api.score_tables import Telling, score_grid
from questree.metrics.comparison import MEDIAN
from questree.metrics.fpvg import CATEGORIES, MODIFIED, SETS, SIDES, SIGNS
from questree.metrics.scores import Score
from questree.scoring.footnotes import Footnotes
from questree.scoring.grids import once, percent, plain, shown

Name = tuple[str, str, str]  # metric, by, group
SHARES = ("FPVG+T", "FPVG+F", "FPVG-T", "FPVG-F")
MAIN: dict[str, Name] = {
    "Acc": ("Acc_all", "everything", "Overall"),
    **{name: (name, "all", "Overall") for name in ("Acc_all", "Acc_rel", "Acc_irrel", *SHARES, "FPVG+")},
}
IN_AND_OUT: dict[str, dict[str, Name]] = {
    name: {group: (name, "set", group) for group in SETS} for name in ("Acc_all", SIGNS[0], MODIFIED[0])
}
RATIOS: dict[str, dict[str, Name]] = {
    sign: {by: ("c2i", by, sign) for by in ("all", *SETS)} | {"ID to OOD": ("degradation", "ID to OOD", sign)}
    for sign in (*SIGNS, *MODIFIED)
}
LOST: dict[str, dict[str, Name]] = {
    by: {group: ("degradation", by, group) for group in (*SETS, "Overall")}
    for by in map(" to ".join, (SIGNS, MODIFIED))
}
RANKING: dict[str, dict[str, Name]] = {
    **{sign: {side: ("ranking match", side, sign) for side in SIDES} for sign in (*SIGNS, "Overall")},
    **{
        f"{called} {level}": {side: ("ranking match", f"{side}, {called}", level) for side in SIDES}
        for _, called, levels in CATEGORIES
        for level in levels
    },
}
BOXES: dict[str, Name] = {
    "most": ("most boxes", "detector", "all"),
    **{group: ("boxes", "detector", group) for group in ("all", *SIDES)},
}
TABLES = {  # title -> line -> column -> score
    "In and out of distribution": IN_AND_OUT,
    "Correct to incorrect answers, and what is lost of the ratio": RATIOS,
    "What is lost of the ratio without grounding": LOST,
    "Ranking match": RANKING,
}


def fpvg_tables(rows: Sequence[Score], seen_by: Mapping[str, str]) -> Telling:
    """Tables 2; 3 and 6; 4 and 7 with Figures 5 and 6; 1 with Figure 3, right; 5; then whatever is left.

    `seen_by`: model -> its detector.
    """
    at = {(row.model, row.metric, row.by, row.group): row for row in rows}
    first = [row for row in rows if (row.metric, row.by) == ("FPVG+", "all")]
    models = [row.model for row in sorted(first, key=lambda row: row.value or 0)]
    if len(models) == 1:
        for by, title in (("all", "Evaluated questions"), ("everything", "All questions")):
            here = [row for row in rows if row.by == by and row.metric in ("FPVG-", *MAIN)]
            notes = Footnotes(rows)
            yield title, [{"metric": row.metric, "value": shown(row, notes), "n": row.n} for row in here]
            yield from notes.lines()
        yield from score_grid("By structural type", "Structural type", rows, "structural", [*SIGNS, *SHARES, "Acc_all"])
    else:
        yield from line_table("Models", models, {"": MAIN}, at, seen_by if len({*seen_by.values()}) > 1 else None)
        yield from score_grid("FPVG+ by structural type", "Structural type", rows, "structural", SIGNS[:1])
    for title, lines in TABLES.items():
        yield from line_table(title, models, lines, at)
    yield from line_table(
        "Boxes per evaluated question", once(row.model for row in rows if row.by == "detector"), {"": BOXES}, at
    )
    tables = [{"": MAIN}, {"": BOXES}, *TABLES.values()]
    told = {name for lines in tables for columns in lines.values() for name in columns.values()}
    told |= {(name, "everything", "Overall") for name in MAIN} | {("FPVG-", "all", "Overall")}
    left = once((row.metric, row.by, row.group) for row in rows if row.by not in ("structural", "policy"))
    notes = Footnotes(rows)
    further = [(name, [at.get((model, *name)) for model in models]) for name in left if name not in told]
    yield (
        "Further",
        [
            dict(zip(("metric", "by", "group"), name, strict=True))
            | {model: written(row, notes) for model, row in zip(models, found, strict=True)}
            | {"n": max(row.n or 0 for row in found if row)}
            for name, found in further
        ],
    )
    yield from notes.lines()


def line_table(
    title: str,
    models: Sequence[str],
    lines: Mapping[str, Mapping[str, Name]],
    at: Mapping[tuple[str, str, str, str], Score],
    seen_by: Mapping[str, str] | None = None,
) -> Telling:
    """For every model the lines that it has scores for; columns that nobody has are left out."""
    found = {
        (model, called): {header: at.get((model, *name)) for header, name in columns.items()}
        for model in models
        for called, columns in lines.items()
    }
    notes = Footnotes(at.values())
    headers = once(header for columns in found.values() for header, row in columns.items() if row)
    yield (
        title,
        [
            ({"model": model} if len(models) > 1 else {})
            | ({"detector": seen_by[model]} if seen_by else {})
            | ({"": called} if called else {})
            | {header: written(columns.get(header), notes) for header in headers}
            for (model, called), columns in found.items()
            if any(columns.values())
        ],
    )
    yield from notes.lines()


def written(row: Score | None, notes: Footnotes) -> str:
    """With the maximum deviation where it is a median over runs, else with its interval."""
    if row is None:
        return ""
    digits = {"c2i": 3, "boxes": 1, "most boxes": 0}.get(row.metric)  # these are no shares
    text = percent if digits is None else partial(plain, digits=digits)
    if row.value is None:
        return notes.absent(row)
    if row.low is None or row.high is None:
        return text(row.value)
    if MEDIAN in row.model:
        return f"{text(row.value)} ±{text(row.high - row.value)}"
    return f"{text(row.value)} [{text(row.low)}, {text(row.high)}]" + notes.mark(row)
