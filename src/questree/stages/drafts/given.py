"""Templates of image sets from outside: read from a TOML file or given by a plugin, checked before anything runs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from questree.benchmarks.covr.forms import Template, TemplateForm, pieces
from questree.benchmarks.covr.templates import BY_NAME, NUMBER, WORD, YES_OR_NO
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph
from questree.faults import Fault, refuse
from questree.program import ProgramError
from questree.stages.generate.given import tables, told

HOLES = (("R",), ("A", "B"))  # what the builder `references` fills
FORMS = tuple(reference(Graph("dog")))  # ways to say a reference


class GivenImageTemplate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A template as a file says it."""

    name: str
    program: str
    wordings: tuple[str, ...]
    asks: str = ""


def read(files: Iterable[Path]) -> tuple[Template, ...]:
    """The templates of TOML files; the faults of all of them at once."""
    found, faults = list[Template](), list[Fault]()
    for file in files:
        for at, raw in enumerate(tables(file), 1):
            place = f"{file}, template {raw.get('name', at) if isinstance(raw, dict) else at}"
            try:
                given = msgspec.convert(raw, GivenImageTemplate)
            except msgspec.ValidationError as error:
                faults.append(Fault(place, told(error, GivenImageTemplate)))
                continue
            template = made(given.name, given.program, given.wordings, given.asks)
            taken = {*BY_NAME, *(other.name for other in found)}
            messages = ["name: expected a new one, got one that is taken"] * (given.name in taken)
            faults += [Fault(place, message) for message in (*messages, *check(template))]
            found.append(template)
    refuse(faults)
    return tuple(found)


def made(name: str, program: str, wordings: tuple[str, ...], asks: str = "") -> Template:
    """A template of one form, about one kind of things or two; what it answers is read off its program."""
    form = TemplateForm(name.lower(), program, wordings)
    try:
        kind = form.node.kind
        answers = YES_OR_NO if kind.yes else NUMBER if kind.words == "number" else WORD
    except (ProgramError, ValueError):  # `check` tells it
        answers = WORD
    return Template(name, asks or program, "a root that can be counted", answers, (1, 3), (form,))


def check(template: Template, by_references: bool = True) -> Iterator[str]:
    """What is wrong with a template; other holes than R, A and B need a builder of their own."""
    (form,) = template.forms
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9 ]*", template.name):
        yield f"name: expected letters and digits, got {template.name!r}"
    try:
        kind = form.node.kind
    except (ProgramError, ValueError) as error:
        yield f"program: {error}"
        return
    if not (kind.askable or kind.yes):
        yield f"program: expected a question, got a program of kind {kind.name}"
    if by_references and form.slots not in HOLES:
        yield f"program: expected {{R}}, or {{A}} and {{B}}, got {', '.join(form.slots) or 'none'}"
    if not form.frames:
        yield "wordings: expected at least one, got none"
    for text in form.frames:
        yield from _wording(form, text, by_references)


def _wording(form: TemplateForm, text: str, by_references: bool) -> Iterator[str]:
    try:
        said = [piece for piece in pieces(text) if not isinstance(piece, str)]
    except ValueError as error:
        yield f'wording "{text}": expected braces that match, got others ({error})'
        return
    for slot, how in said:
        if slot not in form.slots:
            yield f'wording "{text}": expected slots of the program, got {slot}; choose from {", ".join(form.slots)}'
        elif by_references and how not in FORMS:
            known = ", ".join(filter(None, FORMS))
            yield f'wording "{text}": expected a form of a reference, got {how!r}; choose from {known}'
    for slot in form.slots:
        if slot not in [name for name, _ in said]:
            yield f'wording "{text}": expected the slot {slot}, got none'
    if not text.endswith("?"):
        yield f'wording "{text}": expected a question mark at its end, got none'
