"""What a command says: progress bars on a terminal, plain lines elsewhere, JSON where a program reads."""

import inspect
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from questree.api import files
from questree.faults import BadInput, spelling
from questree.progress import notes, reporter

if TYPE_CHECKING:
    from rich.progress import Progress

    from questree.api.made import Made, Said

Quiet = Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", help="Print nothing but errors.")]
Json = Annotated[
    Path | None,
    Parameter(
        name="--json", allow_leading_hyphen=True, help="Also write the result to this file as JSON; - prints it."
    ),
]
Work = Callable[..., None]
_quiet = ContextVar("_quiet", default=False)
_json = ContextVar[Path | None]("_json", default=None)
_written = ContextVar("_written", default=False)  # has the command written its result?
_bars: "ContextVar[Progress | None]" = ContextVar("_bars", default=None)

PATIENCE = 1.0  # seconds before a bar appears
WIDTH = 160  # characters of a line that is not on a terminal


def output(work: Work) -> Work:
    """A command with --json and --quiet: what it says and writes goes where they say, alone if that is the screen."""
    return _with({"json": (Json, None), "quiet": (Quiet, False)}, work)


def messages(work: Work) -> Work:
    """A command with --quiet."""
    return _with({"quiet": (Quiet, False)}, work)


def _with(options: Mapping[str, tuple[Any, Any]], work: Work) -> Work:
    @wraps(work)
    def command(*given: Any, json: Path | None = None, quiet: bool = False, **named: Any) -> None:
        tokens = _json.set(json), _quiet.set(quiet or str(json) == "-"), _written.set(False)
        spelt = spelling.set(str)  # options as they are typed
        try:
            work(*given, **named)
        except BadInput as bad:  # printed are a few of each kind, here are all; an earlier result in a file stays
            if str(json) == "-" and not _written.get():
                write_json({"faults": bad.faults})
            raise
        finally:
            _json.reset(tokens[0])
            _quiet.reset(tokens[1])
            _written.reset(tokens[2])
            spelling.reset(spelt)

    own, kind = inspect.signature(work), inspect.Parameter.KEYWORD_ONLY
    added = [inspect.Parameter(name, kind, default=usual) for name, (_, usual) in options.items()]
    command.__signature__ = own.replace(parameters=[*own.parameters.values(), *added])  # type: ignore[attr-defined]
    command.__annotations__ = {**work.__annotations__, **{name: hint for name, (hint, _) in options.items()}}
    return command


def is_quiet() -> bool:
    return _quiet.get()


@contextmanager
def watching() -> Iterator[None]:
    """Show the progress of whatever runs inside, if it takes longer than a second and a person is there."""
    if _quiet.get() or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars, tasks, begin = Progress(*columns, console=Console(stderr=True), transient=True), {}, time.monotonic()

    def show(label: str, done: float, total: int) -> None:
        if time.monotonic() - begin < PATIENCE:
            return
        bars.start()
        if label not in tasks:
            tasks[label] = bars.add_task(label, total=total)
        said = f"{label}, {notes[label]}" if label in notes else label
        visible = done < total  # what is finished makes room
        bars.update(tasks[label], completed=done, total=total, visible=visible, description=said)

    tokens = reporter.set(show), _bars.set(bars)
    try:
        yield
    finally:
        bars.stop()
        reporter.reset(tokens[0])
        _bars.reset(tokens[1])


def _speaks() -> bool:
    """Is anything to be printed? Then bars make room."""
    if bars := _bars.get():
        bars.stop()
    return not _quiet.get()


def say(text: str) -> None:
    """A warning stands apart from what a command is asked for."""
    if _speaks():
        print(text, file=sys.stderr if text.startswith("warning: ") else sys.stdout)


def print_table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Rows of equal keys as a table, as wide as the terminal or as COLUMNS says; a file or a pipe has WIDTH."""
    if not rows or not _speaks():
        return
    from questree.cli.layout import laid_out

    print(title)
    numbers = [all(isinstance(row[name], int | float) or row[name] is None for row in rows) for name in rows[0]]
    cells = [["" if v is None else f"{v:,}" if isinstance(v, int) else str(v) for v in row.values()] for row in rows]
    print("\n".join(laid_out(list(rows[0]), cells, numbers, shutil.get_terminal_size((WIDTH, 0)).columns)))


def tell_made(made: "Made") -> None:
    """What a function of `api` tells about its work, here and where --json says."""
    tell(made.said)
    write_json(made.record)


def tell(said: Iterable["Said"]) -> None:
    for each in () if _quiet.get() else said:  # nobody works out what nobody hears
        if isinstance(each, str):
            say(each)
        else:
            print_table(*each)


def write_json(value: Any) -> None:
    """The result, or what makes it, for programs, where --json says."""
    path = _json.get()
    _written.set(True)
    if path is not None and callable(value):
        value = value()
    if str(path) == "-":
        sys.stdout.write(files.as_json(value).decode())
    elif path is not None:
        files.write_json(path, value)
