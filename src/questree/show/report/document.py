"""The report before it is written: sections of tables, pictures, sentences and worked failures."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from questree.show.report.grid import Grid


@dataclass(frozen=True)
class Figure:
    name: str
    title: str
    caption: str  # what to see
    pictures: tuple[str, ...]  # SVG, side by side


@dataclass(frozen=True)
class Words:
    """Sentences under a heading."""

    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Missing:
    """A part the run does not have yet, and what makes it."""

    what: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Failure:
    """One question a model failed on, taken apart."""

    id: str
    text: str
    truth: str
    said: tuple[tuple[str, str | None, bool], ...]  # (model, its answer if any, is it right); the one drawn comes first
    composition: str
    sentence: str  # what went wrong
    picture: str  # SVG


Block = Grid | Figure | Words | Missing | Failure


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    intro: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Report:
    title: str
    facts: tuple[tuple[str, str], ...]  # what was scored, how: label, text
    commands: tuple[str, ...]  # that make it again
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = field(default=())

    def grids(self) -> Iterator[Grid]:
        for section in self.sections:
            yield from (block for block in section.blocks if isinstance(block, Grid))
