"""How questions are put: templates in a file, with a name, kept beside the answers."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from string import Formatter
from typing import Any

import msgspec

from questree.faults import BadInput, Fault, refuse
from questree.places import path_of
from questree.said.question import KINDS, AskedQuestion
from questree.tables.store import content

SHIPPED = ("short", "scoped", "reasoned")
BLANKS = {  # part of a template -> what it may have in braces
    "system": ("medium",),
    "question": ("question", "scope"),
    "options": ("options",),
    "image": ("number",),
    "frame": ("number", "seconds"),
}


class Template(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of prompts."""

    question: str = "{question}"
    system: str = ""
    options: str = ""  # where the question names its options
    image: str = ""  # before each image of a set
    frame: str = ""  # before each frame of a video
    instruction: dict[str, str] = {}  # by kind of question; `other` where none is named


@dataclass(frozen=True)
class Prompt:
    name: str
    text: str  # of the file
    template: Template

    @property
    def digest(self) -> str:
        return blake2b(self.text.encode(), digest_size=8).hexdigest()

    def system(self, medium: str) -> str:
        return self.template.system.format(medium=medium)

    def user(self, asked: AskedQuestion, scope: str) -> str:
        """What is said to ask a question."""
        own = self.template
        named = own.options.format(options=", ".join(asked.options)) if asked.options and own.options else ""
        wanted = own.instruction.get(asked.kind, own.instruction.get("other", ""))
        return "\n".join(filter(None, (own.question.format(question=asked.text, scope=scope), named, wanted)))

    def label(self, medium: str, number: int, seconds: float | None) -> str:
        """What is said before an image or a frame; nothing, where it would name seconds that nobody knows."""
        if medium == "images":
            return self.template.image.format(number=number)
        if seconds is None and "{seconds" in self.template.frame:
            return ""
        return self.template.frame.format(number=number, seconds=seconds)


def prompt_of(named: str) -> Prompt:
    """One of SHIPPED, or a file."""
    if named in SHIPPED:
        return read(named, files("questree.ask").joinpath("templates", f"{named}.toml").read_bytes(), named)
    path = path_of(named)
    if not path.is_file():
        raise BadInput.at("--prompt", f"expected {', '.join(SHIPPED)} or a TOML file, got {named!r}")
    return read(path.stem, content(path), str(path))


def read(name: str, data: bytes, place: str) -> Prompt:
    try:
        text = data.decode("utf-8")
        template = msgspec.convert(tomllib.loads(text), Template)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise BadInput.at(place, f"expected a file of prompts; {error}") from error
    faults = [fault for part, blanks in BLANKS.items() for fault in _strange(place, part, template, blanks)]
    kinds = [*KINDS, "other"]
    faults += [
        Fault(place, f"instruction: expected kinds of questions, got {kind!r}; choose from {', '.join(kinds)}")
        for kind in template.instruction
        if kind not in kinds
    ]
    if "{question}" not in template.question:
        faults.append(Fault(place, f"question: expected {{question}} in it, got {template.question!r}"))
    refuse(faults)
    return Prompt(name, text, template)


def _strange(place: str, part: str, template: Template, blanks: Sequence[str]) -> list[Fault]:
    text: Any = getattr(template, part)
    try:
        used = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
        if not set(used) - set(blanks):
            text.format(**dict.fromkeys(blanks, 1.0))
            return []
        got = ", ".join(f"{{{name}}}" for name in used if name not in blanks)
    except (ValueError, KeyError, IndexError) as error:
        got = str(error)
    wanted = ", ".join(f"{{{name}}}" for name in blanks)
    return [Fault(place, f"{part}: expected no other blanks than {wanted}, got {got}")]
