"""A question that is not answered yet: its program and text, and one or two sets of images it may be asked about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from questree.benchmarks.covr.forms import Template, TemplateForm
from questree.benchmarks.covr.programs import Program, things
from questree.domains.images.english import Forms, reference
from questree.domains.images.graph import Graph

Images = list[int]  # rows of images
Slot = tuple[Program | str, Forms]  # what fills a program, and how it is said


@dataclass(frozen=True)
class Draft:
    template: Template
    form: TemplateForm
    slots: Mapping[str, Slot]
    graphs: tuple[Graph, ...]  # what it refers to, attributes and relations that are asked for included
    sets: list[Images]  # the second is for a twin: the same question, hoped to have another answer
    wording: int = 0
    verified_by: Template | None = None  # only the number is wanted: this template asks whether it is so

    @cached_property
    def program(self) -> Program:
        return self.form.filled({name: filling for name, (filling, _) in self.slots.items()})

    @cached_property
    def text(self) -> str:
        return self.form.say({name: said for name, (_, said) in self.slots.items()}, self.wording)


def draft(
    template: Template,
    form: str,
    slots: Mapping[str, Slot],
    graphs: tuple[Graph, ...],
    sets: Iterable[Images],
    wording: int = 0,
    verified_by: Template | None = None,
) -> Draft:
    """A draft with those of the sets that have images."""
    return Draft(template, template.form(form), slots, graphs, [s for s in sets if s], wording, verified_by)


def word(spelled: str, said: str = "") -> Slot:
    """A plain word, and how it is said where the frame puts it."""
    return spelled, {"": said or spelled}


def refer(graph: Graph) -> Slot:
    return things(graph), reference(graph)
