"""Tables as Markdown, and all of them in one CSV file, a line per number."""

import csv
import io
from collections.abc import Iterable

from questree.show.paper.latex import Look, counted
from questree.show.report.document import Entry, Grid, Number

FIELDS = ("table", "above", "row", "model or kind", "column", "value", "low", "high", "n", "best", "differs")


def markdown(grid: Grid, look: Look | None = None) -> str:
    look = look or Look()
    title, numbers = counted(grid)
    shown = [title] if any(numbers) else []
    titles = [*grid.corners, *(f"{column.over} {column.title}".strip() for column in grid.columns), *shown]
    sides = ["---"] * len(grid.corners) + ["---" if column.text else "---:" for column in grid.columns]
    rows = [titles, [*sides, *["---:"] * len(shown)]]
    text = [_escaped(f"{grid.title}. {grid.caption}".strip()), ""]
    for at, (above, _, line) in enumerate(grid.rows()):
        if above:
            rows.append([f"*{_escaped(above)}*", *[""] * (len(titles) - 1)])
        entries = [_written(entry, look) for entry in line.entries]
        rows.append([*map(_escaped, line.heads), *entries, *(numbers[at : at + 1] if shown else [])])
    rows[0] = list(map(_escaped, rows[0]))
    return "\n".join([*text, *(f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows), ""])


def _escaped(text: str) -> str:
    """Text in a cell."""
    safe = "".join(f"\\{sign}" if sign in "\\`*_[]<>|#~$" else sign for sign in text)
    return " ".join(safe.split())


def _written(entry: Entry, look: Look) -> str:
    if not isinstance(entry, Number):
        return f"{entry:,}" if isinstance(entry, int) else _escaped(entry or "")
    value = (f"**{entry.text}**" if entry.best else entry.text) + _escaped(entry.mark)
    if not entry.room or look.ci == "none":
        return value
    return f"{value}{'<br>' if look.ci == 'below' else ' '}[{entry.room}]"


def long_csv(grids: Iterable[Grid]) -> str:
    """A line per cell, unrounded."""
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    write.writerow(FIELDS)
    for grid in grids:
        above = ""
        for block, _, line in grid.rows():
            above = block or above
            for column, entry in zip(grid.columns, line.entries, strict=True):
                if entry is not None:
                    first, *more = line.heads
                    name = f"{column.over} {column.title}".strip()
                    write.writerow([grid.name, above, first, " ".join(more), name, *_values(entry)])
    return text.getvalue()


def _values(entry: Entry) -> list[str]:
    if not isinstance(entry, Number):
        return ["" if entry is None else str(entry), "", "", "", "", ""]
    known = ["" if value is None else repr(value) for value in (entry.value, entry.low, entry.high, entry.n)]
    return [*known, "yes" if entry.best else "", "yes" if entry.differs else ""]
