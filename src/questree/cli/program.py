"""Commands about programs: read one in any notation and see all that follows from it; list the operators."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter

from questree.api.notations import Notation, read_program
from questree.api.notations import operators as declared
from questree.cli.terminal import output, print_table, say, write_json
from questree.faults import BadInput

app = App(name="program", help="Programs: what a question is made of.")

ASKED = 6  # wordings that are printed


@app.command
@output
def read(
    text: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    notation: Annotated[Notation, Parameter(help="Notation of TEXT.")] = "own",
    to: Annotated[
        list[Notation] | None, Parameter(negative="", help="Notations to print. [default: all that fit]")
    ] = None,
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file in TOML. [default: AGQA's words]")] = None,
) -> None:
    """Read a program and print what follows from it: its English, steps, categories, sub-questions and notations.

    Parameters
    ----------
    text
        The program; - reads it from standard input. A covr program is a JSON list of rows.
    """
    given = _standard_input() if text == "-" else text
    tree, found = read_program(given, notation, to, vocabulary)
    write_json(found)
    for line in page(tree, found):
        say(line)
    parts = [{"type": part["type"], "question": part["question"]} for part in found["parts"] or ()]
    print_table("sub-questions", parts)


def _standard_input() -> str:
    try:
        return sys.stdin.read().strip()
    except UnicodeDecodeError as error:
        raise BadInput.at("standard input", f"not UTF-8 text ({error.reason} at byte {error.start})") from None


def page(tree: list[str], found: dict[str, Any]) -> Iterator[str]:
    """What is printed, but for the table of sub-questions."""
    yield from tree
    yield ""
    if found["english"]:
        more = len(found["english"]) - ASKED
        yield from found["english"][:ASKED]
        yield from [f"(and {more} more ways to ask)"] * (more > 0) + [""]
        labels = [", ".join(found["reasoning"]), found["structural"], found["semantic"], found["answer_type"]]
        labels += [f"type {found['type']}"] * bool(found["type"])
        yield f"steps {found['steps']}; {'; '.join(label for label in labels if label)}"
    for name, text in found["notations"].items():
        shown = text if isinstance(text, str) else msgspec.json.encode(text).decode() if text is not None else None
        yield f"{name}: {shown if shown is not None else 'cannot say this'}"
    yield from (f"note: {note}" for note in found["notes"])
    if found["parts"] is None:
        yield "note: questions do not have this shape; it is not taken apart into sub-questions"
    yield ""


@app.command
@output
def operators() -> None:
    """List every operator: what it takes and gives, what it means, how it is asked."""
    languages = declared()
    for name, rows in languages.items():
        print_table(f"{name}: {len(rows)} operators", rows)
    write_json(languages)
