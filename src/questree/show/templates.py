"""The templates of pages and cards, and the pieces of markup that stand in them by the hundred."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from questree.show.dag import Piece

FOLDER = Path(__file__).parent / "page" / "templates"
JUDGED = {
    True: ("right", "right", " ✓"),
    False: ("wrong", "wrong", " ✗"),
    None: ("unknown", "neither right nor wrong", ""),
}


@dataclass(frozen=True)
class ShownAnswer:
    model: str
    word: str | None
    right: bool | None
    raw: str | None = None  # what was said, if it was read as the word


@dataclass(frozen=True)
class Choice:
    """What a filter can be set to."""

    value: str
    count: int | None = None  # questions of the run


def environment() -> Environment:
    """Functions take the place of macros where those are slow."""
    found = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        auto_reload=False,  # nobody looks at the files for every page
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals.update(coloured=coloured, verdict=verdict, options=options)
    return found


def coloured(pieces: Iterable[Piece]) -> Markup:
    """A text, its words by their kinds."""
    return Markup(
        "".join(f'<span class="{kind}">{escape(text)}</span>' if kind else escape(text) for kind, text in pieces)
    )


def verdict(said: ShownAnswer) -> Markup:
    """What a model says, and what is to be thought of it."""
    kind, meaning, mark = JUDGED[said.right]
    model, word = escape(said.model), "no answer" if said.word is None else escape(said.word)
    raw = f' <small class="raw" title="what {model} said">“{escape(said.raw)}”</small>' if said.raw else ""
    return Markup(f'<span class="said {kind}" title="{model}: {meaning}">{word}{mark}</span>{raw}')


def options(choices: Iterable[Choice], chosen: str) -> Markup:
    """Of a list to choose from."""
    return Markup("".join(_option(choice, " selected" if choice.value == chosen else "") for choice in choices))


def _option(choice: Choice, selected: str) -> str:
    value, count = escape(choice.value), "" if choice.count is None else f" · {choice.count:,}"
    return f'<option value="{value}"{selected}>{value}{count}</option>\n'
