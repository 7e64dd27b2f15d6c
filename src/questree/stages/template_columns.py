"""Templates as columns to gather from: what stages ask of a question's template, by its number."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from questree.benchmarks.agqa.templates import Template
from questree.columns.joins import Ints
from questree.terms import ACTION


@dataclass(frozen=True)
class TemplateColumns:
    """Every column is [template]."""

    templates: tuple[Template, ...]  # as the tables of a run number them

    def __len__(self) -> int:
        return len(self.templates)

    @cached_property
    def open(self) -> Ints:
        return np.array([template.answer_type == "open" for template in self.templates])

    @cached_property
    def structure(self) -> list[str]:
        return [template.categories.structural for template in self.templates]

    @cached_property
    def asked_two(self) -> Ints:
        """The answer is one of x and y."""
        return np.array([template.node.kind.words != "" for template in self.templates])

    @cached_property
    def groups(self) -> list[str]:
        return sorted({template.group for template in self.templates})

    @cached_property
    def group(self) -> Ints:
        return np.array([self.groups.index(template.group) for template in self.templates])

    @cached_property
    def family(self) -> Ints:
        """Templates of one group and one way to spell the key share their keys."""
        families = [(template.group, template.local) for template in self.templates]
        return np.array([families.index(family) for family in families])

    @cached_property
    def with_relation(self) -> Ints:
        return np.array(["{relation}" in template.local for template in self.templates])

    @cached_property
    def with_time(self) -> Ints:
        return np.array(["{time}" in template.local for template in self.templates])

    @cached_property
    def of_actions(self) -> Ints:
        """Answers are actions, not objects."""
        return np.array([template.node.kind == ACTION for template in self.templates])

    @cached_property
    def answer_kind(self) -> Ints:
        """The same number for templates whose answers are the same words."""
        names = ["bool" if template.node.kind.yes else template.node.kind.name for template in self.templates]
        return np.array([sorted(set(names)).index(name) for name in names])
