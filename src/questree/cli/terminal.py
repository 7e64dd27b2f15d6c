"""What a command says: progress bars on a terminal, plain lines elsewhere, JSON where a program reads."""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from questree.progress import reporter
from questree.tables.store import new_file

Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", help="Print nothing but errors.")]
Json = Annotated[
    Path | None,
    Parameter(
        name="--json", allow_leading_hyphen=True, help="Also write the result to this file as JSON; - prints it."
    ),
]

PATIENCE = 1.0  # seconds before a bar appears


@contextmanager
def watching(quiet: bool) -> Iterator[None]:
    """Show the progress of whatever runs inside, if it takes longer than a second and a person is there."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    begin = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(label: str, done: int, total: int) -> None:
            if time.monotonic() - begin < PATIENCE:
                return
            if label not in tasks:
                tasks[label] = bars.add_task(label, total=total)
            bars.update(tasks[label], completed=done, total=total)

        token = reporter.set(show)
        try:
            yield
        finally:
            reporter.reset(token)


def say(text: str, quiet: bool = False) -> None:
    if not quiet:
        print(text)


def telling(quiet: bool) -> Callable[[str], None]:
    """Who says what is found on the way."""
    return lambda text: say(text, quiet)


def print_table(title: str, rows: Sequence[Mapping[str, Any]], quiet: bool = False) -> None:
    """Rows of equal keys as a table; plain aligned text when the output is not a terminal."""
    if quiet or not rows:
        return
    print(title)  # a title of the table would be broken at the width of its columns
    table = Table(box=None if not sys.stdout.isatty() else Table().box)
    for name in rows[0]:
        number = all(isinstance(row[name], int | float) or row[name] is None for row in rows)
        table.add_column(Text(name), justify="right" if number else "left", no_wrap=number)
    for row in rows:
        table.add_row(*(Text("" if v is None else f"{v:,}" if isinstance(v, int) else str(v)) for v in row.values()))
    if sys.stdout.isatty():
        Console().print(table)
    else:  # a file or a pipe gets no blanks at the end of lines
        with (console := Console(width=160)).capture() as text:
            console.print(table)
        print("\n".join(line.rstrip() for line in text.get().splitlines()))


def write_json(path: Path | None, value: Any) -> None:
    if path is None:
        return
    text = msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
    if str(path) == "-":
        sys.stdout.write(text.decode())
        return
    with new_file(path) as work:
        work.write_bytes(text)
