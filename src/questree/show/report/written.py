"""A report as one HTML page with everything inside; a table as CSV, unrounded."""

import csv
import io
from base64 import b64encode
from collections.abc import Iterator
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import questree
from questree.show import cards
from questree.show.report.document import (
    Column,
    Entry,
    Failure,
    Figure,
    Grid,
    Missing,
    Number,
    ReportDocument,
    Sentences,
)

HERE = Path(__file__).parent
WIDEST = 12  # columns of a table that fit a page of paper on its side
KINDS: dict[str, type] = {
    "score": Number,
    "grid": Grid,
    "figure": Figure,
    "words": Sentences,
    "missing": Missing,
    "failure": Failure,
}


def _is(kind: type, value: object) -> bool:
    return isinstance(value, kind)


@cache
def environment() -> Environment:
    """Whatever is put into the page is escaped, but for our own drawings and style."""
    found = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    found.filters["whole"] = lambda number: f"{number:,}"
    found.tests.update({name: partial(_is, kind) for name, kind in KINDS.items()})  # type: ignore[misc]
    found.globals["widest"] = WIDEST
    found.globals["drawn"] = Markup  # of SVG and cards that were made here, their texts escaped
    return found


def page(report: ReportDocument) -> str:
    style = Markup((HERE / "report.css").read_text("utf-8"))
    drawn = any(isinstance(block, Failure) for section in report.sections for block in section.blocks)
    script = f"\n{cards.script()}" if drawn else ""  # as it stands between its tags
    about = {"style": style + cards.style() if drawn else style, "script": Markup(script), "policy": policy(script)}
    return environment().get_template("report.html").render(report=report, version=questree.__version__, **about)


def policy(script: str) -> str:
    """Nothing is fetched, and no script runs but ours: names and answers of others stand in the file."""
    known = b64encode(sha256(script.encode()).digest()).decode("ascii")
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{known}'"


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
