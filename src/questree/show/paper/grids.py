"""Scores as tables for a paper: groups down, of several models a line each, metrics across."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from questree.faults import Fault, refuse
from questree.metrics.answers import MODEL as MOST_LIKELY
from questree.metrics.best import LEVEL, sign
from questree.metrics.cells import OVERALL
from questree.metrics.comparison import ModelDifference
from questree.metrics.scores import NO_SHARES, OVER_ANSWERS, Score, titled
from questree.scoring.footnotes import UNTESTED
from questree.scoring.fpvg_tables import FPVG_TABLES
from questree.show.report.document import Column, Entry, Grid, Line, Number, ScoreRows
from questree.show.report.tables import BASELINE, agqa_grids, by_metric, by_model, correlation_grid, decomp_grids

SHARES = "In per cent; intervals hold 95 % of the values of resampled videos or images."
PLAIN = "Intervals hold 95 % of the values of resampled videos or images."  # where nothing is a share
MIXED = "In per cent, ratios and other numbers that are no shares as they are; intervals hold 95 % of the values of "
MIXED += "resampled videos or images."


class PaperTable(NamedTuple):
    """Which scores a table has."""

    name: str
    title: str
    corner: str
    by: str  # whose groups are its lines
    columns: tuple[tuple[str, str, str], ...]  # title; metric, by


def decomp_tables(rows: ScoreRows, by_answer: bool = False) -> Iterator[Grid]:
    """Tables 3, 4, 6-9, the errors of Figure 11, the number of Figure 3; 11 and 12 if Most-Likely is beside others."""
    every = models_of(rows, ["accuracy", "CA"])
    guess = [model for model in every if len(every) > 1 and model.lower() == BASELINE]
    models = [model for model in every if model not in guess]
    yield from (grid for grid in decomp_grids(rows, models, guess) if by_answer or grid.name != "decomp-truth")
    yield from by_metric(rows, "decomp-baseline", guess[0], "", guess) if guess else ()
    yield correlation_grid(rows, every)


def agqa_tables(rows: ScoreRows) -> Iterator[Grid]:
    """Tables 2 and 9, 3, 4, 6, 5 and 7, the numbers of Figure 5; n of a precision stands beside it."""
    every = [model for model in models_of(rows, ["accuracy"]) if model != MOST_LIKELY]
    for grid in agqa_grids(rows, every):
        yield with_counts(grid) if grid.name == "agqa-indirect" else grid


def with_counts(grid: Grid) -> Grid:
    """Every number's n in a column of its own."""
    columns = [one for column in grid.columns for one in (column, Column("n", column.over))]
    lines = [
        replace(line, entries=tuple(one for entry in line.entries for one in with_count(entry))) for line in grid.lines
    ]
    return replace(grid, columns=tuple(columns), lines=tuple(lines))


def with_count(entry: Entry) -> tuple[Entry, Entry]:
    return (replace(entry, n=None), entry.n) if isinstance(entry, Number) else (entry, None)


def fpvg_grids(rows: ScoreRows) -> Iterator[Grid]:
    """Tables 2, 3, 4, 6 and 7, the numbers of Figures 5 and 6, Table 1 and Figure 3, right: models down, by FPVG+."""
    found = [row for row in rows.all if (row.metric, row.by) == ("FPVG+", "all")]
    models = [row.model for row in sorted(found, key=lambda row: row.value or 0)]
    for table in FPVG_TABLES:
        yield by_model(rows, table.name, table.title, "", models, table.columns)


def models_of(rows: ScoreRows, metrics: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(row.model for row in rows.all if row.metric in metrics))


def for_paper(found: Iterable[Grid], note: str = "") -> Iterator[Grid]:
    """Captions say what numbers are; columns and lines without a score are left out, and the name of an only model."""
    for grid in found:
        kept = [at for at in range(len(grid.columns)) if any(line.entries[at] is not None for line in grid.lines)]
        lines = [replace(line, entries=tuple(line.entries[at] for at in kept)) for line in grid.lines]
        columns = [grid.columns[at] for at in kept]
        if len({column.over for column in columns}) == len(columns) > 1:
            columns = [Column(column.over) for column in columns]  # one model: it is said once, in the file's name
        if kept and lines:
            yield captioned(replace(grid, columns=tuple(columns), lines=tuple(lines)), note)


def captioned(grid: Grid, note: str = "") -> Grid:
    """Says what its numbers are, and what marks mean."""
    shares = {entry.digits is None for line in grid.lines for entry in line.entries if isinstance(entry, Number)}
    unit = MIXED if len(shares) > 1 else SHARES if True in shares else PLAIN
    return replace(grid, caption=f"{unit} {note}".strip())


def all_tables(rows: Iterable[Score]) -> list[PaperTable]:
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
            yield captioned(Grid(table.name, table.title, "", corners, titles, tuple(kept)), note)


def _line(rows: ScoreRows, columns: Sequence[tuple[str, str, str]], group: str, model: str, several: bool) -> Line:
    entries = tuple(rows.number(metric, by, group, model) for _, metric, by in columns)
    return Line((group, model) if several else (group,), entries, group == OVERALL)


def difference_grids(
    rows: Iterable[ModelDifference], names: tuple[str, str], level: float, resamples: int, tested: int
) -> Iterator[Grid]:
    """A table per grouping: both models, the better one bold, their difference with its interval and mark, q.

    tested: cells that q is over, of which `rows` may be some.
    """
    tables: dict[str, list[ModelDifference]] = {}
    for row in rows:
        tables.setdefault(row.by, []).append(row)
    for by, own in tables.items():
        alike = all(row.n_a == row.n_b for row in own)
        lines = tuple(Line((row.group, titled(row.metric, by)), _entries(row, level, alike)) for row in own)
        title = f"{names[1]} minus {names[0]}, by {by}"
        name, columns = f"compare-{by.replace(' ', '-').replace(',', '')}", _compared_columns(names, alike)
        yield Grid(name, title, _compared_caption(own, level, resamples, tested), ("", "Metric"), columns, lines)


def gain_grids(models: Mapping[str, Sequence[ModelDifference]], resamples: int) -> Iterator[Grid]:
    """A table per grouping: each model as it was trained on AGQA and on AGQA-Decomp, and the difference."""
    found = {
        (row.by, row.group, name): row for name, rows in models.items() for row in rows if row.metric == "accuracy"
    }
    alike = all(row.n_a == row.n_b for row in found.values())
    columns = _compared_columns(("AGQA", "AGQA-Decomp"), alike)
    tested = sum(row.q is not None for rows in models.values() for row in rows)
    for by in _once(by for by, _, _ in found):
        own = {name[1:]: row for name, row in found.items() if name[0] == by}
        lines = [
            Line((group, name)[: len(models)], _entries(own[group, name], LEVEL, alike))
            for group in _once(group for group, _ in own)
            for name in models
            if (group, name) in own
        ]
        title = f"Accuracy by what a model was trained on, by {by}"
        caption = _compared_caption(own.values(), LEVEL, resamples, tested)
        yield Grid(f"gain-{by}", title, caption, (by.capitalize(), "Model")[: len(models)], columns, tuple(lines))


def _compared_columns(names: tuple[str, str], alike: bool) -> tuple[Column, ...]:
    numbers = ["n"] if alike else [f"n of {name}" for name in names]
    return tuple(map(Column, (*names, "difference", "q", *numbers)))


def _compared_caption(rows: Iterable[ModelDifference], level: float, resamples: int, tested: int) -> str:
    weak = f" {UNTESTED}." if any(row.weak for row in rows) else ""
    return (
        f"{SHARES} Bold: the better one. *: they differ at a false discovery rate of {level} (paired test over "
        f"videos or images, all or {resamples:,} random signs; q by Benjamini-Hochberg over {tested:,} cells).{weak}"
    )


def _entries(row: ModelDifference, level: float, alike: bool) -> tuple[Number | str | int, ...]:
    digits = NO_SHARES.get(row.metric)
    better = sign(row.metric) * (row.difference or 0.0)
    values = [Number(value, digits=digits, best=best) for value, best in ((row.a, better < 0), (row.b, better > 0))]
    counts = row.q is not None and row.q <= level
    change = Number(row.difference, None, row.low, row.high, digits, differs=counts, weak=row.weak)
    return (*values, change, "" if row.q is None else f"{row.q:.4f}", *(row.n_a, row.n_b)[: 2 - alike])


def only(found: Sequence[Grid], columns: Sequence[str], rows: Sequence[str]) -> list[Grid]:
    """The columns and lines of these names, in the order they are named; tables with none of them are left out."""
    every = [column for grid in found for column in grid.columns]
    for option, wanted, there, more in (
        ("--columns", columns, _once(name for one in every for name in (one.over, one.title)), every),
        ("--rows", rows, _once(head for g in found for line in g.lines for head in line.heads), ()),
    ):
        strange = [name for name in wanted if name not in there and not any(_called(one, name) for one in more)]
        known = ", ".join(there)
        refuse([Fault(option, f"expected a name in the tables, got {name!r}; choose from {known}") for name in strange])
    kept = [_with_lines(_with_columns(grid, columns), rows) for grid in found]
    return [grid for grid in kept if grid.columns and grid.lines]


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(name for name in names if name))


def _called(column: Column, name: str) -> bool:
    """By its title, what stands above it or both; accuracy is Accuracy, over answers or not."""
    spelled = column.title, column.over, f"{column.over} {column.title}".strip()
    return name.casefold() in (form.casefold() for one in spelled for form in (one, one.replace(OVER_ANSWERS, "")))


def _with_columns(grid: Grid, wanted: Sequence[str]) -> Grid:
    if not wanted:
        return grid
    places = [at for name in wanted for at, column in enumerate(grid.columns) if _called(column, name)]
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
