"""FPVG's scores as tables laid out as in its paper: models down, in the order of FPVG+."""

from collections.abc import Mapping, Sequence
from functools import partial

from questree.api.score_tables import Telling, score_grid
from questree.metrics.comparison import MEDIAN
from questree.metrics.fpvg import SIGNS
from questree.metrics.scores import NO_SHARES, Score
from questree.scoring.footnotes import Footnotes
from questree.scoring.fpvg_tables import BOXES, FPVG_TABLES, MAIN, SHARES, Heading, ScoreName
from questree.scoring.grids import once, percent, plain, shown

METRICS = [title for _, title in MAIN]


def fpvg_tables(rows: Sequence[Score], seen_by: Mapping[str, str]) -> Telling:
    """Tables 2, 3, 4 with Figure 5, 6, 7; 1 with Figure 3, right; 5; then whatever is left.

    `seen_by`: model -> its detector.
    """
    at = {(row.model, row.metric, row.by, row.group): row for row in rows}
    first = [row for row in rows if (row.metric, row.by) == ("FPVG+", "all")]
    models = [row.model for row in sorted(first, key=lambda row: row.value or 0)]
    if len(models) == 1:
        for by, title in (("all", "Evaluated questions"), ("everything", "All questions")):
            here = [row for row in rows if row.by == by and row.metric in ("FPVG-", *METRICS)]
            notes = Footnotes(rows)
            yield title, [{"metric": row.metric, "value": shown(row, notes), "n": row.n} for row in here]
            yield from notes.lines()
        yield from score_grid("By structural type", "Structural type", rows, "structural", [*SIGNS, *SHARES, "Acc_all"])
    else:
        yield from line_table("Models", models, MAIN, at, seen_by if len({*seen_by.values()}) > 1 else None)
        yield from score_grid("FPVG+ by structural type", "Structural type", rows, "structural", SIGNS[:1])
    for _, title, columns in FPVG_TABLES[1:]:
        yield from line_table(title, models, columns, at)
    detectors = once(row.model for row in rows if row.by == "detector")
    yield from line_table("Boxes per evaluated question", detectors, BOXES, at)
    told = {name for columns in (BOXES, *(table.columns for table in FPVG_TABLES)) for name in columns.values()}
    told |= {(name, "everything", "Overall") for name in METRICS} | {("FPVG-", "all", "Overall")}
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
    columns: Mapping[Heading, ScoreName],
    at: Mapping[tuple[str, str, str, str], Score],
    seen_by: Mapping[str, str] | None = None,
) -> Telling:
    """For every model a line; columns that nobody has are left out."""
    found = {
        model: {" ".join(head).strip(): at.get((model, *name)) for head, name in columns.items()} for model in models
    }
    notes = Footnotes(at.values())
    headers = once(header for own in found.values() for header, row in own.items() if row)
    yield (
        title,
        [
            ({"model": model} if len(models) > 1 else {})
            | ({"detector": seen_by[model]} if seen_by else {})
            | {header: written(own.get(header), notes) for header in headers}
            for model, own in found.items()
            if any(own.values())
        ],
    )
    yield from notes.lines()


def written(row: Score | None, notes: Footnotes) -> str:
    """With the maximum deviation where it is a median over runs, else with its interval."""
    if row is None:
        return ""
    digits = NO_SHARES.get(row.metric)
    text = percent if digits is None else partial(plain, digits=digits)
    if row.value is None:
        return notes.absent(row)
    if row.low is None or row.high is None:
        return text(row.value)
    if MEDIAN in row.model:
        return f"{text(row.value)} ±{text(row.high - row.value)}"
    return f"{text(row.value)} [{text(row.low)}, {text(row.high)}]" + notes.mark(row)
