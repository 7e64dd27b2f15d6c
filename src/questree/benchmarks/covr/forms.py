"""What a template is made of: programs with holes, frames with slots, and how both are filled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from string import Formatter

from questree.benchmarks.covr.programs import HOLE, Program
from questree.domains.images import IMAGES
from questree.notation import own
from questree.program import Node

Piece = str | tuple[str, str]  # plain text, or (slot, form)


def pieces(text: str) -> Iterator[Piece]:
    for plain, slot, form, _ in Formatter().parse(text):
        if plain:
            yield plain
        if slot is not None:
            yield slot, form or ""


@dataclass(frozen=True)
class TemplateForm:
    name: str  # "more, objects"; unique within its template
    program: str
    frames: tuple[str, ...]

    @cached_property
    def _program(self) -> tuple[Piece, ...]:
        return tuple(pieces(self.program))

    def __hash__(self) -> int:
        return hash((self.name, self.program))

    def __getstate__(self) -> dict[str, object]:
        """What was read off the program stays behind: operators do not travel between processes."""
        return {"name": self.name, "program": self.program, "frames": self.frames}

    @cached_property
    def node(self) -> Node:
        """The program; references are slots too."""
        return own.parse(self.program.replace("{", "$").replace("}", ""), IMAGES)

    @cached_property
    def _frames(self) -> tuple[tuple[Piece, ...], ...]:
        return tuple(tuple(pieces(frame)) for frame in self.frames)

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(piece[0] for piece in self._program if isinstance(piece, tuple)))

    def filled(self, slots: Mapping[str, Program | str]) -> Program:
        """The program with its references and words."""
        pattern, words = "", list[str]()
        for piece in self._program:
            if isinstance(piece, str):
                pattern += piece
                continue
            value = slots[piece[0]]
            pattern += HOLE if isinstance(value, str) else value.pattern
            words += [value] if isinstance(value, str) else value.words
        return Program(pattern, tuple(words))

    def say(self, slots: Mapping[str, Mapping[str, str]], wording: int = 0) -> str:
        """The question; `wording` chooses among the frames."""
        frame = self._frames[wording % len(self._frames)]
        return "".join([piece if isinstance(piece, str) else slots[piece[0]][piece[1]] for piece in frame])


@dataclass(frozen=True)
class Template:
    name: str
    asks: str
    needs: str
    answers: str
    positives: tuple[int, int]  # how many images of the set contain the reference, when there are enough
    forms: tuple[TemplateForm, ...]
    twin: bool = False  # is it asked only together with a twin of another answer?
    builder: str = "references"  # of stages/drafts: how its slots are filled and its sets of images chosen
    by_image: bool = False  # is it about references that one image contains several times?
    verifies: str = ""  # the template whose number it asks about, which is computed first
    verified_form: str = ""  # its form, by {how} the number is compared and the {form} that gave it

    def form(self, name: str) -> TemplateForm:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, TemplateForm]:
        return {form.name: form for form in self.forms}
