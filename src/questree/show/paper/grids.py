"""Scores as tables for a paper: groups down, of several models a line each, metrics across."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from questree.faults import Fault, refuse
from questree.metrics.best import LEVEL, sign
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference
from questree.metrics.dags import NAME as CORRELATION
from questree.metrics.errors import BY as ERROR
from questree.metrics.errors import KINDS as ERRORS
from questree.metrics.scores import Score
from questree.show.report.document import Column, Grid, Line, Number, ScoreRows

KINDS = {"B": ", binary", "O": ", open", "All": ""}
CATEGORIES = {
    "reasoning": "By reasoning",
    "semantic": "By semantics",
    "structural": "By structure",
    "novel composition": "Novel compositions",
    "more steps": "More compositional steps",
}
SHARES = "In per cent; intervals hold 95 % of the values of resampled videos or images."


class PaperTable(NamedTuple):
    """Which scores a table has."""

    name: str
    title: str
    corner: str
    by: str  # whose groups are its lines
    columns: tuple[tuple[str, str, str], ...]  # title; metric, by


def decomp_tables(rows: Sequence[Score], by_answer: bool = False) -> list[PaperTable]:
    """Tables 3, 4, 6-9, 11, 12 of the AGQA-Decomp paper, the number of its Figure 3, the errors of its Figure 11."""
    several = sorted({r.metric for r in rows if r.metric.startswith("RWR-")}, key=lambda name: int(name[4:]))
    main = ("accuracy", "CA", "RWR", "Delta", "IC")

    def table(name: str, title: str, corner: str, by: str, metrics: Iterable[str]) -> PaperTable:
        return PaperTable(f"decomp-{name}", title, corner, by, tuple((metric, metric, by) for metric in metrics))

    answers = [table("truth", "Accuracy per ground truth", "Type-truth", "answer", ["accuracy"])]
    return [
        table("type", "By question type", "Question type", "type", main),
        table("composition", "By composition", "Composition", "composition", main[1:]),
        table("rwr-type", "RWR-n by question type", "Question type", "type", several),
        table("rwr-composition", "RWR-n by composition", "Composition", "composition", several),
        table("rules", "IC per rule", "Rule", "rule", ["IC"]),
        *(answers if by_answer else []),
        table("errors", "Errors in choices, both options known", "Composition", ERROR, [f"{k} error" for k in ERRORS]),
        table("correlation", "Consistency and accuracy of DAGs", "", "dag", [CORRELATION]),
    ]


def agqa_tables(rows: Sequence[Score]) -> list[PaperTable]:
    """Tables 2 and 9, 3, 4 and 6, 8, 5 and 7, and the numbers of Figure 5 of the AGQA paper."""
    found = [
        PaperTable(
            f"agqa-{by.replace(' ', '-')}",
            title,
            "",
            by,
            tuple((kind, "accuracy", by + more) for kind, more in KINDS.items()),
        )
        for by, title in CATEGORIES.items()
    ]
    by = "indirect reference"
    pairs = [(metric, kind, more) for metric in ("precision", "recall") for kind, more in KINDS.items()]
    columns = tuple((f"{metric} {kind}", metric, by + more) for metric, kind, more in pairs)
    fit = tuple((metric, metric, "steps") for metric in ("accuracy", "fit, 80 % band"))
    return [
        *found,
        PaperTable("agqa-indirect", "Indirect references", "", by, columns),
        PaperTable("agqa-steps", "By steps", "Steps", "steps", fit),
    ]


def all_tables(rows: Sequence[Score]) -> list[PaperTable]:
    """A table for every way scores are grouped; how many predictions there are is none."""
    found: dict[str, dict[str, None]] = {}
    for row in (row for row in rows if row.by != "policy"):
        found.setdefault(row.by, {})[row.metric] = None
    return [
        PaperTable(f"by-{by.replace(' ', '-').replace(',', '')}", f"By {by}", by.capitalize(), by, tuple(columns))
        for by, metrics in found.items()
        for columns in [[(metric, metric, by) for metric in metrics]]
    ]


def grids(rows: ScoreRows, tables: Iterable[PaperTable], note: str = "") -> Iterator[Grid]:
    """The tables that have a score; models that have none are left out."""
    for table in tables:
        columns = [column for column in table.columns if rows.groups(column[2], [column[1]])]
        metrics, bys = {metric for _, metric, _ in columns}, {by for _, _, by in columns}
        models = list(dict.fromkeys(row.model for row in rows.all if row.by in bys and row.metric in metrics))
        groups = dict.fromkeys(group for _, metric, by in columns for group in rows.groups(by, [metric]))
        lines = [_line(rows, columns, group, model, len(models) > 1) for group in groups for model in models]
        kept = [line for line in lines if any(entry is not None for entry in line.entries)]
        corners = (table.corner, "Model") if len(models) > 1 else (table.corner,)
        titles = tuple(Column(title) for title, _, _ in columns)
        if kept:
            yield Grid(table.name, table.title, f"{SHARES} {note}".strip(), corners, titles, tuple(kept))


def _line(rows: ScoreRows, columns: Sequence[tuple[str, str, str]], group: str, model: str, several: bool) -> Line:
    entries = tuple(rows.number(metric, by, group, model) for _, metric, by in columns)
    return Line((group, model) if several else (group,), entries, group == OVERALL)


def difference_grids(
    rows: Iterable[ModelDifference],
    names: tuple[str, str],
    counts: Mapping[tuple[str, str, str], int | None],
    level: float,
    resamples: int,
) -> Iterator[Grid]:
    """A table per grouping: both models, the better one bold, their difference with its interval and mark, q."""
    caption = _compared_caption(level, resamples)
    tables: dict[str, list[ModelDifference]] = {}
    for row in rows:
        tables.setdefault(row.by, []).append(row)
    columns = (*map(Column, names), Column("difference"), Column("q"))
    for by, own in tables.items():
        lines = tuple(
            Line((row.group, row.metric), _entries(row, counts.get((row.metric, by, row.group)), level)) for row in own
        )
        title = f"{names[1]} minus {names[0]}, by {by}"
        yield Grid(f"compare-{by.replace(' ', '-').replace(',', '')}", title, caption, ("", "Metric"), columns, lines)


def gain_grids(
    models: Mapping[str, Sequence[ModelDifference]], counts: Mapping[tuple[str, str, str], int | None], resamples: int
) -> Iterator[Grid]:
    """A table per grouping: each model as it was trained on AGQA and on AGQA-Decomp, and the difference."""
    columns = tuple(map(Column, ("AGQA", "AGQA-Decomp", "difference", "q")))
    found = {
        (row.by, row.group, name): row for name, rows in models.items() for row in rows if row.metric == "accuracy"
    }
    for by in _once(by for by, _, _ in found):
        lines = [
            Line(
                (group, name)[: len(models)],
                _entries(found[by, group, name], counts.get(("accuracy", by, group)), LEVEL),
            )
            for group in _once(group for own, group, _ in found if own == by)
            for name in models
            if (by, group, name) in found
        ]
        title = f"Accuracy by what a model was trained on, by {by}"
        corners = (by.capitalize(), "Model")[: len(models)]
        yield Grid(f"gain-{by}", title, _compared_caption(LEVEL, resamples), corners, columns, tuple(lines))


def _compared_caption(level: float, resamples: int) -> str:
    return (
        f"{SHARES} Bold: the better one. *: they differ at a false discovery rate of {level} (paired bootstrap over "
        f"videos or images, {resamples:,} resamples; q by Benjamini-Hochberg over all cells)."
    )


def _entries(row: ModelDifference, n: int | None, level: float) -> tuple[Number | str, ...]:
    plain = row.metric == CORRELATION
    better = sign(row.metric) * (row.difference or 0.0)
    sides = ((row.a, better < 0), (row.b, better > 0))
    values = [Number(value, n, kind="plain" if plain else "per cent", best=best) for value, best in sides]
    counts = row.q is not None and row.q <= level
    change = Number(row.difference, n, row.low, row.high, "plain" if plain else "per cent", differs=counts)
    return (*values, change, "" if row.q is None else f"{row.q:.4f}")


def only(found: Sequence[Grid], columns: Sequence[str], rows: Sequence[str]) -> list[Grid]:
    """The columns and lines of these names, in the order they are named; tables with none of them are left out."""
    for option, wanted, there in (
        ("--columns", columns, _once(name for g in found for column in g.columns for name in _called(column))),
        ("--rows", rows, _once(head for g in found for line in g.lines for head in line.heads)),
    ):
        strange = [name for name in wanted if name not in there]
        known = ", ".join(there)
        refuse([Fault(option, f"expected a name in the tables, got {name!r}; choose from {known}") for name in strange])
    kept = [_with_lines(_with_columns(grid, columns), rows) for grid in found]
    return [grid for grid in kept if grid.columns and grid.lines]


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))


def _called(column: Column) -> tuple[str, str, str]:
    return column.title, column.over, f"{column.over} {column.title}".strip()


def _with_columns(grid: Grid, wanted: Sequence[str]) -> Grid:
    if not wanted:
        return grid
    places = [at for name in wanted for at, column in enumerate(grid.columns) if name in _called(column)]
    places = list(dict.fromkeys(places))
    lines = tuple(replace(line, entries=tuple(line.entries[at] for at in places)) for line in grid.lines)
    return replace(grid, columns=tuple(grid.columns[at] for at in places), lines=lines)


def _with_lines(grid: Grid, wanted: Sequence[str]) -> Grid:
    if not wanted:
        return grid
    kept = [at for name in wanted for at, line in enumerate(grid.lines) if name in line.heads]
    above, blocks = "", dict[int, str]()
    over = [above := grid.blocks.get(at, above) for at in range(len(grid.lines))]
    for number, at in enumerate(dict.fromkeys(kept)):
        if over[at] and over[at] not in blocks.values():
            blocks[number] = over[at]
    return replace(grid, lines=tuple(grid.lines[at] for at in dict.fromkeys(kept)), blocks=blocks)
