"""The report as one HTML page: everything inside, nothing loaded."""

from functools import cache, partial
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

import questree
from questree.show.report.document import Failure, Figure, Missing, Report, Words
from questree.show.report.grid import Grid, Number

HERE = Path(__file__).parent
KINDS: dict[str, type] = {
    "score": Number,
    "grid": Grid,
    "figure": Figure,
    "words": Words,
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


def page(report: Report) -> str:
    style = Markup((HERE / "report.css").read_text("utf-8"))
    return environment().get_template("report.html").render(report=report, style=style, version=questree.__version__)
