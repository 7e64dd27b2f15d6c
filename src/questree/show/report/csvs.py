"""A table as CSV: unrounded, each number with low, high and n in columns of their own."""

import csv
import io
from collections.abc import Iterator

from questree.show.report.grid import Column, Entry, Grid, Number

BESIDE = ("low", "high", "n")


def csv_text(grid: Grid) -> str:
    numbered = [any(isinstance(line.entries[at], Number) for line in grid.lines) for at in range(len(grid.columns))]
    text = io.StringIO()
    write = csv.writer(text, lineterminator="\n")
    corners = [corner or f"group {at + 1}" for at, corner in enumerate(grid.corners)]
    block = ["table"] if grid.blocks else []
    names = (name for column, n in zip(grid.columns, numbered, strict=True) for name in _names(column, n))
    write.writerow([*block, *corners, *names])
    above = ""
    for block_above, _, line in grid.rows():
        above = block_above or above
        cells = (cell for entry, n in zip(line.entries, numbered, strict=True) for cell in _cells(entry, n))
        write.writerow([*([above] if block else []), *line.heads, *cells])
    return text.getvalue()


def _names(column: Column, numbered: bool) -> Iterator[str]:
    name = f"{column.over} {column.title}".strip()
    yield name
    if numbered:
        yield from (f"{name} {beside}" for beside in BESIDE)


def _cells(entry: Entry, numbered: bool) -> Iterator[str]:
    if not isinstance(entry, Number):
        yield "" if entry is None else str(entry)
        yield from [""] * (len(BESIDE) if numbered else 0)
        return
    for value in (entry.value, entry.low, entry.high, entry.n):
        yield "" if value is None else repr(value)
