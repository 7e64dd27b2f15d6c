"""A report as one HTML page with everything inside; a table as LaTeX with booktabs, and as CSV, unrounded."""

import csv
import io
import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import questree
from questree.show.report.document import (
    Column,
    Entry,
    Failure,
    Figure,
    Grid,
    Line,
    Missing,
    Number,
    ReportDocument,
    Sentences,
)

HERE = Path(__file__).parent
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
    found.globals["drawn"] = Markup  # of SVG that was made here, its texts escaped
    return found


def page(report: ReportDocument) -> str:
    style = Markup((HERE / "report.css").read_text("utf-8"))
    return environment().get_template("report.html").render(report=report, style=style, version=questree.__version__)


MEANT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "−": "$-$",
    "²": "$^2$",
} | {sign: f"\\{sign}" for sign in "&%$#_"}
CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
HEAD = "% needs the packages booktabs, textcomp and fontenc with T1; n stands beside each line\n"


def escaped(text: str) -> str:
    """Any text as text."""
    return "".join(MEANT.get(sign, sign) for sign in CONTROL.sub(" ", text))


def latex(grid: Grid) -> str:
    width = len(grid.corners) + len(grid.columns)
    kinds = "l" * len(grid.corners) + "".join("l" if column.text else "r" for column in grid.columns)
    head = [*_head(grid), r"\midrule"]
    rows = list(head)
    for above, reach, line in grid.rows():
        if above:
            rows += [r"\midrule"] * (len(rows) > len(head))
            rows.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{escaped(above)}}}}} \\")
        elif line.strong and reach:
            rows.append(r"\midrule")
        rows.append(_line(line, reach))
    body = "\n".join(rows)
    return (
        f"{HEAD}\\begin{{table}}\n\\centering\n\\caption{{{escaped(f'{grid.title}. {grid.caption}')}}}\n"
        f"\\label{{tab:{grid.name}}}\n\\begin{{tabular}}{{{kinds}}}\n\\toprule\n{body}\n"
        f"\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


def _head(grid: Grid) -> list[str]:
    rows, at = [], len(grid.corners) + 1
    if any(column.over for column in grid.columns):
        above, rules = [""] * len(grid.corners), []
        for text, count in grid.spans:
            above.append(rf"\multicolumn{{{count}}}{{c}}{{{escaped(text)}}}")
            rules.append(rf"\cmidrule(lr){{{at}-{at + count - 1}}}" if text else "")
            at += count
        rows = [" & ".join(above) + r" \\", " ".join(filter(None, rules))]
    return [*rows, " & ".join([*map(escaped, grid.corners), *map(_title, grid.columns)]) + r" \\"]


def _title(column: Column) -> str:
    return escaped(column.title)


def _line(line: Line, reach: int) -> str:
    heads = [escaped(head) for head in line.heads]
    heads[0] = heads[0] if reach else ""
    counted = ["" if not isinstance(e, Number) or e.n is None else str(e.n) for e in line.entries]
    n = f" % n: {', '.join(counted)}" if any(counted) else ""
    return " & ".join([*heads, *map(_entry, line.entries)]) + r" \\" + n


def _entry(entry: Entry) -> str:
    if isinstance(entry, Number):
        value = re.sub("^-", "$-$", entry.text)
        room = entry.room.replace("-", "$-$")
        return f"{value} {{\\scriptsize [{room}]}}" if room else value
    if isinstance(entry, int):
        return f"{entry:,}"
    return escaped(entry or "")


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
