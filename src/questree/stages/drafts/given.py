"""Templates of image sets from outside: read from a TOML file or given by a plugin, checked before anything runs."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from questree.benchmarks.covr.forms import ImageTemplate, TemplateForm, pieces
from questree.benchmarks.covr.templates import BY_NAME
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph
from questree.stages.generate.given import GivenName, read_files
from questree.terms import ProgramError

HOLES = (("R",), ("A", "B"))  # what the builder `references` fills
FORMS = tuple(reference(Graph("dog")))  # ways to say a reference


class GivenImageTemplate(GivenName, frozen=True, forbid_unknown_fields=True):
    """A template of image sets as a file says it."""

    asks: str = ""

    def template(self) -> ImageTemplate:
        return made(self.name, self.program, self.wordings, self.asks)


def read(files: Iterable[Path]) -> tuple[ImageTemplate, ...]:
    return read_files(files, GivenImageTemplate, GivenImageTemplate.template, BY_NAME, check)


def made(name: str, program: str, wordings: tuple[str, ...], asks: str = "") -> ImageTemplate:
    """A template of one form, about one kind of things or two."""
    form = TemplateForm(name.lower(), program, wordings)
    return ImageTemplate(name, asks or program, "a root that can be counted", (1, 3), (form,))


def check(template: ImageTemplate, by_references: bool = True) -> Iterator[str]:
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
